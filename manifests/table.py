"""ProxmoxNetworkTable `all`: every network and place of the environment, for policies that must know them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.common import metadata
from manifests.crd import TABLE_LOGICAL_NAME
from manifests.generations import api_version
from manifests.manifest import Manifest, named
from manifests.policies.parts import TABLE
from settings.access import resource_pool
from settings.environment import ProxmoxLocation

if TYPE_CHECKING:
    from settings.stack import EnvironmentSettings
    from settings.table import Row

LOGICAL_NAME = named("ProxmoxNetworkTable", TABLE)


def table(settings: EnvironmentSettings) -> Manifest:
    """Give the table."""
    body = {
        "apiVersion": api_version("ProxmoxNetworkTable", settings.environment.management.generation),
        "kind": "ProxmoxNetworkTable",
        "metadata": metadata(TABLE),
        "spec": {"networks": [_network(row) for row in settings.rows.values()], "places": _places(settings)},
    }
    return Manifest(body, "isolation", (TABLE_LOGICAL_NAME,))


def _network(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "namespace": row.namespace,
        "bridge": row.bridge,
        "vlan": row.vlan,
        "addresses": row.addresses,
        "gateway": str(row.gateway),
        "prefix": row.cidr.prefixlen,
    }


def _places(settings: EnvironmentSettings) -> list[dict[str, Any]]:
    environment = settings.environment
    return [
        {
            "namespace": environment.tenants[tenant].namespace,
            "location": name,
            "pool": resource_pool(settings.stack, tenant),
            "storage": location.storage.name,
            "tags": sorted(location.template.tags),
            "templateId": location.template.id,
            "templateNode": location.template.node,
        }
        for name, location in sorted(environment.locations.items())
        if isinstance(location, ProxmoxLocation)
        for tenant in sorted(location.tenants)
    ]
