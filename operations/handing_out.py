"""Which leased addresses a pool of the new table would hand out once more. Pure, as `in_the_way`.

An address pool knows only of what was leased from itself (reference: two pools with one range hand out the same
addresses). In `capi-1.10` machines take theirs from their row's pool; in `capi-1.12` from the pool that capmox makes of
a ProxmoxCluster's range, which is the row's last one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.zone import has_row_pools
from operations.naming import address_name, inside, named
from settings.problems import Problem
from settings.table import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from operations.live import Live, LiveAddress
    from settings.environment import Environment
    from settings.table import Row


def handing_out_problems(live: Live, environment: Environment) -> Iterator[Problem]:
    """Refuse that an address is leased twice, and that a cluster's pool loses the range from which it has leased."""
    generation = environment.management.generation
    for row in rows(environment).values():
        own = cluster_pools(environment, row)
        leased = [item for item in live.addresses if item.namespace == row.namespace and inside(item, row.addresses)]
        if has_row_pools(generation):
            known = {row.name, *(each.pool for each in live.rows if (each.bridge, each.vlan) == (row.bridge, row.vlan))}
            yield from _twice(row, [item for item in leased if item.pool not in known], f"pool {row.name}")
            continue
        last = row.addresses[-1]
        using = {item.pool for item in leased if item.pool in own}
        others = [item for item in leased if inside(item, [last]) and (item.pool not in own or len(using) > 1)]
        yield from _twice(row, others, f"a cluster's own pool in {generation} (the network's last range, {last},)")
        yield from _moved(row, [item for item in leased if item.pool in own and not inside(item, [last])], last)


def draining(live: Live, environment: Environment) -> frozenset[str]:
    """Name the rows whose pool this generation does not make, and from which addresses are leased.

    Such a pool stays until they are gone: the address provider refuses to delete it before.
    """
    if has_row_pools(environment.management.generation):
        return frozenset()
    used = {(item.namespace, item.pool) for item in live.addresses}
    return frozenset(row.name for row in rows(environment).values() if (row.namespace, row.name) in used)


def cluster_pools(environment: Environment, row: Row) -> set[str]:
    """Name the pools that capmox makes of a tenant's ProxmoxClusters."""
    return {f"{cluster}-v4-icip" for cluster in environment.tenants[row.tenant].clusters}


def _twice(row: Row, items: list[LiveAddress], pool: str) -> Iterator[Problem]:
    if items:
        why = f"{pool} would hand out addresses that are leased from others; in the way: {_from(items)}"
        fix = (
            f"write a list that ends with a range in which nothing is leased, range: [{', '.join(row.addresses)}, "
            "<first>-<last>], or remove the machines that have them first"
        )
        yield Problem("ADDRESS_TWICE", f"zones.{row.zone}.networks.{row.name}.range", row.addresses, why, fix)


def _moved(row: Row, items: list[LiveAddress], last: str) -> Iterator[Problem]:
    if items:
        why = (
            f"a cluster's own pool would get the network's last range, {last}, and addresses are leased from it "
            f"outside that; in the way: {_from(items)}"
        )
        fix = "keep their range last and put others before it, or remove the machines that have them first"
        yield Problem("ADDRESS_LEAVES_POOL", f"zones.{row.zone}.networks.{row.name}.range", row.addresses, why, fix)


def _from(items: list[LiveAddress]) -> str:
    return named([f"{address_name(item)} from pool {item.pool or 'unknown'}" for item in items])
