"""A pool that would hand out what is leased from another: refused, with what must pass beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from manifests.zone import zone
from operations.handing_out import draining
from operations.in_the_way import in_the_way
from tests.manifests.examples import Changes, environment
from tests.operations.live_examples import definitions, leased, live

if TYPE_CHECKING:
    from operations.live import LiveAddress
    from settings.problems import Problem

LATER: Changes = {"management.generation": "capi-1.12"}
ROW = "zones.workers.networks.acme-lab"
OLD, NEW = "10.201.0.20-10.201.0.199", "10.201.0.200-10.201.0.250"
LONGER: Changes = {f"{ROW}.range": [OLD, NEW]}
CLUSTERS: Changes = {"tenants.acme.clusters": ["prod", "test"]}
OWN = "prod-v4-icip"


def problems(changes: Changes, *addresses: LiveAddress, before: Changes | None = None) -> list[Problem]:
    generation = changes.get("management.generation", "capi-1.10")
    found = live(addresses=addresses, before=before, definitions=definitions(generation))
    return in_the_way(found, environment(changes))


@pytest.mark.parametrize(
    ("changes", "addresses", "wanted"),
    [
        (LATER, [], []),
        (LATER, [leased("10.201.0.20")], ["ADDRESS_TWICE"]),
        ({**LATER, **LONGER}, [leased("10.201.0.20")], []),
        ({**LATER, **LONGER}, [leased("10.201.0.200")], ["ADDRESS_TWICE"]),
        ({**LATER, **LONGER}, [leased("10.201.0.200", OWN), leased("10.201.0.20")], []),
        (LATER, [leased("10.201.0.20", "somebodys-own")], ["ADDRESS_TWICE"]),
        (LATER, [leased("10.202.0.20", "globex-lab", "tenant-globex")], ["ADDRESS_TWICE"]),
        (LATER, [leased("10.201.0.20", "x", "platform"), leased("192.0.2.1", "x")], []),
        (LATER, [leased("10.201.0.20", OWN), leased("10.201.0.21", OWN)], []),
        ({**LATER, **CLUSTERS}, [leased("10.201.0.20", OWN), leased("10.201.0.21", "test-v4-icip")], ["ADDRESS_TWICE"]),
        (LATER, [leased("10.201.0.20", OWN), leased("10.201.0.21", "test-v4-icip")], ["ADDRESS_TWICE"]),
        ({**LATER, **LONGER}, [leased("10.201.0.20", OWN)], ["ADDRESS_LEAVES_POOL"]),
        ({**LATER, f"{ROW}.range": [NEW, OLD]}, [leased("10.201.0.20", OWN)], []),
        # capi-1.10: the row's own pool is the only one
        ({}, [leased("10.201.0.20")], []),
        ({}, [leased("10.201.0.20", OWN)], ["ADDRESS_TWICE"]),
        ({}, [leased("10.201.0.20", "x", "platform")], []),
    ],
)
def test_a_pool_may_only_have_addresses_that_are_leased_from_itself(
    changes: Changes, addresses: list[LiveAddress], wanted: list[str]
) -> None:
    assert [problem.code for problem in problems(changes, *addresses)] == wanted


def test_a_change_of_generation_that_would_lease_twice_names_every_address_its_pool_and_what_to_write() -> None:
    (problem,) = problems(LATER, leased("10.201.0.20"), leased("10.201.0.21"))
    assert problem.path == f"{ROW}.range"
    assert "IPAddress tenant-acme/m-10.201.0.20 (10.201.0.20) from pool acme-lab" in problem.why
    assert "m-10.201.0.21 (10.201.0.21) from pool acme-lab" in problem.why
    assert f"range: [{OLD}, <first>-<last>]" in problem.fix


def test_a_cluster_whose_pool_would_lose_its_range_is_told_to_put_others_before_it() -> None:
    (problem,) = problems({**LATER, **LONGER}, leased("10.201.0.20", OWN))
    assert f"the network's last range, {NEW}" in problem.why
    assert "put others before it" in problem.fix


def test_a_rows_pool_stays_in_the_later_generation_only_while_addresses_are_leased_from_it() -> None:
    later = environment({**LATER, **LONGER}).environment
    found = live(addresses=(leased("10.201.0.20"), leased("10.202.0.20", "globex-lab", "tenant-acme")))
    kept = draining(found, later)
    assert kept == {"acme-lab"}
    pools = [item.name for item in zone(later, "workers", kept) if item.kind == "InClusterIPPool"]
    assert pools == ["InClusterIPPool/tenant-acme/acme-lab"]
    assert not [item for item in zone(later, "workers") if item.kind == "InClusterIPPool"]
    assert draining(found, environment().environment) == frozenset()
    assert zone(environment().environment, "workers", kept) == zone(environment().environment, "workers")
