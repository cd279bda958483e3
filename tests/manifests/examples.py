"""The lab's stack files as models, with one thing changed where a test wants it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from manifests.environment import environment as environment_manifests
from manifests.render import placeholders
from manifests.tenant import tenant as tenant_manifests
from settings.environment import Environment
from settings.stack import EnvironmentSettings, TenantSettings
from settings.tenant import TenantStack

if TYPE_CHECKING:
    from manifests.manifest import Manifest

STACKS = Path(__file__).resolve().parents[2] / "stacks"
Changes = dict[str, Any]
"""Dotted path -> new value; None removes what is there."""


def raw(stack: str) -> dict[str, Any]:
    """Read what a stack file says below its one key."""
    text = (STACKS / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")
    config = YAML(typ="safe", pure=True).load(text)["config"]
    kind = "tenant" if "-" in stack else "environment"
    found: dict[str, Any] = config[f"hybrid:{kind}"]
    return found


def change(data: dict[str, Any], changes: Changes) -> dict[str, Any]:
    for path, value in changes.items():
        *places, last = path.split(".")
        at = data
        for place in places:
            at = at[place]
        if value is None:
            del at[last]
        else:
            at[last] = value
    return data


def environment(changes: Changes | None = None) -> EnvironmentSettings:
    model = Environment.model_validate(change(raw("lab"), changes or {}))
    return EnvironmentSettings("lab", model)


def tenant(name: str, changes: Changes | None = None, around: Changes | None = None) -> TenantSettings:
    stack = TenantStack.model_validate(change(raw(f"lab-{name}"), changes or {}))
    return TenantSettings(f"lab-{name}", "lab", name, environment(around).environment, stack.clusters)


def of_environment(changes: Changes | None = None) -> dict[str, Manifest]:
    """Give the environment's objects by their names."""
    settings = environment(changes)
    return {item.name: item for item in environment_manifests(settings, placeholders(settings))}


def of_tenant(name: str, changes: Changes | None = None, around: Changes | None = None) -> dict[str, Manifest]:
    """Give a tenant's objects by their names."""
    return {item.name: item for item in tenant_manifests(tenant(name, changes, around))}


def only(found: dict[str, Manifest], kind: str) -> dict[str, Any]:
    """Give the body of the only object of a kind."""
    (body,) = (item.body for item in found.values() if item.kind == kind)
    return body
