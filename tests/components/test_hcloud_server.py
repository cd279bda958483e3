"""Direct servers in Hetzner Cloud: in the tenant's own subnet, behind a firewall that lets nothing in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pulumi.runtime.rpc import UNKNOWN

from tests.components.examples import SUBNET, run_tenant, tenant_settings

if TYPE_CHECKING:
    from tests.components.engine import Run

LABELS = {"environment": "lab", "tenant": "acme", "cluster": "prod", "pool": "cloud"}


def _sized(count: int, *, unknown: bool = False) -> Run:
    settings = tenant_settings("acme", lambda raw: raw["clusters"]["prod"]["pools"]["cloud"].update(replicas=count))
    return run_tenant(settings, unknown=unknown)


def test_the_firewall_has_no_rule_so_it_lets_nothing_in(acme: Run) -> None:
    (firewall,) = acme.of("Firewall")
    assert firewall.inputs == {"name": "prod-cloud", "labels": LABELS}


def test_a_server_has_the_pools_type_in_the_locations_region(acme: Run) -> None:
    servers = acme.of("Server")
    assert [server.name for server in servers] == ["prod-cloud-0", "prod-cloud-1"]
    for server in servers:
        assert server.inputs["name"] == server.name
        assert server.inputs["serverType"] == "cpx32"
        assert server.inputs["location"] == "fsn1"
        assert server.inputs["labels"] == LABELS


def test_a_server_stands_in_the_subnet_of_the_handover_and_in_no_other_network(acme: Run) -> None:
    for server in acme.of("Server"):
        assert server.inputs["networks"] == [{"subnetId": SUBNET, "aliasIps": []}]
        assert server.inputs["publicNets"] == [{"ipv4Enabled": True, "ipv6Enabled": False}]


def test_a_server_has_firewall_and_placement_group_by_their_numbers(acme: Run, unknown: bool) -> None:  # noqa: FBT001 - a fixture
    for server in acme.of("Server"):
        assert server.depends_on == {"prod-cloud-firewall", "prod-cloud-group-0"}
        group, firewalls = server.inputs["placementGroupId"], server.inputs["firewallIds"]
        if unknown:
            assert UNKNOWN in (firewalls, *firewalls)
            assert group == UNKNOWN
        else:
            assert len(firewalls) == 1
            assert all(isinstance(number, float) and number.is_integer() for number in (group, *firewalls))


def test_neither_a_newer_image_nor_another_machine_config_replaces_a_server(acme: Run, unknown: bool) -> None:  # noqa: FBT001 - a fixture
    for server in acme.of("Server"):
        assert server.inputs["image"] == (UNKNOWN if unknown else "4711")
        assert server.ignore_changes == ("image", "userData")


def test_a_servers_machine_config_is_its_user_data_and_it_has_no_ssh_key(acme: Run) -> None:
    for server in acme.of("Server"):
        assert f"hostname: {server.name}" in server.inputs["userData"].value
        assert "sshKeys" not in server.inputs


@pytest.mark.parametrize(("count", "groups"), [(0, 0), (1, 1), (10, 1), (11, 2), (25, 3)])
def test_servers_are_spread_ten_to_a_placement_group(count: int, groups: int) -> None:
    run = _sized(count)
    assert len(run.of("PlacementGroup")) == groups
    assert {group.inputs["type"] for group in run.of("PlacementGroup")} <= {"spread"}
    members: dict[str, list[str]] = {}
    for server in run.of("Server"):
        (group,) = [name for name in server.depends_on if "group" in name]
        members.setdefault(group, []).append(server.name)
    assert sum(map(len, members.values())) == count
    assert all(len(names) <= 10 for names in members.values())
    assert len(members) == groups


def test_twenty_five_servers_are_the_same_without_known_outputs() -> None:
    assert _sized(25, unknown=True).keys == _sized(25).keys


def test_a_server_more_changes_no_other() -> None:
    before, after = _sized(10).texts, _sized(11).texts
    assert {name.split()[1] for name in after.keys() - before.keys()} == {"prod-cloud-10", "prod-cloud-group-1"}
    assert {name: text for name, text in after.items() if name in before} == before
