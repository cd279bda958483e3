"""Rules of VM ids and addresses: whose they are, and whether there are enough of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from settings.fields import IdRange
from settings.machines import machines
from settings.rules.views import pool_place, problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.problems import Problem
    from settings.rules.views import TenantView
    from settings.tenant import CapiProxmoxPool, ProxmoxVmPool

_NOT_SERVERS = 3
"""A subnet's network and broadcast address, and its first host address: the gateway.

https://docs.hetzner.com/cloud/networks/faq/#are-any-ip-addresses-reserved.
"""


def most(pool: CapiProxmoxPool | ProxmoxVmPool) -> int | None:
    """Count the machines that a pool can have at once, those of a rolling update included; None if it does not say."""
    if pool.backend == "proxmox-vm":
        return pool.replicas
    if (pool.replicas is None) == (pool.scale is None):
        return None
    return (pool.scale.max if pool.scale else pool.replicas or 0) + pool.rollout.surge


def ids_are_the_tenants_own(view: TenantView) -> Iterator[Problem]:
    """Require that a pool's ids are among the tenant's at that location."""
    for cluster, name, pool, row, location in view.proxmox_pools:
        own = location.tenants.get(view.tenant)
        if own and not own.vm_ids.contains(pool.vm_ids):
            why = f"tenant {view.tenant} has the ids {own.vm_ids} in location {row.location}"
            place = pool_place(cluster, name, "vmIds")
            yield problem("IDS_OUTSIDE", place, pool.vm_ids, why, _free(view, row.location, len(pool.vm_ids)))


def ids_are_one_pools(view: TenantView) -> Iterator[Problem]:
    """Require that no id of a location is two pools'."""
    taken: dict[str, list[tuple[str, str, IdRange]]] = {}
    for cluster, name, pool, row, _ in view.proxmox_pools:
        there = taken.setdefault(row.location, [])
        clash = next((item for item in there if item[2].overlaps(pool.vm_ids)), None)
        there.append((cluster, name, pool.vm_ids))
        if clash:
            why = f"pool {clash[1]} of cluster {clash[0]} has {clash[2]}, and an id is one machine's"
            place = pool_place(cluster, name, "vmIds")
            yield problem("IDS_OVERLAP", place, pool.vm_ids, why, _free(view, row.location, len(pool.vm_ids)))


def _free(view: TenantView, location: str, size: int) -> str:
    """Name the first free ids of the tenant at a location, `size` of them."""
    own = view.around.proxmox[location].tenants[view.tenant].vm_ids
    taken = sorted(pool.vm_ids for _, _, pool, row, _ in view.proxmox_pools if row.location == location)
    first = own.first
    for ids in taken:
        if ids.first > first + size - 1:
            break
        first = max(first, ids.last + 1)
    if first + size - 1 <= own.last:
        return f"free are {IdRange(first, first + size - 1)}"
    return f"no {size} ids in a row are free among {own}; the environment's owner can give more"


def ids_suffice(view: TenantView) -> Iterator[Problem]:
    """Require that a pool has an id for each machine, those that an update adds included."""
    for cluster, name, pool in view.pools:
        if pool.backend == "hcloud-server":
            continue
        needed = most(pool)
        if needed is not None and needed > len(pool.vm_ids):
            why = f"the pool can have {needed} machines at once (its rollout's surge too), has {len(pool.vm_ids)} ids"
            place = pool_place(cluster, name, "vmIds")
            enough = IdRange(pool.vm_ids.first, pool.vm_ids.first + needed - 1)
            yield problem("IDS_TOO_FEW", place, pool.vm_ids, why, f"at least {needed}, for example {enough}")


def addresses_suffice(view: TenantView) -> Iterator[Problem]:
    """Require that a network of Cluster API pools has an address for each machine that they can have at once."""
    used: dict[str, list[tuple[str, str, int]]] = {}
    for cluster, name, pool, row, _ in view.proxmox_pools:
        if pool.backend != "capi-proxmox":
            continue
        there = used.setdefault(row.name, [])
        before = sum(item[2] for item in there)
        there.append((cluster, name, most(pool) or 0))
        total = before + there[-1][2]
        if before <= row.capacity < total:
            pools = ", ".join(f"{item[0]}-{item[1]} {item[2]}" for item in there)
            why = f"network {row.name} has {row.capacity} addresses, and its pools need {total}: {pools}"
            fix = f"at most {row.capacity - before} machines (with the rollout's surge) fit here"
            yield problem("ADDRESSES_TOO_FEW", pool_place(cluster, name, "network"), pool.network, why, fix)


def machines_have_addresses(view: TenantView) -> Iterator[Problem]:
    """Require that every machine of the program has an address: the one at its id's offset in the tenant's ids."""
    for cluster, name, pool, row, location in view.proxmox_pools:
        own = location.tenants.get(view.tenant)
        if pool.backend != "proxmox-vm" or own is None or not own.vm_ids.contains(pool.vm_ids):
            continue
        without = [machine for machine in machines(view.settings, cluster, name) if machine.address is None]
        if without and pool.replicas <= len(pool.vm_ids):
            served = IdRange(own.vm_ids.first, own.vm_ids.first + row.capacity - 1)
            why = (
                f"the machine with id {without[0].vm_id} gets the address {(without[0].vm_id or 0) - own.vm_ids.first}"
                f" places into network {row.name}, which has {row.capacity} addresses"
            )
            place = pool_place(cluster, name, "vmIds")
            yield problem("ADDRESS_MISSING", place, pool.vm_ids, why, f"ids {served} have addresses there")


def subnets_suffice(view: TenantView) -> Iterator[Problem]:
    """Require that a tenant's Hetzner Cloud subnet has an address for each server."""
    used: dict[str, int] = {}
    for cluster, name, pool in view.pools:
        location = view.around.hcloud.get(pool.location) if pool.backend == "hcloud-server" else None
        own = location.tenants.get(view.tenant) if location else None
        if pool.backend != "hcloud-server" or own is None:
            continue
        room = max(own.subnet.num_addresses - _NOT_SERVERS, 0)
        before = used.get(pool.location, 0)
        used[pool.location] = before + pool.replicas
        if before <= room < used[pool.location]:
            why = (
                f"subnet {own.subnet} has {room} addresses for servers (its first is the gateway), and the pools there"
                f" need {used[pool.location]}"
            )
            place = pool_place(cluster, name, "replicas")
            yield problem("ADDRESSES_TOO_FEW", place, pool.replicas, why, f"at most {room - before}")
