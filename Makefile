# `make` lists the targets.
PYTHON ?= python3
STACKS ?= stacks
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.requirements

# Where no kubeconfig is named, and where the lab's is, the clouds are the lab's: their APIs answer while an operation runs.
REAL := $(if $(KUBECONFIG),$(if $(HYBRID_LAB_CLOUDS),,yes))
OPERATIONS := $(if $(REAL),$(PY) -m operations,PYTHONPATH="$(HYBRID_ROOT)" $(PY) -m lab.operations)

need = @test -n "$($(1))" || { echo "say which: make $@ $(1)=$(2)" >&2; exit 2; }

# The shell reads it from the environment, so that nothing in a reason is run.
override WHY := $(value WHY)
export WHY

# A branch's name is anybody's choice and can hold what a shell would run: so the same for these.
override BASE := $(value BASE)
override HEAD := $(value HEAD)
export BASE HEAD

.DEFAULT_GOAL := help
.PHONY: help setup mutation mutation-pack demo demo-clean lab lab-down test test-fast lint format bench check render render-guard policy-config \
  tenant-kubeconfig move-versions machines schemas pins audit break-glass ci-preview ci-up changed-stacks

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-18s %s\n", $$1, $$2}'

$(READY): requirements.txt requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

setup: $(READY) ## make .venv with the pinned dependencies

demo: $(READY) ## two Proxmox locations, Hetzner Cloud, two tenants and an intruder, on this machine (CRDS=DIR for real CRDs)
	@$(PY) -m lab demo $(if $(CRDS),--crds "$(CRDS)")

demo-clean: $(READY) ## destroy the demo's stacks, stop the lab, delete .lab/
	@$(PY) -m lab demo-clean

lab: $(READY) ## start the lab alone and write .lab/env-<stack> (CRDS=DIR for real CRDs)
	@$(PY) -m lab up $(if $(CRDS),--crds "$(CRDS)")

lab-down: $(READY) ## stop the lab, keep its data
	@$(PY) -m lab down

machines: $(READY) ## list the lab's simulated machines with their NICs
	@$(PY) -m lab.clouds machines --state .lab/clouds

test: $(READY) ## every test, as CI runs it
	@$(PY) -m pytest

test-fast: $(READY) ## tests without engine and lab, under half a minute
	@$(PY) -m pytest -m "not lab and not slow" -n 2 --hypothesis-profile fast

mutation: $(READY) ## break every part of the guard's expressions once: each mutant must be told from the policy
	@$(PY) -m tests.guard.mutation

mutation-pack: $(READY) ## break every part of the policy pack's judgement once: at least 95 % must change a tested verdict
	@$(PY) -m tests.policy.mutation

lint: $(READY) ## ruff and mypy
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy __main__.py settings manifests components operations ci lab tests policy/tenant_isolation
	@$(PY) -m mypy policy/__main__.py

format: $(READY) ## let ruff format and sort
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .

bench: $(READY) ## print the speed figures (starts a lab of its own)
	@$(PY) -m lab.bench

check: $(READY) ## validate a stack file without the engine: STACK=lab-acme [STACKS=dir] [FORMAT=json]
	$(call need,STACK,lab-acme)
	@$(PY) -m settings check "$(STACK)" --stacks "$(STACKS)" $(if $(FORMAT),--format $(FORMAT))

render: $(READY) ## write a stack's Kubernetes objects as YAML: STACK=lab OUT=DIR [STACKS=dir]
	$(call need,STACK,lab)
	$(call need,OUT,/tmp/objects)
	@$(PY) -m manifests render "$(STACK)" --out "$(OUT)" --stacks "$(STACKS)"

render-guard: $(READY) ## write the guard as plain YAML with its cases for Chainsaw: ENV=lab OUT=DIR [STACKS=dir]
	$(call need,ENV,lab)
	$(call need,OUT,/tmp/guard)
	@$(PY) -m manifests render-guard "$(ENV)" --out "$(OUT)" --stacks "$(STACKS)"

