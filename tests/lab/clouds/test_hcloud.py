from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lab.clouds import edit, seed_hcloud
from tests.lab.clouds.conftest import ACME, GLOBEX, order_faults
from tests.lab.clouds.engine import UNKNOWN, Engine, Refused

if TYPE_CHECKING:
    from pathlib import Path

NETWORK = "hcloud:index/network:Network"
SUBNET = "hcloud:index/networkSubnet:NetworkSubnet"
SERVER = "hcloud:index/server:Server"
ATTACHMENT = "hcloud:index/serverNetwork:ServerNetwork"
FIREWALL = "hcloud:index/firewall:Firewall"
GROUP = "hcloud:index/placementGroup:PlacementGroup"
KEY = "hcloud:index/sshKey:SshKey"
PRIVATE = [{"ipv4Enabled": False, "ipv6Enabled": False}]


def server(**changes: Any) -> dict[str, Any]:
    inputs = {
        "name": "prod-cloud-0",
        "serverType": "cpx32",
        "image": "501",
        "location": "fsn1",
        "userData": "config",
        "labels": {"tenant": "acme"},
        **changes,
    }
    return {key: value for key, value in inputs.items() if value is not None}


@pytest.fixture
def network(acme: Engine) -> int:
    """Make a network 10.100.0.0/16 with the subnet 10.100.1.0/24; give its id."""
    acme.up("network", NETWORK, {"name": "acme", "ipRange": "10.100.0.0/16"})
    number = int(acme.state["network"].identity)
    acme.up("subnet", SUBNET, subnet(number, "10.100.1.0/24"))
    return number


def subnet(network: int, cidr: str) -> dict[str, Any]:
    return {"networkId": network, "type": "cloud", "networkZone": "eu-central", "ipRange": cidr}


def real(folder: Path, name: str, project: str = "acme") -> dict[str, Any]:
    with edit(folder, "hcloud") as state:
        (found,) = [each for each in state["projects"][project]["servers"].values() if each["name"] == name]
        return dict(found)


def test_everything_together_is_unchanged_by_a_second_up_and_a_refresh_and_destroyed(
    acme: Engine, network: int, folder: Path
) -> None:
    acme.up("key", KEY, {"name": "key", "publicKey": "ssh-ed25519 AAAA me"})
    acme.up("group", GROUP, {"name": "group", "type": "spread", "labels": {"a": "b"}})
    rules = [{"direction": "in", "protocol": "tcp", "port": "22", "sourceIps": ["0.0.0.0/0"]}]
    acme.up("firewall", FIREWALL, {"name": "firewall", "rules": rules})
    whole = server(
        networks=[{"subnetId": acme.state["subnet"].identity, "ip": "10.100.1.9", "aliasIps": ["10.100.1.10"]}],
        publicNets=PRIVATE,
        firewallIds=[int(acme.state["firewall"].identity)],
        placementGroupId=int(acme.state["group"].identity),
        sshKeys=["key"],
    )
    acme.up("server", SERVER, whole)
    acme.up("other", SERVER, server(name="other"))
    attachment = {"serverId": int(acme.state["other"].identity), "subnetId": acme.state["subnet"].identity}
    acme.up("attachment", ATTACHMENT, attachment)
    assert acme.state["attachment"].identity == f"{attachment['serverId']}-{network}"
    assert acme.state["subnet"].identity == f"{network}-10.100.1.0/24"
    everything = {name: (kept.kind, dict(kept.inputs)) for name, kept in acme.state.items()}
    for name, (kind, inputs) in everything.items():
        assert acme.up(name, kind, inputs) == "same"
        assert acme.refresh(name)
        assert acme.up(name, kind, inputs) == "same"
    for name in reversed(everything):
        acme.destroy(name)
    with edit(folder, "hcloud") as state:
        project = state["projects"]["acme"]
        assert all(not project[kind] for kind in ("servers", "networks", "firewalls", "placement_groups", "ssh_keys"))


