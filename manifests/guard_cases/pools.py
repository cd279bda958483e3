"""Cases of address pools: a network's pool is the network's, a cluster's own pool is what its cluster may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.guard_cases import names
from manifests.guard_cases.bodies import Body, pool
from manifests.guard_cases.case import Case, Matrix, Request
from manifests.guard_cases.world import NOBODY, World
from manifests.policies.parts import JUDGE

if TYPE_CHECKING:
    from settings.table import Row


def pool_cases(world: World) -> list[Case]:
    """Give the cases for every row, and for the other pools of each tenant's namespace."""
    matrix = Matrix(names.POOLS, world.generation)
    others = Matrix(names.POOL_NAMES, world.generation)
    for row in world.rows:
        _row(world, matrix, row)
    for namespace in world.tenants:
        _others(world, others, world.own(namespace)[0])
    return [*matrix.all(), *others.all()]


def _judged(body: Body) -> Body:
    """Ask that a dry run of a pool be judged: one that does not ask is a preview."""
    return {**body, "metadata": {**body["metadata"], "annotations": {JUDGE: "yes"}}}


def _row(world: World, matrix: Matrix, row: Row) -> None:
    """Add a pool named like a row. In capi-1.10 it is there: only its change can be asked for."""
    own = pool(world, row.namespace, row.name, row.addresses, row)
    old = None if world.next_generation else own
    where = f"InClusterIPPool {row.name} in {row.namespace}"
    twin = Request(f"{where}: what its network says", _judged(own), old=old)
    foreign = world.foreign(row.namespace)
    wrong = {
        "the whole cidr": pool(world, row.namespace, row.name, [str(row.cidr)], row),
        "a part of its range": pool(world, row.namespace, row.name, [str(row.ranges[0].first)], row),
        "an address more": pool(world, row.namespace, row.name, [*row.addresses, str(row.gateway)], row),
        "another gateway": pool(world, row.namespace, row.name, row.addresses, row, gateway=str(row.ranges[0].first)),
        "another prefix": pool(world, row.namespace, row.name, row.addresses, row, prefix=row.cidr.prefixlen - 1),
    }
    if foreign:
        other = foreign[0]
        text = f"the range of {other.name}, which is another tenant's"
        wrong[text] = pool(world, row.namespace, row.name, other.addresses, other)
    for text, body in wrong.items():
        matrix.refuse(Request(f"{where}: {text}", _judged(body), old=old), twin=twin, says=row.addresses[0])


def _others(world: World, matrix: Matrix, row: Row) -> None:
    where = f"InClusterIPPool in {row.namespace}"
    right = [row.addresses[0]] if world.next_generation else [str(row.gateway)]
    own = Request(
        f"{where}: what capmox makes for a cluster",
        _judged(pool(world, row.namespace, "guardcase-v4-icip", right, row)),
    )

    def refuse(text: str, body: Body, twin: Request = own, says: str | None = None) -> None:
        matrix.refuse(Request(f"{where}: {text}", _judged(body)), twin=twin, says=says)

    elsewhere = Request(
        f"InClusterIPPool in {NOBODY}: a pool of any name",
        _judged(pool(world, NOBODY, "guardcase", row.addresses, row)),
    )
    free = pool(world, row.namespace, "guardcase", row.addresses, row)
    refuse("a name that is no network's and no cluster's", free, elsewhere, says="guardcase")
    for other in world.foreign(row.namespace)[:1]:
        taken = pool(world, row.namespace, other.name, other.addresses, other)
        refuse(f"the name {other.name}, which is another tenant's network", taken, elsewhere, says=other.name)
        stolen = pool(world, row.namespace, "guardcase-v4-icip", other.addresses, other)
        refuse("another tenant's range for a cluster", stolen)
    nameless = pool(world, row.namespace, "v4-icip", right, row)
    refuse("the name of a cluster's pool without a cluster", nameless, says="v4-icip")
    whole = pool(world, row.namespace, "guardcase-v4-icip", [str(row.cidr)], row)
    refuse("the network's whole cidr for a cluster", whole)
    twice = pool(world, row.namespace, "guardcase-v4-icip", [str(row.gateway), str(row.ranges[0].first)], row)
    refuse("the gateway and an address for a cluster", twice)
    wrong = [str(row.gateway)] if world.next_generation else row.addresses
    refuse("the other generation's range for a cluster", pool(world, row.namespace, "guardcase-v4-icip", wrong, row))
    other_v6 = pool(world, row.namespace, "guardcase-v6-icip", ["fd00::10-fd00::20"], row, gateway="fd00::1", prefix=64)
    refuse("a range of IPv6 for a cluster", other_v6)
