"""What each tenant gets at a location: in Proxmox VE exactly its own paths, in Hetzner Cloud a network."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from pulumi.runtime.rpc import UNKNOWN

from components.location import NETWORK_ZONES
from settings.access import ROLES
from settings.environment import HcloudLocation
from tests.components.examples import CREDENTIALS, environment_settings, example, run_environment

if TYPE_CHECKING:
    from tests.components.engine import Registration, Run

VLAN_PATH = re.compile(r"/sdn/zones/localnetwork/[A-Za-z0-9_]+/\d+")


def _acls(run: Run, own: str) -> list[Registration]:
    return [item for item in run.of("Acl") if item.name.startswith(f"{own}-")]


def test_a_tenant_has_a_user_a_pool_and_a_separated_token_at_each_of_its_proxmox_locations(lab: Run) -> None:
    for own, name in (("lab-acme", "lab-acme"), ("dc-acme", "lab-acme"), ("lab-globex", "lab-globex")):
        assert lab[f"{own}-user"].inputs["userId"] == f"{name}@pve"
        assert lab[f"{own}-pool"].inputs["poolId"] == name
        token = lab[f"{own}-token"].inputs
        assert token["privilegesSeparation"] is True
        assert token["tokenName"] == "hybrid"
        assert token["userId"] in (f"{name}@pve", UNKNOWN)
    assert len(lab.of("Token")) == len(lab.of("UserLegacy")) == len(lab.of("PoolLegacy")) == 3


def test_user_and_token_have_the_same_rights_since_a_separated_token_has_what_both_have(lab: Run) -> None:
    for own in ("lab-acme", "dc-acme", "lab-globex"):
        sides: dict[str, set[tuple[str, str]]] = {"userId": set(), "tokenId": set()}
        for item in _acls(lab, own):
            (side,) = sides.keys() & item.inputs.keys()
            (role,) = [name for name in item.depends_on if name.removeprefix(f"{item.parent}-") in ROLES]
            sides[side].add((item.inputs["path"], role))
        assert sides["userId"] == sides["tokenId"]
        assert len(sides["userId"]) * 2 == len(_acls(lab, own))


def test_a_known_acl_names_the_tenants_own_user_or_token() -> None:
    for item in example("lab").of("Acl"):
        tenant = item.name.split("-")[1]
        user = f"lab-{tenant}@pve"
        assert (item.inputs.get("userId"), item.inputs.get("tokenId")) in ((user, None), (None, f"{user}!hybrid"))


def test_no_right_spreads_to_what_lies_below_its_path(lab: Run) -> None:
    assert {item.inputs["propagate"] for item in lab.of("Acl")} == {False}


def test_no_right_is_on_everything_nor_on_a_whole_bridge_or_kind(lab: Run) -> None:
    for item in lab.of("Acl"):
        path = item.inputs["path"]
        assert path.count("/") >= 2
        assert path not in ("/", "/vms", "/storage", "/nodes", "/pool", "/access", "/sdn")
        if path.startswith("/sdn"):
            assert VLAN_PATH.fullmatch(path)
        assert not path.startswith(("/access", "/mapping", "/realm"))


def test_a_tenant_may_use_exactly_the_vlans_of_its_own_rows_at_the_location(lab: Run) -> None:
    prefix = "/sdn/zones/localnetwork/vmbr1/"
    for own, vlans in (("lab-acme", {"201"}), ("dc-acme", {"301"}), ("lab-globex", {"202"})):
        paths = {item.inputs["path"] for item in _acls(lab, own) if item.inputs["path"].startswith("/sdn")}
        assert paths == {f"{prefix}{vlan}" for vlan in vlans}


def test_a_tenants_paths_are_its_pool_the_templates_its_storages_the_nodes_and_its_vlans(lab: Run) -> None:
    assert {item.inputs["path"] for item in _acls(lab, "lab-globex")} == {
        "/pool/lab-globex",
        "/pool/templates",
        "/storage/ceph-vm",
        "/storage/iso-globex",
        "/nodes/pve1",
        "/nodes/pve2",
        "/sdn/zones/localnetwork/vmbr1/202",
    }


def test_a_second_row_gives_its_tenant_one_more_vlan_and_nobody_else() -> None:
    row = {
        "tenant": "acme",
        "location": "lab",
        "vlan": 203,
        "cidr": "10.203.0.0/24",
        "gateway": "10.203.0.1",
        "range": "10.203.0.20-10.203.0.99",
    }
    settings = environment_settings(lambda raw: raw["zones"]["workers"]["networks"].update({"acme-more": row}))
    new = run_environment(settings).keys - example("lab").keys
    assert {name for kind, name, _ in new if kind.endswith(":Acl")} == {
        "lab-acme-user-network-sdn-zones-localnetwork-vmbr1-203",
        "lab-acme-token-network-sdn-zones-localnetwork-vmbr1-203",
    }


def test_roles_have_the_privileges_that_the_settings_name_and_never_those_of_an_administrator(lab: Run) -> None:
    assert len(lab.of("RoleLegacy")) == 2 * len(ROLES)
    for item in lab.of("RoleLegacy"):
        role = item.name.removeprefix(f"{item.parent}-")
        assert item.inputs == {"roleId": f"hybrid-lab-{role}", "privileges": list(ROLES[role])}
        assert not {"Permissions.Modify", "Sys.Modify", "SDN.Allocate", "User.Modify"} & set(item.inputs["privileges"])


def test_acls_come_after_their_holder_and_a_pool_after_them_so_that_it_goes_first(lab: Run) -> None:
    for item in lab.of("Acl"):
        location, tenant, holder = item.name.split("-")[:3]
        own = f"{location}-{tenant}"
        assert f"{own}-{holder}" in item.depends_on
        assert item.name in lab[f"{own}-pool"].depends_on


def test_an_entry_of_a_token_goes_with_it_since_proxmox_ve_deletes_none_of_a_token_that_is_gone(lab: Run) -> None:
    """The engine deletes what a rotation has replaced all at once, the old token and its entries."""
    for item in lab.of("Acl"):
        location, tenant, holder = item.name.split("-")[:3]
        assert item.deleted_with == (f"{location}-{tenant}-token" if holder == "token" else "")


def test_a_tenant_has_a_network_with_one_subnet_in_its_own_hetzner_project(lab: Run) -> None:
    network = lab["fsn1-acme-network"]
    assert network.inputs == {
        "name": "lab-acme-fsn1",
        "ipRange": "10.100.0.0/16",
        "labels": {"environment": "lab", "tenant": "acme"},
    }
    subnet = lab["fsn1-acme-subnet"]
    assert subnet.inputs["ipRange"] == "10.100.1.0/24"
    assert subnet.inputs["networkZone"] == "eu-central"
    assert subnet.inputs["type"] == "cloud"
    assert "vswitchId" not in subnet.inputs
    assert subnet.inputs["networkId"] == UNKNOWN or isinstance(subnet.inputs["networkId"], float)
    assert {item.provider for item in (network, subnet)} == {"hcloud-fsn1-acme"}


def test_each_hetzner_region_that_the_settings_take_has_a_network_zone() -> None:
    assert set(NETWORK_ZONES) == set(get_args(HcloudLocation.model_fields["region"].annotation))


def test_each_tenant_has_its_own_hetzner_provider(*, unknown: bool) -> None:
    def second(raw: dict[str, dict[str, dict[str, dict[str, object]]]]) -> None:
        raw["locations"]["fsn1"]["tenants"]["globex"] = {"cidr": "10.101.0.0/16", "subnet": "10.101.1.0/24"}

    credentials = {**CREDENTIALS, "fsn1": {"acme": "a" * 64, "globex": "g" * 64}}
    run = run_environment(environment_settings(second), credentials, unknown=unknown)
    assert run["hcloud-fsn1-acme"].inputs["token"].value == "a" * 64
    assert run["hcloud-fsn1-globex"].inputs["token"].value == "g" * 64
    assert run["fsn1-globex-network"].provider == run["fsn1-globex-subnet"].provider == "hcloud-fsn1-globex"
