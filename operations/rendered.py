"""The guard as an environment's program writes it, and how what is in a cluster differs from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.isolation import isolation
from manifests.zone import zone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from manifests.manifest import Manifest
    from settings.stack import EnvironmentSettings

# What the API server adds to a policy that does not say it.
_DEFAULTS: dict[str, Any] = {"namespaceSelector": {}, "objectSelector": {}, "scope": "*", "matchPolicy": "Equivalent"}


def guard_objects(settings: EnvironmentSettings) -> list[Manifest]:
    """Give every object of the guard, without regard to their order."""
    environment = settings.environment
    return [*isolation(settings), *(item for name in sorted(environment.zones) for item in zone(environment, name))]


def of_kind(manifests: list[Manifest], kind: str) -> dict[str, Manifest]:
    """Give those of one kind by the objects' names."""
    return {item.body["metadata"]["name"]: item for item in manifests if item.kind == kind}


def plain(spec: Any) -> Any:
    """Give a spec without what the API server adds, and with sets in order, so that two can be compared."""
    if isinstance(spec, dict):
        return {
            key: sorted(value) if key == "validationActions" else plain(value)
            for key, value in spec.items()
            if key not in _DEFAULTS or value != _DEFAULTS[key]
        }
    return [plain(item) for item in spec] if isinstance(spec, list) else spec


def differing(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Name the fields that differ, with the values of short ones."""
    one, other = plain(dict(wanted)), plain(dict(found))
    names = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
    return ", ".join(
        f"{key} is {found.get(key)}, not {wanted.get(key)}" if key == "validationActions" else key for key in names
    )
