"""What isolates tenants once per environment: the zones' definition, the policies, and the bindings without a zone.

It has two halves, with the zones between them: `hybrid-closed-bridges` comes after the zones' bindings, so that a new
zone's bridge is opened to tenants only when its table is being enforced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.crd import LOGICAL_NAME as CRD
from manifests.crd import crd
from manifests.generations import require_rendered
from manifests.manifest import named
from manifests.policies import bridges, clusters, machines, pools
from manifests.policies.parts import BINDING, binding

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Environment

ZONE_POLICIES = (machines.NAME, pools.NAME)
"""Policies with a binding per zone."""

POLICIES = (bridges.NAME, clusters.NAME, *ZONE_POLICIES)


def zone_bindings(zone: str) -> list[str]:
    """Name the bindings of a zone."""
    return [f"{policy}-{zone}" for policy in ZONE_POLICIES]


def isolation(environment: Environment) -> list[Manifest]:
    """Give both halves. They are whole only together with `zone(...)` of every zone."""
    return [*before_zones(environment), *after_zones(environment)]


def before_zones(environment: Environment) -> list[Manifest]:
    """Give the definition, the policies on zones' tables, and the policy on clusters with its binding."""
    management = environment.management
    require_rendered(management.generation)
    return [
        crd(),
        machines.machines(management.generation, (CRD,)),
        pools.pools(management.generation, (CRD,)),
        clusters.clusters(environment, ()),
        binding(clusters.NAME, management.guard),
    ]


def after_zones(environment: Environment) -> list[Manifest]:
    """Give the policy that closes all bridges but the zones' and the open ones, and its binding."""
    require_rendered(environment.management.generation)
    bound = tuple(named(BINDING, name) for zone in sorted(environment.zones) for name in zone_bindings(zone))
    return [bridges.bridges(environment, bound), binding(bridges.NAME, environment.management.guard)]
