"""All cases of an environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.generations import KINDS, version
from manifests.guard_cases.bridges import bridge_cases
from manifests.guard_cases.clusters import cluster_cases
from manifests.guard_cases.control_planes import control_plane_cases
from manifests.guard_cases.machine_bodies import machine_cases
from manifests.guard_cases.machines import zone_cases
from manifests.guard_cases.pools import pool_cases
from manifests.guard_cases.references import reference_cases
from manifests.guard_cases.secrets import secret_cases
from manifests.guard_cases.world import World

if TYPE_CHECKING:
    from manifests.guard_cases.case import Case
    from settings.environment import Environment

_VERSIONED = (zone_cases, bridge_cases, machine_cases, cluster_cases)
"""Cases of capmox's kinds: an API server of the later generation serves them in the older version too."""


def cases(environment: Environment, stack: str = "lab") -> list[Case]:
    """Give every case of an environment, in its generation; each name is there once.

    `stack` is the environment's name: the tenants' resource pools in Proxmox VE are named after it. A tenant without a
    network in any zone has no case: nothing is its own. Where the generation serves capmox's kinds in two versions,
    the cases are asked for in both: the server judges them by the later one.
    """
    generation = environment.management.generation
    own = version("ProxmoxMachine", generation)
    versions = sorted(set(KINDS["ProxmoxMachine"].versions.values()), reverse=True)
    found: list[Case] = []
    for machines in versions[versions.index(own) :]:
        world = World(environment, stack, machines)
        for of in _VERSIONED:
            found += of(world)
    world = World(environment, stack, own)
    for of in (pool_cases, control_plane_cases, reference_cases, secret_cases):
        found += of(world)
    return found
