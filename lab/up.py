"""Bring the lab up and take it down."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
from importlib.metadata import version
from typing import TYPE_CHECKING

from lab import admission, clouds, cluster, conversion, crds, language_host, seeding, toolchain
from lab.env_file import env_file, full_environment
from lab.stacks import copy_project, environments, stack_names
from manifests.policy_config import policy_config
from operations.private import write_private
from operations.tenant_kubeconfig import NotYetError, tenant_in, tenant_kubeconfig
from settings.load import load
from settings.stack import EnvironmentSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from lab.layout import Layout

STAND_INS = ("proxmoxve", "hcloud")
ADMIN = "admin"


class LabError(RuntimeError):
    """The lab can not do what was asked; the message is for a person."""


def up(layout: Layout, crd_source: Path | None, report: Callable[[str], None]) -> None:
    """Start the lab for the environments in `stacks/`, or bring a running one in line with them.

    Afterwards each stack exists in the file backend, and `.lab/env-<stack>` holds what its commands need.
    """
    settings = environments(layout.root / "stacks")
    if not settings:
        message = "there is no environment file in stacks/ (stacks/Pulumi.<environment>.yaml)"
        raise LabError(message)
    if crd_source is not None and not crd_source.is_dir():
        message = f"{crd_source} is not a folder with CRDs"
        raise LabError(message)
    if len(settings) > 1:
        report(f"note: one lab is one management cluster, so only one of {', '.join(settings)} can be up in it")
    layout.home.mkdir(mode=0o700, exist_ok=True)
    for folder in (layout.backend, layout.clouds, layout.passphrase("any").parent):
        folder.mkdir(parents=True, exist_ok=True)
    report("tools: the Pulumi CLI, etcd, kube-apiserver, kube-controller-manager, the Kubernetes provider")
    toolchain.build(report=report)
    _install(layout)
    _start_cluster(layout, settings, crd_source, report)
    report("clouds: simulated Proxmox VE and Hetzner Cloud (stand-ins of the lab: nothing outside is touched)")
    tokens = seeding.credentials(layout.home / "credentials.json", settings)
    for name, environment in settings.items():
        seeding.seed(layout.clouds, environment, tokens[name])
    report("stacks: a copy of the project in .lab/project, a passphrase and an environment file for each stack")
    _prepare_stacks(layout, settings, tokens)


def _start_cluster(
    layout: Layout,
    settings: Mapping[str, EnvironmentSettings],
    crd_source: Path | None,
    report: Callable[[str], None],
) -> None:
    report("management cluster: starting etcd, kube-apiserver and kube-controller-manager on loopback")
    api = cluster.start(layout.cluster)
    if crd_source is not None or not crds.loaded(api):
        crds.load(api, crd_source, report)
    conversion.keep(api, layout.cluster, report)
    admission.wait(api, report)
    for environment in settings.values():
        crds.namespaces(api, sorted(tenant.namespace for tenant in environment.environment.tenants.values()))
    contexts = [ADMIN, *(item.environment.management.context for item in settings.values())]
    write_private(layout.kubeconfig, json.dumps(_merged([api.kubeconfig(name) for name in contexts]), indent=1))


def _prepare_stacks(
    layout: Layout, settings: Mapping[str, EnvironmentSettings], tokens: Mapping[str, dict[str, object]]
) -> None:
    copy_project(layout)
    for name in settings:
        config = policy_config(layout.root / "stacks", name)
        layout.policy_config(name).write_text(json.dumps(config, indent=1) + "\n")
    for stack in stack_names(layout.root / "stacks"):
        environment_name = stack.partition("-")[0]
        if environment_name in settings:
            _prepare_stack(layout, stack, tokens[stack] if stack in settings else None)
            _tenant_kubeconfig(layout, stack, settings[environment_name])


def next_steps(layout: Layout) -> str:
    """Say what to type in a lab that is up."""
    names = stack_names(layout.root / "stacks")
    environment = next(name for name in names if "-" not in name)
    lines = [
        "the lab is up. Each in a shell of its own, since sourcing goes to .lab/project, the copy that the lab runs:",
        f"  . .lab/env-{environment}; pulumi up -s {environment}",
    ]
    tenant = next((name for name in names if name.startswith(f"{environment}-")), None)
    if tenant:
        lines.append(f"  make tenant-kubeconfig STACK={tenant}      # once the environment is up")
        lines.append(f"  . .lab/env-{tenant}; pulumi preview -s {tenant}")
    lines.append("edit in stacks/ and run `make lab` again: it copies the project afresh")
    return "\n".join(lines)


def down(layout: Layout) -> None:
    """Stop what `up` started; data stays."""
    cluster.stop(layout.cluster)
    conversion.stop(layout.cluster)


def remove(layout: Layout) -> None:
    """Stop everything and delete `.lab/`."""
    down(layout)
    if layout.home.exists():
        shutil.rmtree(layout.home)


def refresh_tenant_kubeconfig(layout: Layout, stack: str) -> bool:
    """Write a tenant's kubeconfig from the token that the environment has made; say whether there is one."""
    environment = load(stack.partition("-")[0], layout.root / "stacks")
    return isinstance(environment, EnvironmentSettings) and _tenant_kubeconfig(layout, stack, environment)


