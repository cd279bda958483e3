"""The machines of a direct pool, from plain settings alone: names, ids, nodes and addresses never depend on a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from settings.environment import ProxmoxLocation

if TYPE_CHECKING:
    from ipaddress import IPv4Address

    from settings.stack import TenantSettings
    from settings.table import Row
    from settings.tenant import ProxmoxVmPool


@dataclass(frozen=True)
class Machine:
    """One machine that the program makes itself.

    `index` counts from 0 within its pool. `vm_id`, `node`, `address` and `row` are a `proxmox-vm` machine's; a
    `hcloud-server` machine has none of them. In checked settings a `proxmox-vm` machine has all four.
    """

    name: str
    index: int
    location: str
    vm_id: int | None = None
    node: str | None = None
    address: IPv4Address | None = None
    row: Row | None = None


def machine_name(cluster: str, pool: str, index: int) -> str:
    """Name a direct machine: its VM or server, and its Node."""
    return f"{cluster}-{pool}-{index}"


def machines(settings: TenantSettings, cluster: str, pool: str) -> list[Machine]:
    """Give a direct pool's machines in the order of their index; none for `capi-proxmox`, whose controllers make them.

    Machine i has the i-th id of its pool, stands on `nodes[i mod n]` (or the location's only node), and has the
    row's address at the offset of its id in the tenant's ids at that location: so no pool moves another's machines.
    """
    chosen = settings.clusters[cluster].pools[pool]
    if chosen.backend == "hcloud-server":
        return [Machine(machine_name(cluster, pool, index), index, chosen.location) for index in range(chosen.replicas)]
    if chosen.backend == "proxmox-vm":
        return [_virtual(settings, cluster, pool, chosen, index) for index in range(chosen.replicas)]
    return []


def _virtual(settings: TenantSettings, cluster: str, name: str, pool: ProxmoxVmPool, index: int) -> Machine:
    row = settings.rows[pool.network]
    location = settings.environment.locations[row.location]
    if not isinstance(location, ProxmoxLocation):
        message = f"row {row.name} is not in a Proxmox location"
        raise TypeError(message)
    vm_id = pool.vm_ids.first + index
    nodes = pool.nodes or tuple(sorted(location.nodes))
    own = location.tenants.get(settings.tenant)
    address = row.address(vm_id - own.vm_ids.first) if own and vm_id >= own.vm_ids.first else None
    node = nodes[index % len(nodes)]
    return Machine(machine_name(cluster, name, index), index, row.location, vm_id, node, address, row)
