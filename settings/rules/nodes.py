"""Rules of the Proxmox VE nodes on which a pool's machines stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from settings.places import choose, names
from settings.rules.views import pool_place, problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.problems import Problem
    from settings.rules.views import TenantView


def nodes_are_known(view: TenantView) -> Iterator[Problem]:
    """Require that a `proxmox-vm` pool names nodes of its location, where there are several."""
    for cluster, name, pool, row, location in view.proxmox_pools:
        if pool.backend != "proxmox-vm":
            continue
        place = pool_place(cluster, name, "nodes")
        if not pool.nodes and len(location.nodes) > 1:
            why = f"location {row.location} has several nodes; named here, a new node there moves no machine"
            yield problem("NODES_NEEDED", place, None, why, f"write nodes: some of {names(location.nodes)}")
        for index, node in enumerate(pool.nodes):
            if node not in location.nodes:
                why = f"location {row.location} has no node of this name"
                yield problem("UNKNOWN_NODE", (*place, index), node, why, choose(node, location.nodes))
            elif node in pool.nodes[:index]:
                why = "the node stands in the list twice"
                yield problem("DUPLICATE_NAME", (*place, index), node, why, "keep one of them")


def templates_reach_the_nodes(view: TenantView) -> Iterator[Problem]:
    """Require shared storage for nodes without the template: only from there Proxmox VE clones to another node."""
    for cluster, name, pool, row, location in view.proxmox_pools:
        if pool.backend != "proxmox-vm" or location.storage.shared:
            continue
        home = location.template.node
        for index, node in enumerate(pool.nodes):
            if node in location.nodes and node != home:
                place = pool_place(cluster, name, "nodes", index)
                why = f"the template of {row.location} is on {home}, and storage {location.storage.name} is not shared"
                yield problem("TEMPLATE_NOT_THERE", place, node, why, f"write nodes: [{home}]")


def disks_reach_the_nodes(view: TenantView) -> Iterator[Problem]:
    """Require shared storage or one node: capmox chooses the node itself."""
    for cluster, name, pool, row, location in view.proxmox_pools:
        if pool.backend == "capi-proxmox" and not location.storage.shared and len(location.nodes) > 1:
            why = (
                f"capmox chooses among the nodes of {row.location} ({names(location.nodes)}), and their storage"
                f" {location.storage.name} is not shared"
            )
            fix = "use proxmox-vm with nodes there, or a location with shared storage or one node"
            yield problem("STORAGE_NOT_SHARED", pool_place(cluster, name, "backend"), pool.backend, why, fix)


def memory_fits(view: TenantView) -> Iterator[Problem]:
    """Require that a machine is not larger than the node that it stands on."""
    for cluster, name, pool, _, location in view.proxmox_pools:
        chosen = pool.nodes if pool.backend == "proxmox-vm" else ()
        named = [location.nodes[node].memory for node in chosen if node in location.nodes]
        most = min(named) if named else max(node.memory for node in location.nodes.values())
        if pool.size.memory > most:
            place = pool_place(cluster, name, "size", "memory")
            why = f"the {'smallest named' if named else 'largest'} node has {most}Mi"
            yield problem("MEMORY_TOO_LARGE", place, f"{pool.size.memory}Mi", why, f"the largest is {most // 8 * 8}Mi")


def disks_hold_the_template(view: TenantView) -> Iterator[Problem]:
    """Require that a machine's disk is not smaller than its template's: a clone's disk can only grow."""
    for cluster, name, pool, row, location in view.proxmox_pools:
        least = location.template.disk
        if least is not None and pool.size.disk < least:
            place = pool_place(cluster, name, "size", "disk")
            why = f"the template in {row.location} has a disk of {least}Gi, and a clone's can only grow"
            yield problem("DISK_TOO_SMALL", place, f"{pool.size.disk}Gi", why, f"write {least}Gi or more")