@pytest.mark.parametrize(
    "how",
    [
        {"networkId": True},
        {"networkId": True, "ip": "10.100.1.7"},
        {"subnetId": True},
        {"subnetId": True, "aliasIps": []},
        {"networkId": True, "subnetId": True},
    ],
)
def test_a_network_may_be_named_in_all_these_ways_without_a_difference_later(
    acme: Engine, network: int, how: dict[str, Any]
) -> None:
    ids = {"networkId": network, "subnetId": f"{network}-10.100.1.0/24"}
    inputs = server(networks=[{key: ids[key] if value is True else value for key, value in how.items()}])
    acme.up("server", SERVER, inputs)
    assert acme.up("server", SERVER, inputs) == "same"
    acme.refresh("server")
    assert acme.up("server", SERVER, inputs) == "same"


def test_the_next_free_address_of_the_subnet_is_given(acme: Engine, network: int) -> None:
    taken = server(name="a", networks=[{"networkId": network, "ip": "10.100.1.2"}])
    acme.up("a", SERVER, taken)
    for name in "bc":
        acme.up(name, SERVER, server(name=name, networks=[{"networkId": network}]))
    addresses = [acme.state[name].outputs["networks"][0]["ip"] for name in "abc"]
    assert addresses == ["10.100.1.2", "10.100.1.3", "10.100.1.4"]


def test_an_address_that_the_cloud_chooses_is_unknown_at_preview_and_a_given_one_known(acme: Engine) -> None:
    plan = acme.preview("server", SERVER, server(networks=[{"networkId": 7}, {"networkId": 8, "ip": "10.0.0.2"}]))
    assert [network["ip"] for network in plan["networks"]] == [UNKNOWN, "10.0.0.2"]
    assert plan["ipv4Address"] is UNKNOWN


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("10.100.1.2", "already in use"),
        ("10.100.2.2", "not in a subnet"),
        ("10.100.1.0", "not in a subnet"),
        ("10.100.1.1", "not in a subnet"),
        ("10.100.1.255", "not in a subnet"),
        ("nonsense", "not an IPv4 address"),
    ],
)
def test_an_address_that_is_taken_or_foreign_is_refused(acme: Engine, network: int, address: str, message: str) -> None:
    acme.up("first", SERVER, server(name="first", networks=[{"networkId": network}]))
    with pytest.raises(Refused, match=message):
        acme.up("server", SERVER, server(networks=[{"networkId": network, "ip": address}]))
    assert acme.up("server", SERVER, server(networks=[{"networkId": network, "ip": "10.100.1.9"}])) == "create"


def test_a_server_in_a_network_or_subnet_that_is_not_there_is_refused(acme: Engine, network: int, folder: Path) -> None:
    acme.up("empty", NETWORK, {"name": "empty", "ipRange": "10.200.0.0/16"})
    for place, message in (
        ({"networkId": 999}, "network with ID '999' not found"),
        ({"subnetId": f"{network}-10.100.9.0/24"}, "not found"),
        ({"networkId": int(acme.state["empty"].identity)}, "has no subnet"),
    ):
        with pytest.raises(Refused, match=message):
            acme.up("server", SERVER, server(networks=[place]))
    with edit(folder, "hcloud") as state:
        assert state["projects"]["acme"]["servers"] == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image": "nope"}, "image nope for architecture x86 not found"),
        ({"serverType": "nope"}, "server type nope not found"),
        ({"location": "nope"}, "location nope not found"),
        ({"sshKeys": ["nope"]}, "SSH key nope not found"),
        ({"firewallIds": [7]}, "firewall with ID '7' not found"),
        ({"placementGroupId": 7}, "placement group with ID '7' not found"),
        ({"name": "under_score"}, "must be a valid hostname"),
        ({"userData": "x" * (32 * 1024 + 1)}, "user_data"),
    ],
)
def test_what_is_refused_at_up_only(acme: Engine, change: dict[str, Any], message: str) -> None:
    acme.preview("server", SERVER, server(**change))
    with pytest.raises(Refused, match=message):
        acme.up("server", SERVER, server(**change))
    assert acme.up("server", SERVER, server(userData="x" * (32 * 1024))) == "create"


def test_a_name_is_unique_in_its_project_only(acme: Engine, folder: Path) -> None:
    acme.up("server", SERVER, server())
    with pytest.raises(Refused, match=r"server name is already used \(uniqueness_error\)"):
        acme.up("twin", SERVER, server())
    seed_hcloud(
        folder, {"globex": {"token": GLOBEX, "images": [{"id": 501, "labels": {}}]}}, server_types=[], locations=[]
    )
    assert Engine("hcloud", folder, token=GLOBEX).up("server", SERVER, server()) == "create"


