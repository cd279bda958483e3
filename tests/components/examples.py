"""The project's own stacks, whole or changed, as programs to run on the recording engine."""

from __future__ import annotations

import base64
import copy
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.environment import environment as environment_program
from components.tenant import tenant as tenant_program
from settings.digest import digest
from settings.environment import Environment
from settings.stack import EnvironmentSettings, TenantSettings
from settings.stackfile import read
from settings.tenant import TenantStack
from tests.components.engine import Run, run

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
STACKS = ROOT / "stacks"

ENVIRONMENT = "lab"
HCLOUD_TOKEN = "h" * 64
CREDENTIALS: dict[str, dict[str, str]] = {
    "lab": {"token": "root@pam!hybrid=11111111-1111-4111-8111-111111111111"},
    "dc": {"token": "root@pam!hybrid=22222222-2222-4222-8222-222222222222"},
    "fsn1": {"acme": HCLOUD_TOKEN},
}
NETWORK = "1001"
SUBNET = "1001-10.100.1.0/24"

Change = Callable[[dict[str, Any]], None] | None


@cache
def _file(stack: str) -> dict[str, Any]:
    return read(STACKS / f"Pulumi.{stack}.yaml")


def raw(stack: str, change: Change = None) -> dict[str, Any]:
    """Give a stack file's settings as plain data, changed by `change` in place."""
    config = copy.deepcopy(_file(stack)["config"])
    found: dict[str, Any] = config["hybrid:tenant" if "-" in stack else "hybrid:environment"]
    if change:
        change(found)
    return found


def environment_settings(change: Change = None) -> EnvironmentSettings:
    """Give the example environment."""
    return EnvironmentSettings(ENVIRONMENT, Environment.model_validate(raw(ENVIRONMENT, change)))


def tenant_settings(tenant: str, change: Change = None, environment: Change = None) -> TenantSettings:
    """Give an example tenant in the example environment, either of them changed."""
    stack = f"{ENVIRONMENT}-{tenant}"
    model = TenantStack.model_validate(raw(stack, change))
    return TenantSettings(stack, ENVIRONMENT, tenant, environment_settings(environment).environment, model.clusters)


def proxmox_token(stack: str, location: str) -> str:
    """Give the token of a tenant's stack at a Proxmox location."""
    return f"{stack}@pve!hybrid=33333333-3333-4333-8333-{zlib.crc32(location.encode()):012x}"


def handover(settings: TenantSettings, **other: str | None) -> dict[str, str]:
    """Give the handover that an `up` of the environment has written, with `other` values (None: without)."""
    values: dict[str, str | None] = {"digest": digest(settings.environment, settings.tenant)}
    for name, location in settings.environment.locations.items():
        if settings.tenant not in location.tenants:
            continue
        if location.type == "proxmox":
            values[f"{name}.token"] = proxmox_token(settings.stack, name)
        else:
            values |= {f"{name}.token": HCLOUD_TOKEN, f"{name}.network": NETWORK, f"{name}.subnet": SUBNET}
    values |= other
    return {key: value for key, value in values.items() if value is not None}


def reads(
    settings: TenantSettings, values: Mapping[str, str] | None = None, templates: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Give what a tenant's run reads: the handover Secret, and the stack's own last outputs."""
    shown = handover(settings) if values is None else values
    data = {key: base64.b64encode(value.encode()).decode() for key, value in shown.items()}
    own = f"organization/hybrid/{settings.stack}"
    outputs = {"templates": templates} if templates is not None else {}
    return {
        f"{settings.namespace}/hybrid-handover": {"data": data},
        own: {"name": own, "outputs": outputs, "secretOutputNames": []},
    }


def run_environment(
    settings: EnvironmentSettings | None = None, credentials: Mapping[str, Any] | None = None, **how: Any
) -> Run:
    """Run an environment's program."""
    chosen = settings or environment_settings()
    given = CREDENTIALS if credentials is None else credentials
    return run(lambda: environment_program(chosen, given), stack_name=chosen.stack, **how)


def run_tenant(
    settings: TenantSettings,
    *,
    values: Mapping[str, str] | None = None,
    templates: Mapping[str, Any] | None = None,
    **how: Any,
) -> Run:
    """Run a tenant's program; `values` is its handover, `templates` the output of its last run."""
    return run(
        lambda: tenant_program(settings),
        stack_name=settings.stack,
        reads=reads(settings, values, templates),
        **how,
    )


@cache
def example(stack: str, *, unknown: bool = False) -> Run:
    """Run an example stack as it is; each only once, since nobody changes a run."""
    if "-" not in stack:
        return run_environment(unknown=unknown)
    return run_tenant(tenant_settings(stack.partition("-")[2]), unknown=unknown)
