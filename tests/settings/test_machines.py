from __future__ import annotations

from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Any

from settings.load import load
from settings.machines import machines
from settings.stack import TenantSettings
from tests.settings.files import STACKS, write_edited

if TYPE_CHECKING:
    from pathlib import Path


def _tenant(stack: str, folder: Path) -> TenantSettings:
    found = load(stack, folder)
    assert isinstance(found, TenantSettings)
    return found


def test_a_machine_has_its_id_node_and_address_from_its_place_in_the_pool() -> None:
    found = machines(_tenant("lab-globex", STACKS), "prod", "small")

    assert [(one.name, one.index, one.location, one.vm_id, one.node, one.address) for one in found] == [
        ("prod-small-0", 0, "lab", 2100, "pve1", IPv4Address("10.202.0.20")),
        ("prod-small-1", 1, "lab", 2101, "pve2", IPv4Address("10.202.0.21")),
    ]
    assert {one.row.name for one in found if one.row} == {"globex-lab"}


def test_a_machine_stands_on_the_only_node_where_no_node_is_named() -> None:
    found = machines(_tenant("lab-acme", STACKS), "prod", "dc")

    assert [(one.vm_id, one.node) for one in found] == [(3000, "dc1"), (3001, "dc1"), (3002, "dc1")]


def test_a_server_has_a_name_and_a_location_alone() -> None:
    found = machines(_tenant("lab-acme", STACKS), "prod", "cloud")

    assert [(one.name, one.location, one.vm_id, one.node, one.address, one.row) for one in found] == [
        ("prod-cloud-0", "fsn1", None, None, None, None),
        ("prod-cloud-1", "fsn1", None, None, None, None),
    ]


def test_controllers_machines_are_not_the_programs() -> None:
    assert machines(_tenant("lab-acme", STACKS), "prod", "lab") == []


def test_an_address_follows_the_id_over_several_ranges(tmp_path: Path) -> None:
    ranges = ["10.231.0.20-10.231.0.21", "10.231.0.40-10.231.0.90"]
    write_edited(
        tmp_path,
        "lab-acme",
        {"lab:zones.workers.networks.acme-dc.range": ranges, "clusters.prod.pools.dc.vmIds": "3001-3009"},
    )

    found = machines(_tenant("lab-acme", tmp_path), "prod", "dc")

    assert [str(one.address) for one in found] == ["10.231.0.21", "10.231.0.40", "10.231.0.41"]


def test_a_new_node_in_the_location_moves_no_machine(tmp_path: Path) -> None:
    write_edited(tmp_path, "lab-globex", {"lab:locations.lab.nodes.pve0": {"memory": "64Gi"}})

    before = machines(_tenant("lab-globex", STACKS), "prod", "small")
    assert machines(_tenant("lab-globex", tmp_path), "prod", "small") == before


def test_more_replicas_leave_the_first_machines_as_they_are(tmp_path: Path) -> None:
    more: dict[str | tuple[str, ...], Any] = {"clusters.prod.pools.small.replicas": 5}
    write_edited(tmp_path, "lab-globex", more)

    before = machines(_tenant("lab-globex", STACKS), "prod", "small")
    assert machines(_tenant("lab-globex", tmp_path), "prod", "small")[:2] == before
