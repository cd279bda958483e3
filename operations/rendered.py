"""The guard as an environment's program writes it: definitions, tables, pools, policies and bindings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.isolation import isolation
from manifests.zone import zone

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.stack import EnvironmentSettings


def guard_objects(settings: EnvironmentSettings) -> list[Manifest]:
    """Give every object of the guard, without regard to their order."""
    environment = settings.environment
    return [*isolation(settings), *(item for name in sorted(environment.zones) for item in zone(environment, name))]


def of_kind(manifests: list[Manifest], kind: str) -> dict[str, Manifest]:
    """Give those of one kind by the objects' names."""
    return {item.body["metadata"]["name"]: item for item in manifests if item.kind == kind}
