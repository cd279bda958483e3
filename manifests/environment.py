"""Every Kubernetes object of an environment's stack, in the order in which they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.identity import identity
from manifests.isolation import isolation
from manifests.order import ordered
from manifests.zone import zone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from manifests.manifest import Manifest
    from settings.stack import EnvironmentSettings


def environment(settings: EnvironmentSettings, values: Mapping[str, Mapping[str, Any]]) -> list[Manifest]:
    """Give the environment's objects; `values` holds, by tenant, what `identity` needs."""
    chosen = settings.environment
    return ordered(
        [
            *isolation(settings),
            *(manifest for name in sorted(chosen.zones) for manifest in zone(chosen, name)),
            *(
                manifest
                for tenant in sorted(chosen.tenants)
                for manifest in identity(settings, tenant, values.get(tenant, {}))
            ),
        ]
    )