@pytest.mark.usefixtures("network")
def test_a_project_sees_nothing_of_another(acme: Engine, folder: Path) -> None:
    acme.up("server", SERVER, server())
    globex = Engine("hcloud", folder, token=GLOBEX)
    globex.state = dict(acme.state)
    assert not globex.refresh("server")
    assert not globex.refresh("subnet")
    with pytest.raises(Refused, match="image 501 for architecture x86 not found"):
        globex.up("theirs", SERVER, server())


def test_the_eleventh_server_of_a_spread_group_is_refused(acme: Engine) -> None:
    acme.up("group", GROUP, {"name": "group", "type": "spread"})
    group = int(acme.state["group"].identity)
    for index in range(10):
        acme.up(f"s{index}", SERVER, server(name=f"s{index}", placementGroupId=group))
    with pytest.raises(Refused, match="placement_error"):
        acme.up("s10", SERVER, server(name="s10", placementGroupId=group))
    assert acme.up("s10", SERVER, server(name="s10")) == "create"


@pytest.mark.parametrize("change", [{"userData": "new"}, {"image": "502"}, {"location": "nbg1"}, {"sshKeys": ["key"]}])
def test_what_replaces_a_server_deletes_it_first(acme: Engine, folder: Path, change: dict[str, Any]) -> None:
    images = [{"id": 502, "labels": {}}]
    seed_hcloud(folder, {"acme": {"token": ACME, "images": images}}, server_types=[], locations=[])
    acme.up("key", KEY, {"name": "key", "publicKey": "ssh-ed25519 AAAA me"})
    acme.up("server", SERVER, server())
    before = acme.state["server"].identity
    plan = acme.plan("server", SERVER, server(**change))
    assert (plan.step, plan.delete_first) == ("replace", True)
    acme.up("server", SERVER, server(**change))
    assert acme.state["server"].identity != before
    assert acme.up("server", SERVER, server(**change)) == "same"


def test_the_state_holds_a_hash_in_place_of_the_user_data(acme: Engine, folder: Path) -> None:
    acme.up("server", SERVER, server(userData="the secret"))
    assert "the secret" not in str(acme.state["server"].outputs)
    assert real(folder, "prod-cloud-0")["userData"] == "the secret"


@pytest.mark.parametrize(
    ("change", "status", "starts"),
    [
        ({"labels": {}}, "running", 1),
        ({"labels": {"tenant": "acme", "pool": "cloud"}}, "running", 1),
        ({"name": "other"}, "running", 1),
        ({"keepDisk": True}, "running", 1),
        ({"shutdownBeforeDeletion": True}, "running", 1),
        ({"deleteProtection": True, "rebuildProtection": True}, "running", 1),
        ({"serverType": "cpx42"}, "off", 1),
        ({"publicNets": [{"ipv4Enabled": True, "ipv6Enabled": True}]}, "running", 2),
    ],
)
def test_what_is_updated_in_place(acme: Engine, folder: Path, change: dict[str, Any], status: str, starts: int) -> None:
    base = {"publicNets": PRIVATE}
    acme.up("server", SERVER, server(**base))
    assert acme.up("server", SERVER, server(**{**base, **change})) == "update"
    after = real(folder, change.get("name", "prod-cloud-0"))
    assert (after["status"], after["starts"]) == (status, starts)
    for key, value in change.items():
        if key in after:
            assert after[key] == value
    assert acme.up("server", SERVER, server(**{**base, **change})) == "same"
    acme.refresh("server")
    assert acme.up("server", SERVER, server(**{**base, **change})) == "same"


def test_networks_are_attached_moved_and_detached_in_place(acme: Engine, network: int, folder: Path) -> None:
    def at(*places: dict[str, Any]) -> dict[str, Any]:
        return server(networks=[{"networkId": network, **place} for place in places] or None)

    def attached() -> Any:
        return real(folder, "prod-cloud-0")["attached"].get(str(network))

    acme.up("server", SERVER, at({"ip": "10.100.1.5"}))
    assert acme.up("server", SERVER, at({"ip": "10.100.1.6"})) == "update"
    assert attached()["ip"] == "10.100.1.6"
    assert acme.up("server", SERVER, at({"ip": "10.100.1.6", "aliasIps": ["10.100.1.7"]})) == "update"
    assert attached()["aliasIps"] == ["10.100.1.7"]
    assert acme.up("server", SERVER, at()) == "update"
    assert attached() is None
    assert acme.up("server", SERVER, at()) == "same"
    assert real(folder, "prod-cloud-0")["starts"] == 1


