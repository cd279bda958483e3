"""A NetworkZone in the cluster: its table, the address pools of its rows, and what makes the API server enforce it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.common import metadata
from manifests.crd import LOGICAL_NAME as CRD
from manifests.generations import CAPI_1_10, api_version
from manifests.isolation import ZONE_POLICIES
from manifests.manifest import Manifest, named
from manifests.policies.parts import binding
from manifests.table import LOGICAL_NAME as TABLE
from settings.table import rows

if TYPE_CHECKING:
    from collections.abc import Container

    from settings.environment import Environment, Generation
    from settings.table import Row


def zone(environment: Environment, zone_name: str, draining: Container[str] = ()) -> list[Manifest]:
    """Give the zone object, one InClusterIPPool per row in the namespace of the row's tenant, and the bindings.

    In `capi-1.12` there are no such pools: a tenant's ProxmoxCluster has the row's range itself, and a second pool with
    the same addresses would lease them once more. Only that of a row in `draining` stays, since machines of the
    generation before have addresses of it. A pool comes after the zone object and the table of all rows: the
    policies on pools compare it with the tables in the cluster. The bindings come
    after the pools: for up to half a minute after its definition is new, or the API server has started, a policy may
    not find the zones' kind and refuse everything that it matches ("failed to configure policy", seen).
    """
    generation = environment.management.generation
    chosen = environment.zones[zone_name]
    own = [row for row in rows(environment).values() if row.zone == zone_name]
    part = f"zone/{zone_name}"
    body = {
        "apiVersion": api_version("ProxmoxNetworkZone", generation),
        "kind": "ProxmoxNetworkZone",
        "metadata": metadata(zone_name),
        "spec": {
            "bridge": chosen.bridge,
            "networks": [_network(row) for row in sorted(own, key=lambda row: row.vlan)],
        },
    }
    table = Manifest(body, part, (CRD,))
    pooled = own if has_row_pools(generation) else [row for row in own if row.name in draining]
    pools = [_pool(row, api_version("InClusterIPPool", generation), (table.name, TABLE)) for row in pooled]
    bindings = [binding(policy, chosen.mode, zone=zone_name) for policy in ZONE_POLICIES]
    return [table, *pools, *(bound.with_after(pool.name for pool in pools) for bound in bindings)]


def has_row_pools(generation: Generation) -> bool:
    """Say whether machines take their addresses from pools of the rows."""
    return generation == CAPI_1_10


def pool_of(row: Row) -> str:
    """Give the logical name of a row's pool."""
    return named("InClusterIPPool", row.name, row.namespace)


def _network(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "namespace": row.namespace,
        "vlan": row.vlan,
        "pool": row.name,
        "addresses": row.addresses,
        "gateway": str(row.gateway),
        "prefix": row.cidr.prefixlen,
    }


def _pool(row: Row, version: str, after: tuple[str, ...]) -> Manifest:
    body = {
        "apiVersion": version,
        "kind": "InClusterIPPool",
        "metadata": metadata(row.name, row.namespace),
        "spec": {"addresses": row.addresses, "gateway": str(row.gateway), "prefix": row.cidr.prefixlen},
    }
    return Manifest(body, f"zone/{row.zone}", after)
