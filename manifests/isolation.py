"""What isolates tenants once per environment: the tables' definitions, the policies, and the bindings without a zone.

It has two halves, with the zones between them: `hybrid-closed-bridges` comes after the zones' bindings, so that a new
zone's bridge is opened to tenants only when its table is being enforced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.crd import LOGICAL_NAME as CRD
from manifests.crd import TABLE_LOGICAL_NAME as TABLE_CRD
from manifests.crd import crd, table_crd
from manifests.generations import CAPI_1_12
from manifests.manifest import named
from manifests.policies import (
    bridges,
    cluster_ranges,
    clusters,
    control_planes,
    machine_bodies,
    machines,
    pool_names,
    pools,
    references,
    tenant_secrets,
)
from manifests.policies.parts import BINDING, POLICY, binding
from manifests.table import table

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Environment, Generation, Mode
    from settings.stack import EnvironmentSettings

ZONE_POLICIES = (machines.NAME, pools.NAME)
"""Policies with a binding per zone."""


def guard_policies(generation: Generation) -> tuple[str, ...]:
    """Name the policies with one binding, of the policy's name; the last closes the bridges."""
    ranges = (cluster_ranges.NAME,) if generation == CAPI_1_12 else ()
    return (
        clusters.NAME,
        *ranges,
        pool_names.NAME,
        machine_bodies.NAME,
        control_planes.NAME,
        references.NAME,
        tenant_secrets.NAME,
        bridges.NAME,
    )


def policies(generation: Generation) -> tuple[str, ...]:
    """Name all policies."""
    return (*guard_policies(generation), *ZONE_POLICIES)


def zone_bindings(zone: str) -> list[str]:
    """Name the bindings of a zone."""
    return [f"{policy}-{zone}" for policy in ZONE_POLICIES]


def guard_bindings(generation: Generation) -> list[str]:
    """Name the bindings that belong to no zone."""
    return list(guard_policies(generation))


ALWAYS_ENFORCED = frozenset({tenant_secrets.NAME})
"""Bindings that no mode and nobody loosens: nothing that runs depends on what they refuse."""


def bound_mode(policy: str, mode: Mode) -> Mode:
    """Give the mode of a policy's binding where that of the guard is `mode`."""
    return "enforce" if policy in ALWAYS_ENFORCED else mode


def isolation(settings: EnvironmentSettings) -> list[Manifest]:
    """Give both halves. They are whole only together with `zone(...)` of every zone."""
    return [*before_zones(settings), *after_zones(settings.environment)]


def before_zones(settings: EnvironmentSettings) -> list[Manifest]:
    """Give the definitions, the table of all rows, and all policies but the last, with the bindings without a zone."""
    environment = settings.environment
    generation = environment.management.generation
    mode = environment.management.guard
    with_table = [
        pool_names.pool_names(environment, (TABLE_CRD,)),
        machine_bodies.machine_bodies(environment, (TABLE_CRD,)),
    ]
    if generation == CAPI_1_12:
        with_table.insert(0, cluster_ranges.cluster_ranges(environment, (TABLE_CRD,)))
    without = [
        clusters.clusters(environment, ()),
        control_planes.control_planes(environment, ()),
        references.references(environment, ()),
        tenant_secrets.tenant_secrets(environment, ()),
    ]
    return [
        crd(),
        table_crd(),
        table(settings),
        machines.machines(environment, (CRD,)),
        pools.pools(generation, (CRD,)),
        *with_table,
        *without,
        *(binding(policy.body["metadata"]["name"], mode, table=True) for policy in with_table),
        *(binding(name, bound_mode(name, mode)) for name in (policy.body["metadata"]["name"] for policy in without)),
    ]


def after_zones(environment: Environment) -> list[Manifest]:
    """Give the policy that closes all bridges but the zones' and the open ones, and its binding."""
    bound = [named(BINDING, name) for zone in sorted(environment.zones) for name in zone_bindings(zone)]
    others = [named(POLICY, name) for name in policies(environment.management.generation) if name != bridges.NAME]
    last = bridges.bridges(environment, (*bound, *others))
    return [last, binding(bridges.NAME, environment.management.guard)]
