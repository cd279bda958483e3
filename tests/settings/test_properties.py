"""What holds for every legal environment, and for every faulty one."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from copy import deepcopy
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from settings.digest import digest
from settings.environment import ProxmoxLocation
from settings.fields import endpoint
from settings.load import load
from settings.machines import machines
from settings.stack import EnvironmentSettings, TenantSettings
from settings.wording import nearest_legal
from tests.settings.files import of_environment, problems, write
from tests.strategies import ENVIRONMENT, Settings, environments

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from settings.machines import Machine

Drawn = tuple[Settings, dict[str, Settings]]
SECRET = "plugh-73a90acaae2b1ccc"


@contextmanager
def _written(drawn: Drawn) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, ENVIRONMENT, drawn[0])
        for stack, tenant in drawn[1].items():
            write(folder, stack, tenant)
        yield folder


def _environment(folder: Path) -> EnvironmentSettings:
    found = load(ENVIRONMENT, folder)
    assert isinstance(found, EnvironmentSettings)
    return found


def _tenant(stack: str, folder: Path) -> TenantSettings:
    found = load(stack, folder)
    assert isinstance(found, TenantSettings)
    return found


def _machines(found: TenantSettings) -> dict[tuple[str, str], list[Machine]]:
    return {
        (cluster, pool): machines(found, cluster, pool)
        for cluster, body in found.clusters.items()
        for pool in body.pools
    }


@settings(max_examples=25)
@given(environments())
def test_an_accepted_environment_shares_no_vlan_address_or_id(drawn: Drawn) -> None:
    with _written(drawn) as folder:
        found = _environment(folder)
        tenants = [_tenant(stack, folder) for stack in drawn[1]]

    rows = list(found.rows.values())
    assert (
        len({(row.zone, row.vlan) for row in rows})
        == len(rows)
        == sum(len(zone.networks) for zone in found.environment.zones.values())
    )
    for one, two in combinations(rows, 2):
        assert not one.cidr.overlaps(two.cidr)
        assert not any(first.overlaps(second) for first in one.ranges for second in two.ranges)
    for location in found.environment.locations.values():
        if isinstance(location, ProxmoxLocation):
            ids = [own.vm_ids for own in location.tenants.values()]
            assert not any(one.overlaps(two) for one, two in combinations(ids, 2))
    made = [machine for tenant in tenants for pool in _machines(tenant).values() for machine in pool]
    virtual = [machine for machine in made if machine.vm_id is not None]
    assert len({(machine.location, machine.vm_id) for machine in virtual}) == len(virtual)
    assert len({machine.address for machine in virtual}) == len(virtual)
    for machine in virtual:
        assert machine.row is not None
        assert machine.address is not None
        assert any(machine.address in item for item in machine.row.ranges)
        assert machine.address != machine.row.gateway


@settings(max_examples=15)
@given(environments(), st.randoms(use_true_random=False))
def test_the_order_of_maps_changes_no_settings_digest_or_machine(drawn: Drawn, random: Random) -> None:
    shuffled = (_shuffled(drawn[0], random), {name: _shuffled(one, random) for name, one in drawn[1].items()})

    with _written(drawn) as folder, _written(shuffled) as other:
        assert _environment(folder) == _environment(other)
        for stack in drawn[1]:
            one, two = _tenant(stack, folder), _tenant(stack, other)
            assert one == two
            assert _machines(one) == _machines(two)
            assert digest(one.environment, one.tenant) == digest(two.environment, two.tenant)


def _shuffled(value: Any, random: Random) -> Any:
    if not isinstance(value, dict):
        return value
    keys = list(value)
    random.shuffle(keys)
    return {key: _shuffled(value[key], random) for key in keys}


@settings(max_examples=15)
@given(environments(), st.data())
def test_removing_a_pool_moves_no_other_pools_machines(drawn: Drawn, data: st.DataObject) -> None:
    pools = [
        (stack, cluster, pool)
        for stack, tenant in drawn[1].items()
        for cluster, body in tenant["clusters"].items()
        for pool in body["pools"]
    ]
    assume(pools)
    stack, cluster, pool = data.draw(st.sampled_from(pools))
    fewer = deepcopy(drawn[1][stack])
    del fewer["clusters"][cluster]["pools"][pool]

    with _written(drawn) as folder:
        before = _machines(_tenant(stack, folder))
        write(folder, stack, fewer)
        after = _machines(_tenant(stack, folder))

    del before[cluster, pool]
    assert before == after


@settings(max_examples=15)
@given(environments(), st.data())
def test_another_tenants_change_moves_nothing_of_this_tenant(drawn: Drawn, data: st.DataObject) -> None:
    assume(len(drawn[0]["tenants"]) > 1)
    stack = data.draw(st.sampled_from(sorted(drawn[1])))
    others = deepcopy(drawn[0])
    for zone in others["zones"].values():
        for row in zone["networks"].values():
            if f"{ENVIRONMENT}-{row['tenant']}" != stack:
                row["gateway"] = row["gateway"].rpartition(".")[0] + ".250"
    for tenant, body in others["tenants"].items():
        if f"{ENVIRONMENT}-{tenant}" != stack:
            body["namespace"] += "-new"

    with _written(drawn) as folder, _written((others, drawn[1])) as other:
        one, two = _tenant(stack, folder), _tenant(stack, other)

    assert digest(one.environment, one.tenant) == digest(two.environment, two.tenant)
    assert one.rows == two.rows
    assert _machines(one) == _machines(two)


Fault = tuple[tuple[str, ...], Any]


def _faults(environment: Settings) -> list[Fault]:
    """Give one fault for each named entry: its place, and what is wrong to write there."""
    found: list[Fault] = [(("management", "guard"), "maybe")]
    found += [(("tenants", name, "namespace"), "Upper") for name in environment["tenants"]]
    for name, location in environment["locations"].items():
        key = "endpoint" if location["type"] == "proxmox" else "region"
        found.append((("locations", name, key), "nonsense"))
    for zone, body in environment["zones"].items():
        found.append((("zones", zone, "bridge"), "vm-br"))
        for index, name in enumerate(body["networks"]):
            wrong = (("vlan", 4095), ("cidr", "10.0.0.0/40"), ("gateway", "8.8.8.8"), ("vlan", "5"), ("cdir", 1))
            key, value = wrong[index % len(wrong)]
            found.append((("zones", zone, "networks", name, key), value))
    return found


@settings(max_examples=25)
@given(environments(), st.data())
def test_every_fault_is_one_problem_at_its_place_however_many_there_are(drawn: Drawn, data: st.DataObject) -> None:
    environment = deepcopy(drawn[0])
    chosen = data.draw(st.lists(st.sampled_from(_faults(environment)), min_size=1, unique_by=lambda fault: fault[0]))
    for place, value in chosen:
        here = environment
        for step in place[:-1]:
            here = here[step]
        here[place[-1]] = value

    assert sorted(problem.path for problem in of_environment(environment)) == sorted(
        ".".join(place) for place, _ in chosen
    )


@settings(max_examples=15)
@given(environments(), st.data())
def test_every_fault_of_a_tenants_pools_is_one_problem_at_its_place(drawn: Drawn, data: st.DataObject) -> None:
    pools = [
        (stack, cluster, pool)
        for stack, tenant in drawn[1].items()
        for cluster, body in tenant["clusters"].items()
        for pool in body["pools"]
    ]
    assume(pools)
    stack = data.draw(st.sampled_from(sorted({pool[0] for pool in pools})))
    tenant = deepcopy(drawn[1][stack])
    expected = []
    for _, cluster, pool in (each for each in pools if each[0] == stack):
        key, value = data.draw(
            st.sampled_from([("backend", "none"), ("labels", {"a b": "c"}), ("vlan", 7), ("taints", 1)])
        )
        tenant["clusters"][cluster]["pools"][pool][key] = value
        expected.append(f"clusters.{cluster}.pools.{pool}.{key}" + (".a b" if key == "labels" else ""))
    for cluster in tenant["clusters"]:
        tenant["clusters"][cluster]["kubernetes"] = "1.35"
        expected.append(f"clusters.{cluster}.kubernetes")

    with _written(drawn) as folder:
        write(folder, stack, tenant)
        assert sorted(problem.path for problem in problems(folder, stack)) == sorted(expected)


_LEAVES = st.sampled_from([SECRET, {"secure": SECRET}, [SECRET], {SECRET: SECRET}])


@settings(max_examples=40)
@given(
    st.recursive(_LEAVES, lambda inner: st.dictionaries(st.sampled_from(["lab", "token", "acme"]), inner, min_size=1)),
    st.sampled_from(["hybrid:credentials", "hybrid:credential", "credentials", "aws:secretKey"]),
    st.sampled_from(["lab", "lab-acme"]),
)
def test_a_secret_outside_the_settings_is_never_in_an_error(value: Any, key: str, stack: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), "lab", {})
        write(Path(name), stack, {}, config={"hybrid:tenant": {}, key: value})
        found = problems(Path(name), stack)

    assert found
    assert not any(SECRET in str(problem) or SECRET in str(problem.as_json()) for problem in found)


@settings(max_examples=200)
@given(
    st.text(max_size=30) | st.from_regex(r"https?://(\[[0-9a-fx:.%]*\]?|[a-z0-9.-]*)(:[0-9]{0,6})?/?", fullmatch=True),
    st.sampled_from(["BAD_ENDPOINT", "BAD_CIDR", "BAD_MEMORY", "BAD_DISK", "BAD_VM_IDS"]),
)
def test_no_text_breaks_the_search_for_a_legal_spelling_and_an_endpoint_found_is_legal(text: str, code: str) -> None:
    found = nearest_legal(code, text)

    if found and code == "BAD_ENDPOINT":
        proposed = found.removeprefix("write ")
        assert endpoint(proposed) == proposed
