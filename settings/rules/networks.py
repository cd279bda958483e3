"""Rules of where a pool stands: its network, or its location, and whether its backend works there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from settings.places import choose, names
from settings.rules.clusters import not_yours
from settings.rules.views import pool_place, problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.problems import Problem
    from settings.rules.views import TenantView


def networks_are_the_tenants_own(view: TenantView) -> Iterator[Problem]:
    """Require that a pool's network is one of the tenant's."""
    own = view.row_names()
    for cluster, name, pool in view.pools:
        if pool.backend != "hcloud-server" and pool.network not in own:
            yield not_yours(view, pool_place(cluster, name, "network"), pool.network, own)


def locations_are_the_tenants_own(view: TenantView) -> Iterator[Problem]:
    """Require that a cloud pool's location is a cloud in which the tenant has a place."""
    possible = [name for name in view.places if view.type_of(name) != "proxmox"]
    for cluster, name, pool in view.pools:
        if pool.backend != "hcloud-server" or pool.location in possible:
            continue
        place = pool_place(cluster, name, "location")
        if pool.location in view.places:
            why = f"location {pool.location} is not in Hetzner Cloud"
            yield problem("WRONG_LOCATION_TYPE", place, pool.location, why, choose(None, possible))
        else:
            why = f"tenant {view.tenant} has no place in a location of this name"
            yield problem("UNKNOWN_LOCATION", place, pool.location, why, choose(pool.location, possible))


def backends_fit_the_generation(view: TenantView) -> Iterator[Problem]:
    """Refuse Cluster API pools in a generation for which they are not written yet."""
    generation = view.around.environment.management.generation
    if generation == "capi-1.10":
        return
    for cluster, name, pool in view.pools:
        if pool.backend == "capi-proxmox":
            why = (
                f"the management cluster runs {generation}, for which capi-proxmox pools are not built yet: there the"
                " first NIC always has an address of the ProxmoxCluster's own range, and no pool of the network"
            )
            yield problem("NOT_AVAILABLE", pool_place(cluster, name, "backend"), pool.backend, why, "use proxmox-vm")


def backends_fit_the_place(view: TenantView) -> Iterator[Problem]:
    """Refuse Cluster API pools outside the home location: they need a second Cluster, which is not built yet."""
    for cluster, name, pool, row, _ in view.proxmox_pools:
        home = view.settings.clusters[cluster].home
        if pool.backend == "capi-proxmox" and row.location != home and home in view.around.proxmox:
            why = (
                f"network {row.name} is in {row.location}, the cluster's home is {home}, and a capi-proxmox pool"
                " outside the home location (a second Cluster) is not built yet"
            )
            fix = f"use proxmox-vm there, or one of the networks at home: {names(view.row_names(home))}"
            yield problem("NOT_AVAILABLE", pool_place(cluster, name, "network"), pool.network, why, fix)


def rows_are_not_mixed(view: TenantView) -> Iterator[Problem]:
    """Refuse a row whose addresses both controllers and the program give out: neither knows of the other's."""
    first: dict[str, tuple[str, str, str]] = {}
    told: set[str] = set()
    for cluster, name, pool, row, _ in view.proxmox_pools:
        other_cluster, other, backend = first.setdefault(row.name, (cluster, name, pool.backend))
        if pool.backend != backend and row.name not in told:
            told.add(row.name)
            why = (
                f"pool {other} of cluster {other_cluster} is {backend} on this network: the address pool would hand out"
                " an address that a machine made by the program already has"
            )
            fix = f"use {backend} here too, or another of the tenant's networks: {names(view.row_names() - {row.name})}"
            yield problem("MIXED_NETWORK", pool_place(cluster, name, "network"), pool.network, why, fix)