def _tenant_kubeconfig(layout: Layout, stack: str, settings: EnvironmentSettings) -> bool:
    environment, tenant = settings.environment, stack.partition("-")[2]
    if tenant not in environment.tenants:
        return False
    who = tenant_in(environment, stack)
    try:
        config = tenant_kubeconfig(who, layout.kubeconfig)
    except NotYetError:
        layout.tenant_kubeconfig(stack).unlink(missing_ok=True)
        return False
    write_private(layout.tenant_kubeconfig(stack), json.dumps(config, indent=1))
    return True


def pulumi(layout: Layout, stack: str, *arguments: str, stdin: str | None = None) -> str:
    """Run the Pulumi CLI for a stack in the lab's copy of the project; raises LabError with what it printed."""
    done = subprocess.run(
        ["pulumi", *arguments],
        cwd=layout.project,
        env=full_environment(layout, stack),
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        message = f"pulumi {' '.join(arguments[:2])} of {stack}: {done.stdout}{done.stderr}"
        raise LabError(message)
    return done.stdout


def resources(layout: Layout, stack: str) -> int:
    """Count the resources in a stack's state; 0 for a stack that was never made."""
    if not (layout.backend / ".pulumi" / "stacks" / "hybrid" / f"{stack}.json").exists():
        return 0
    exported = json.loads(pulumi(layout, stack, "stack", "export", "-s", stack))
    return len(exported["deployment"].get("resources") or [])


def _install(layout: Layout) -> None:
    layout.bin.mkdir(parents=True, exist_ok=True)
    # The engine warns of a language host that is not in the CLI's own folder, so the CLI stands beside it.
    own = layout.bin / "pulumi"
    own.unlink(missing_ok=True)
    shutil.copy2(toolchain.tool("pulumi"), own)
    if shutil.which("pulumi-language-python") is None:
        language_host.install(layout.bin)
    stand_ins = {path.name: path for path in clouds.install(layout.home / "stand-ins")}
    plugins = {name: stand_ins[f"pulumi-resource-{name}"] for name in STAND_INS}
    plugins["kubernetes"] = toolchain.tool("pulumi-resource-kubernetes")
    for name, file in plugins.items():
        folder = layout.pulumi_home / "plugins" / f"resource-{name}-v{version(f'pulumi-{name}')}"
        folder.mkdir(parents=True, exist_ok=True)
        _link(folder / f"pulumi-resource-{name}", file)


def _link(link: Path, target: Path) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(target)


def _prepare_stack(layout: Layout, stack: str, credentials: dict[str, object] | None) -> None:
    layout.environment_file(stack).write_text(env_file(layout, stack))
    if not layout.passphrase(stack).exists():
        write_private(layout.passphrase(stack), secrets.token_urlsafe(24))
    if not (layout.backend / ".pulumi" / "stacks" / "hybrid" / f"{stack}.json").exists():
        pulumi(layout, stack, "stack", "init", stack)
    if credentials is not None:
        text = json.dumps(credentials)
        pulumi(layout, stack, "config", "set", "-s", stack, "--secret", "hybrid:credentials", stdin=text)


def _merged(configs: list[dict[str, list[object]]]) -> dict[str, object]:
    first = configs[0]
    lists = ("clusters", "users", "contexts")
    return {**first, **{key: [item for config in configs for item in config[key]] for key in lists}}