def test_a_placement_group_can_not_change_while_the_server_runs(acme: Engine, folder: Path) -> None:
    for name in ("one", "two"):
        acme.up(name, GROUP, {"name": name, "type": "spread"})
    one, two = (int(acme.state[name].identity) for name in ("one", "two"))
    acme.up("server", SERVER, server(placementGroupId=one))
    for change in ({"placementGroupId": two}, {"placementGroupId": None}):
        with pytest.raises(Refused, match="removing a running server from a placement group is currently not"):
            acme.up("server", SERVER, server(**{"placementGroupId": one, **change}))
        assert real(folder, "prod-cloud-0")["placementGroupId"] == one
    with edit(folder, "hcloud") as state:
        state["projects"]["acme"]["servers"][acme.state["server"].identity]["status"] = "off"
    assert acme.up("server", SERVER, server(placementGroupId=two)) == "update"
    assert real(folder, "prod-cloud-0")["placementGroupId"] == two


def test_a_firewall_is_applied_without_a_restart_and_kept_while_used(acme: Engine, folder: Path) -> None:
    acme.up("firewall", FIREWALL, {"name": "firewall"})
    firewall = int(acme.state["firewall"].identity)
    acme.up("server", SERVER, server())
    acme.up("server", SERVER, server(firewallIds=[firewall]))
    assert (real(folder, "prod-cloud-0")["firewallIds"], real(folder, "prod-cloud-0")["starts"]) == ([firewall], 1)
    with pytest.raises(Refused, match="resource_in_use"):
        acme.destroy("firewall")
    acme.up("server", SERVER, server())
    acme.destroy("firewall")


def test_another_public_key_is_created_first_and_refused_under_a_fixed_name(acme: Engine) -> None:
    acme.up("key", KEY, {"name": "key", "publicKey": "ssh-ed25519 AAAA me"})
    new = {"name": "key", "publicKey": "ssh-ed25519 BBBB me"}
    plan = acme.plan("key", KEY, new)
    assert (plan.step, plan.delete_first) == ("replace", False)
    with pytest.raises(Refused, match="uniqueness_error"):
        acme.up("key", KEY, new)
    assert acme.up("key", KEY, {**new, "name": "key-2"}) == "replace"


def test_a_thing_without_a_name_keeps_the_one_that_it_was_given_once(acme: Engine) -> None:
    acme.up("group", GROUP, {"type": "spread"})
    name = acme.state["group"].outputs["name"]
    assert name.startswith("group-")
    assert acme.up("group", GROUP, {"type": "spread"}) == "same"


def test_exactly_one_of_network_and_subnet_is_wanted_at_preview(acme: Engine) -> None:
    both = {"serverId": 1, "networkId": 2, "subnetId": UNKNOWN}
    (failure,) = acme.failures(ATTACHMENT, both)
    assert failure[1] == "Exactly one of these attributes must be configured: [network_id,subnet_id]"
    assert len(acme.failures(ATTACHMENT, {"serverId": 1})) == 1
    assert acme.failures(ATTACHMENT, {"serverId": 1, "networkId": UNKNOWN}) == []


def test_a_server_is_attached_to_a_network_once(acme: Engine, network: int) -> None:
    acme.up("server", SERVER, server())
    place = {"serverId": int(acme.state["server"].identity), "networkId": network}
    acme.up("one", ATTACHMENT, place)
    with pytest.raises(Refused, match="already attached"):
        acme.up("two", ATTACHMENT, place)
    assert acme.up("one", ATTACHMENT, {**place, "aliasIps": ["10.100.1.50"]}) == "update"
    assert acme.state["one"].outputs["aliasIps"] == ["10.100.1.50"]