policy-config: $(READY) ## write the policy pack's config: ENV=lab [OUT=FILE] [STACKS=dir]
	$(call need,ENV,lab)
	@$(PY) -m manifests policy-config "$(ENV)" --stacks "$(STACKS)" $(if $(OUT),--out "$(OUT)")

tenant-kubeconfig: $(READY) ## write a tenant's own kubeconfig with the admin's rights: STACK=lab-acme [OUT=FILE; default: the lab's]
	$(call need,STACK,lab-acme)
	@$(if $(OUT),,KUBECONFIG=.lab/kubeconfig) $(PY) -m operations --stacks "$(STACKS)" tenant-kubeconfig "$(STACK)" \
	  --out "$(or $(OUT),.lab/kubeconfig-$(STACK))"

move-versions: $(READY) ## after a change of generation, before a tenant's first up: STACK=lab-acme, with the admin's rights
	$(call need,STACK,lab-acme)
	@KUBECONFIG=$${KUBECONFIG:-.lab/kubeconfig} $(PY) -m operations --stacks "$(STACKS)" move-versions "$(STACK)"

audit: $(READY) ## ask the cluster, by dry runs, whether it refuses and admits what it must: ENV=lab [FORMAT=json]
	$(call need,ENV,lab)
	@KUBECONFIG=$${KUBECONFIG:-.lab/kubeconfig} $(OPERATIONS) --stacks "$(STACKS)" audit "$(ENV)" $(if $(FORMAT),--format "$(FORMAT)")

break-glass: $(READY) ## let a zone's bindings warn instead of refuse: ENV=lab ZONE=workers WHY='…' [HOURS=4] (BINDING=name for one); CLOSE=1 ends it
	$(call need,ENV,lab)
	@KUBECONFIG=$${KUBECONFIG:-.lab/kubeconfig} $(PY) -m operations --stacks "$(STACKS)" break-glass "$(ENV)" \
	  $(if $(ZONE),--zone "$(ZONE)") $(if $(BINDING),--binding "$(BINDING)") $(if $(HOURS),--hours "$(HOURS)") \
	  $(if $(filter 1,$(CLOSE)),--close,--why "$$WHY")

ci-preview: $(READY) ## judge a pull request by the protected branch, preview its stacks: BASE=main HEAD=ref [STACK=lab-acme] [ENVS=.lab] [CHECK=1] [PASS=NAMES]
	@test -n "$$BASE" -a -n "$$HEAD" || { echo "say which: make $@ BASE=main HEAD=branch" >&2; exit 2; }
	@$(PY) -m ci preview $(if $(STACK),--stack "$(STACK)") $(if $(ENVS),--envs "$(ENVS)") $(if $(CHECK),--check-only) \
	  $(if $(PASS),--pass "$(PASS)") -- "$$BASE" "$$HEAD"

changed-stacks: $(READY) ## list the stacks that a change touches, environment first: BASE=main [HEAD=ref] [FORMAT=json]
	@test -n "$$BASE" || { echo "say which: make $@ BASE=main" >&2; exit 2; }
	@$(PY) -m ci changed-stacks $(if $(FORMAT),--format "$(FORMAT)") -- "$$BASE" "$${HEAD:-HEAD}"

ci-up: $(READY) ## run `pulumi up` of one stack from a commit, as CI does after a merge: STACK=lab-acme [HEAD=ref] [ENVS=.lab]
	$(call need,STACK,lab-acme)
	@$(PY) -m ci up --stack "$(STACK)" $(if $(ENVS),--envs "$(ENVS)") $(if $(PASS),--pass "$(PASS)") -- "$${HEAD:-HEAD}"

schemas: $(READY) ## write the stack files' JSON Schemas, for editors
	@$(PY) -m settings schema environment > stacks/environment.schema.json
	@$(PY) -m settings schema tenant > stacks/tenant.schema.json

pins: ## resolve requirements*.in into requirements*.txt (needs uv)
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --universal requirements.in -o requirements.txt
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --universal requirements-dev.in -o requirements-dev.txt
