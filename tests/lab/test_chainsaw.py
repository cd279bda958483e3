"""The rendered guard without Pulumi: applied as plain YAML, and its suites run by the real Chainsaw."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from lab import cluster as lab_cluster
from lab import conversion
from lab import crds as lab_crds
from manifests.chainsaw import CONVERTED, IDENTITIES, PLAIN, SCRATCH, users
from manifests.common import tenant_namespaces
from manifests.generations import CAPI_1_10, CAPI_1_12, KINDS
from manifests.guard_cases import cases
from manifests.render import write
from manifests.render_guard import GUARD, guard_files
from tests.conftest import SHARED
from tests.manifests.examples import environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab.cluster import Cluster
    from settings.environment import Generation

pytestmark = pytest.mark.lab

_PLURALS = {"ValidatingAdmissionPolicy": "validatingadmissionpolicies"}
_NOT_FOUND = 404


class Guarded:
    """A cluster with a rendered guard in it."""

    def __init__(self, cluster: Cluster, folder: Path, generation: Generation, program: Path) -> None:
        """Apply objects older than the guard, then the guard, in the order of its kustomization."""
        self.cluster, self.out, self.program = cluster, folder / "guard", program
        settings = environment({"management.generation": generation})
        lab_crds.namespaces(cluster, tenant_namespaces(settings.environment))
        write(self.out, guard_files(settings), GUARD)
        for body in yaml.safe_load_all((self.out / SCRATCH / "objects.yaml").read_text()):
            self.apply(body)
        for path in yaml.safe_load((self.out / "kustomization.yaml").read_text())["resources"]:
            self.apply(self.read(path))
        self.flags: list[str] = []
        self.kubeconfig = folder / "admin.kubeconfig"
        admin = cluster.kubeconfig("admin")
        self.kubeconfig.write_text(json.dumps(admin))
        for name, user in users(cases(settings.environment, settings.stack), settings.environment).items():
            admin["users"][0]["user"] |= {"as": user, "as-groups": ["system:masters"]}
            (folder / f"{name}.kubeconfig").write_text(json.dumps(admin))
            self.flags += ["--cluster", f"{name}={folder / name}.kubeconfig"]

    def read(self, path: str) -> Any:
        """Give the object of a rendered file."""
        return yaml.safe_load((self.out / path).read_text())

    def apply(self, body: dict[str, Any]) -> None:
        """Apply an object as `kubectl apply --server-side` does; a new kind is served a moment after it was made."""
        options = "fieldManager=kubectl&fieldValidation=Strict&force=true"
        path, kind = f"{_path(body)}?{options}", "application/apply-patch+yaml"
        deadline = time.monotonic() + 30
        while (answer := self.cluster.request("PATCH", path, body, content_type=kind))[0] == _NOT_FOUND:
            assert time.monotonic() < deadline, answer
            time.sleep(0.1)
        assert answer[0] in (200, 201), answer

    def wait(self, body: dict[str, Any], *, admitted: bool) -> None:
        """Wait until the guard lets an object pass, or refuses it; a change of a policy takes effect a second later."""
        deadline = time.monotonic() + 30
        path = f"{_path(body).rpartition('/')[0]}?dryRun=All"
        while (self.cluster.request("POST", path, body)[0] == 201) != admitted:
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def run(self, *suites: str, timeout: str = "40s") -> tuple[int, str]:
        """Run suites; a request may be sent again for `timeout`, until what comes into effect has done so."""
        folders = [part for suite in suites for part in ("--test-dir", suite)]
        command = [str(self.program), "test", "--no-color", "--parallel", "8", "--apply-timeout", timeout]
        variables = os.environ | {"KUBECONFIG": str(self.kubeconfig)}
        done = subprocess.run(
            [*command, *folders, *self.flags],
            cwd=self.out,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return done.returncode, done.stdout + done.stderr


def _path(body: dict[str, Any]) -> str:
    version, kind, meta = body["apiVersion"], body["kind"], body["metadata"]
    plural = KINDS[kind].plural if kind in KINDS else _PLURALS.get(kind, f"{kind.lower()}s")
    below = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
    return f"/apis/{version}{below}/{plural}/{meta['name']}"


@pytest.fixture(
    scope="module", params=[pytest.param(CAPI_1_10), pytest.param(CAPI_1_12, marks=pytest.mark.shared)], ids=str
)
def guarded(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    tools: None,  # noqa: ARG001 - built first
    chainsaw: Path,
) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("guarded")
    upstream = SHARED / "crds" / request.param
    cluster = lab_cluster.start(folder / "lab")
    try:
        lab_crds.load(cluster, upstream if upstream.is_dir() else None, lambda _: None)
        with ExitStack() as stack:
            if request.param == CAPI_1_12:
                conversion.install(cluster, stack.enter_context(conversion.serving(folder / "lab", cluster.ca)))
            yield Guarded(cluster, folder, request.param, chainsaw)
    finally:
        lab_cluster.stop(folder / "lab")


def test_every_request_of_the_suites_is_answered_as_it_must_be(guarded: Guarded) -> None:
    suites = [name for name in (PLAIN, IDENTITIES, SCRATCH, CONVERTED) if (guarded.out / name).is_dir()]
    code, said = guarded.run(*suites)
    assert code == 0, _failures(said)
    passed = re.search(r"- Passed +tests (\d+)\n- Failed +tests 0\n- Skipped tests 0\n", said)
    assert passed is not None, said[-500:]
    written = sum(file.read_text().count("kind: Test\n") for file in guarded.out.glob("*/*/chainsaw-test.yaml"))
    assert int(passed[1]) == written > 50


def test_what_the_suites_make_is_gone_afterwards(guarded: Guarded) -> None:
    older = {
        body["metadata"]["name"] for body in yaml.safe_load_all((guarded.out / SCRATCH / "objects.yaml").read_text())
    }
    for kind in ("ProxmoxMachine", "ProxmoxMachineTemplate", "ProxmoxCluster", "KamajiControlPlane"):
        found = next(body for body in _bodies(guarded) if body["kind"] == kind)
        status, listed = guarded.cluster.request("GET", _path(found).rpartition("/")[0])
        assert status == 200
        assert {item["metadata"]["name"] for item in listed["items"]} <= older


def test_a_policy_without_one_of_its_rules_fails_the_suite(guarded: Guarded) -> None:
    path = "_cluster/validatingadmissionpolicy.hybrid-zone-machines.yaml"
    broken = guarded.read(path)
    removed = broken["spec"]["validations"].pop()
    assert "did not give this namespace" in removed["message"]
    tests = list(yaml.safe_load_all((guarded.out / PLAIN / "hybrid-zone-machines" / "chainsaw-test.yaml").read_text()))
    one = next(test for test in tests if "a NIC on its own network" in test["spec"]["description"])
    write(guarded.out / "one", {"chainsaw-test.yaml": yaml.safe_dump(one)})
    refused = one["spec"]["steps"][1]["try"][0]["create"]["resource"]
    guarded.apply(broken)
    try:
        guarded.wait(refused, admitted=True)
        code, said = guarded.run("one", timeout="5s")
        assert code != 0
        assert "- Failed  tests 1" in said
        assert "| refused   | CREATE                  | ERROR" in said
    finally:
        guarded.apply(guarded.read(path))
    guarded.wait(refused, admitted=False)
    code, said = guarded.run("one")
    assert code == 0, _failures(said)


def _bodies(guarded: Guarded) -> Iterator[dict[str, Any]]:
    yield from yaml.safe_load_all((guarded.out / SCRATCH / "objects.yaml").read_text())


def _failures(said: str) -> str:
    failed = re.findall(r"^ +--- FAIL: chainsaw/(\S+)", said, re.MULTILINE)
    return "\n".join(line for line in said.splitlines() if any(name in line for name in failed))[-6000:]
