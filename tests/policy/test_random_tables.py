"""Random tables and machines: the pack agrees with the plainest reading of the promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.policy.analyzer import UNKNOWN
from tests.policy.examples import KUBERNETES, VM, pool_ref, provider, row, template, vm

if TYPE_CHECKING:
    from tests.policy.analyzer import Analyzer

TENANTS = ("acme", "globex")
BRIDGES = ("vmbr1", "vmbr2")
LOCATIONS = {"lab": "https://pve.lab.example:8006", "dc": "https://pve.dc.example:8006"}
VLANS = (2, 3, 4)
THROUGH_THE_ANALYZER = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

Place = tuple[str, int]
Owner = tuple[str, str]
Owners = dict[Place, Owner]

owners: st.SearchStrategy[Owners] = st.dictionaries(
    st.tuples(st.sampled_from(BRIDGES), st.sampled_from(VLANS)),
    st.tuples(st.sampled_from(TENANTS), st.sampled_from(sorted(LOCATIONS))),
    max_size=6,
)
"""Bridge and VLAN to tenant and location."""
vlans = st.sampled_from([*VLANS, 0, 2.5, "2", None, UNKNOWN])
bridges = st.sampled_from([*BRIDGES, "", "vmbr1,tag=3", None, UNKNOWN])
pairs = st.lists(st.tuples(bridges, vlans) | st.tuples(st.sampled_from(BRIDGES), st.sampled_from(VLANS)), max_size=4)


def config(table: Owners) -> dict[str, Any]:
    stacks = {f"lab-{name}": {"kind": "tenant", "tenant": name, "namespace": f"tenant-{name}"} for name in TENANTS}
    return {
        "stacks": stacks,
        "locations": {name: {"type": "proxmox", "endpoint": endpoint} for name, endpoint in LOCATIONS.items()},
        "networks": [
            row(name(place), tenant, location, place[1], place[0]) for place, (tenant, location) in table.items()
        ],
    }


def name(place: Place) -> str:
    return "-".join(map(str, place))


@THROUGH_THE_ANALYZER
@given(table=owners, tenant=st.sampled_from(TENANTS), location=st.sampled_from(sorted(LOCATIONS)), asked=pairs)
def test_a_vm_passes_exactly_if_each_nic_is_the_tenants_own(
    running: Analyzer, table: Owners, tenant: str, location: str, asked: list[tuple[Any, Any]]
) -> None:
    running.configure(config(table))
    nics = [{"bridge": bridge, "vlanId": vlan} for bridge, vlan in asked]
    refused = running.analyze(
        VM, {**vm(), "networkDevices": nics}, provider(LOCATIONS[location]), stack=f"lab-{tenant}"
    )
    own = [table.get((bridge, vlan)) == (tenant, location) for bridge, vlan in asked]
    assert (not refused) == (bool(own) and all(own))


@THROUGH_THE_ANALYZER
@given(table=owners, tenant=st.sampled_from(TENANTS), asked=pairs, data=st.data())
def test_a_template_passes_exactly_if_each_nic_and_its_pool_are_one_row_of_the_tenants_own(
    running: Analyzer, table: Owners, tenant: str, asked: list[tuple[Any, Any]], data: st.DataObject
) -> None:
    running.configure(config(table))
    pools = st.sampled_from([*map(name, table), "nowhere", None, UNKNOWN])
    chosen = [(bridge, vlan, data.draw(pools)) for bridge, vlan in asked]
    nics = [{"bridge": bridge, "vlan": vlan, "ipv4PoolRef": pool_ref(pool)} for bridge, vlan, pool in chosen]
    token, body = template({"default": nics[0], "additionalDevices": nics[1:]} if nics else {})
    body["metadata"]["namespace"] = f"tenant-{tenant}"
    refused = running.analyze(token, body, KUBERNETES, stack=f"lab-{tenant}")
    rows = {(*place, name(place)) for place, owner in table.items() if owner[0] == tenant}
    assert (not refused) == (bool(chosen) and all(nic in rows for nic in chosen))