@pytest.mark.parametrize(("cidr", "message"), [
    ("10.101.0.0/24", "not within"), ("10.100.1.128/25", "overlaps"), ("10.100.1.1/24", "host bits"),
])  # fmt: skip
def test_a_subnet_lies_in_its_network_beside_the_others(acme: Engine, network: int, cidr: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        acme.up("second", SUBNET, subnet(network, cidr))
    assert acme.up("second", SUBNET, subnet(network, "10.100.2.0/24")) == "create"


def test_a_subnet_stays_while_a_server_is_in_it(acme: Engine, network: int) -> None:
    acme.up("server", SERVER, server(networks=[{"networkId": network}]))
    with pytest.raises(Refused, match="resource_in_use"):
        acme.destroy("subnet")
    acme.destroy("server")
    acme.destroy("subnet")


@pytest.mark.parametrize("labels", [{"bad key": "x"}, {"key": "bad value"}, {"-a": "x"}])
def test_badly_formed_labels_are_refused_at_preview(acme: Engine, labels: dict[str, str]) -> None:
    assert len(acme.failures(SERVER, server(labels=labels))) == 1
    assert acme.failures(SERVER, server(labels={"hybrid/tenant": "acme", "a": ""})) == []


def test_a_server_deleted_by_hand_is_made_again_and_a_moved_label_put_back(acme: Engine, folder: Path) -> None:
    acme.up("server", SERVER, server())
    with edit(folder, "hcloud") as state:
        state["projects"]["acme"]["servers"][acme.state["server"].identity]["labels"] = {"by": "hand"}
    assert acme.plan("server", SERVER, server()).step == "same"
    acme.refresh("server")
    assert acme.up("server", SERVER, server()) == "update"
    assert real(folder, "prod-cloud-0")["labels"] == {"tenant": "acme"}
    with edit(folder, "hcloud") as state:
        state["projects"]["acme"]["servers"].clear()
    assert not acme.refresh("server")
    assert acme.up("server", SERVER, server()) == "create"


def test_a_lost_answer_leaves_a_server_that_blocks_its_name(acme: Engine, folder: Path) -> None:
    order_faults(folder, {"endpoint": "hcloud", "call": "create_server", "how": "lost_answer"})
    with pytest.raises(Refused, match="EOF") as refused:
        acme.up("server", SERVER, server())
    assert refused.value.kept is None
    for _ in range(2):
        with pytest.raises(Refused, match="uniqueness_error"):
            acme.up("server", SERVER, server())
    with edit(folder, "hcloud") as state:
        (number,) = state["projects"]["acme"]["servers"]
    assert acme.import_("server", SERVER, number)


def test_ids_are_numbers_and_a_text_is_refused_for_one(acme: Engine, network: int) -> None:
    assert acme.state["network"].identity.isdigit()
    (failure,) = acme.failures(SUBNET, {**subnet(network, "10.100.2.0/24"), "networkId": str(network)})
    assert failure == ("networkId", "expected number type, got string type")


def image(engine: Engine, **arguments: Any) -> dict[str, Any]:
    from pulumi.runtime.proto import provider_pb2  # noqa: PLC0415 - for this helper alone

    from lab.clouds.values import from_wire, to_wire  # noqa: PLC0415

    request = provider_pb2.InvokeRequest(tok="hcloud:index/getImage:getImage", args=to_wire(arguments))
    answer = engine.plugin.Invoke(request, engine.context)
    if answer.failures:
        raise Refused(answer.failures[0].reason)
    return from_wire(getattr(answer, "return"))


def test_an_image_is_found_by_its_labels_in_the_own_project(acme: Engine, folder: Path) -> None:
    assert image(acme, withSelector="os=talos,version=v1.13.6")["id"] == 501
    for selector in ("os=talos,version=v1.14.0", "os=ubuntu"):
        with pytest.raises(Refused, match="no image found"):
            image(acme, withSelector=selector)
    with pytest.raises(Refused, match="no image found"):
        image(Engine("hcloud", folder, token=GLOBEX), withSelector="os=talos")


def test_of_several_images_the_newest_is_given_when_asked(acme: Engine, folder: Path) -> None:
    newer = {"id": 502, "labels": {"os": "talos"}, "name": "talos"}
    seed_hcloud(folder, {"acme": {"token": ACME, "images": [newer]}}, server_types=[], locations=[])
    with pytest.raises(Refused, match="more than one"):
        image(acme, withSelector="os=talos")
    assert image(acme, withSelector="os=talos", mostRecent=True)["id"] == 502
    assert image(acme, name="talos")["id"] == 502


def test_an_unknown_argument_of_a_function_is_refused(acme: Engine) -> None:
    with pytest.raises(Refused, match="unknown key"):
        image(acme, withSelector="os=talos", colour="red")
