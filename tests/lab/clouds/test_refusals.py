"""What is refused to globex's token, each beside its twin with the right value; and what permissions leave open."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import quote

import pytest

from lab.clouds import edit, seed_proxmox
from lab.clouds.proxmox.roles import known
from lab.clouds.rest import serving
from settings.access import ROLES
from tests.lab.clouds.conftest import ACL, ADMIN, ENDPOINT, FILE, NO_SPEED, POOL, ROLE, TOKEN, USER, VM, machine, vm
from tests.lab.clouds.engine import Engine, Refused

if TYPE_CHECKING:
    from pathlib import Path

DC = "https://pve.dc.example:8006"
VLAN = "/sdn/zones/localnetwork/vmbr1/{}"
Places = dict[str, tuple[Engine, int]]


def given_rights(admin: Engine, folder: Path, endpoint: str, tenant: str, vlan: int) -> Engine:
    """Make what the environment's `up` makes for a tenant, and give the endpoint as its token sees it."""
    admin.up(f"{tenant} pool", POOL, {"poolId": tenant})
    admin.up(f"{tenant} user", USER, {"userId": f"{tenant}@pve"})
    admin.up(f"{tenant} token", TOKEN, {"userId": f"{tenant}@pve", "tokenName": "hybrid"})
    paths = {
        "vm": f"/pool/{tenant}",
        "template": "/pool/templates",
        "network": VLAN.format(vlan),
        "disk": "/storage/ceph-vm",
        "iso": f"/storage/iso-{tenant}",
        "node": "/nodes/pve1",
    }
    for role, path in paths.items():
        if role not in admin.state:
            admin.up(role, ROLE, {"roleId": role, "privileges": list(ROLES[role])})
        for who in ({"userId": f"{tenant}@pve"}, {"tokenId": f"{tenant}@pve!hybrid"}):
            admin.up(f"{tenant} {role} {who}", ACL, {"path": path, "roleId": role, "propagate": False, **who})
    return Engine("proxmoxve", folder, endpoint=endpoint, apiToken=admin.state[f"{tenant} token"].outputs["value"])


@pytest.fixture
def acme(pve: Engine, folder: Path) -> Engine:
    """Give the endpoint as acme's token sees it."""
    return given_rights(pve, folder, ENDPOINT, "acme", 201)


@pytest.fixture
def globex(acme: Engine, pve: Engine, folder: Path) -> Engine:  # noqa: ARG001 - acme is there first
    """Give the endpoint as globex's token sees it."""
    return given_rights(pve, folder, ENDPOINT, "globex", 202)


def ours(*devices: dict[str, Any], **changes: Any) -> dict[str, Any]:
    devices = devices or ({"bridge": "vmbr1", "vlanId": 202},)
    return vm(vmId=2100, poolId="globex", networkDevices=list(devices), **changes)


def refused(globex: Engine, path: str, *devices: dict[str, Any]) -> None:
    """Ask for a machine with NICs: refused for one path, and left without any NIC."""
    with pytest.raises(Refused) as error:
        globex.up("vm", VM, ours(*devices), NO_SPEED)
    assert f"403 Permission check failed ({path}, SDN.Use)" in str(error.value)
    assert machine(globex.folder, 2100)["config"]["networkDevices"] == []
    globex.destroy("vm")
    globex.up("twin", VM, ours(), NO_SPEED)
    assert machine(globex.folder, 2100)["config"]["networkDevices"][0]["vlanId"] == 202


def test_acmes_vlan_is_refused_to_globexs_token(globex: Engine) -> None:
    refused(globex, VLAN.format(201), {"bridge": "vmbr1", "vlanId": 201})


def test_its_own_vlan_in_the_wrong_location_is_refused(globex: Engine, folder: Path) -> None:
    seed_proxmox(
        folder,
        DC,
        nodes={"pve1": {"memory": 262144}},
        storages={"ceph-vm": {"content": ["images"]}, "iso-globex": {"content": ["iso"]}},
        bridges=["vmbr1"],
        templates=[{"id": 9000, "node": "pve1", "disk_gb": 10, "pool": "templates"}],
        admin_token=ADMIN,
    )
    there = given_rights(Engine("proxmoxve", folder, endpoint=DC, apiToken=ADMIN), folder, DC, "globex", 302)
    with pytest.raises(Refused) as error:
        there.up("vm", VM, ours({"bridge": "vmbr1", "vlanId": 202}), NO_SPEED)
    assert f"403 Permission check failed ({VLAN.format(202)}, SDN.Use)" in str(error.value)
    there.destroy("vm")
    there.up("twin", VM, ours({"bridge": "vmbr1", "vlanId": 302}), NO_SPEED)
    globex.up("twin", VM, ours(), NO_SPEED)


def test_its_token_of_one_location_is_unknown_in_another(globex: Engine, pve: Engine, folder: Path) -> None:
    seed_proxmox(folder, DC, nodes={}, storages={}, bridges=[], templates=[], admin_token=ADMIN)
    stranger = Engine("proxmoxve", folder, endpoint=DC, apiToken=pve.state["globex token"].outputs["value"])
    with pytest.raises(Refused, match="401"):
        stranger.up("vm", VM, ours(), NO_SPEED)
    globex.up("twin", VM, ours(), NO_SPEED)


def test_a_nic_with_no_tag_is_refused(globex: Engine) -> None:
    refused(globex, "/sdn/zones/localnetwork/vmbr1", {"bridge": "vmbr1"})


@pytest.mark.parametrize("trunks", ["201", "202;201", "200-202", "202;300-301"])
def test_trunks_beside_its_own_tag_are_refused(globex: Engine, trunks: str) -> None:
    first = next(vlan for vlan in (200, 201, 300) if str(vlan) in trunks)
    refused(globex, VLAN.format(first), {"bridge": "vmbr1", "vlanId": 202, "trunks": trunks})


def test_trunks_of_acmes_vlan_without_a_tag_are_refused(globex: Engine) -> None:
    refused(globex, VLAN.format(201), {"bridge": "vmbr1", "trunks": "201"})


def test_an_sdn_vnet_is_refused(globex: Engine) -> None:
    refused(globex, "/sdn/zones/evpn/vnetprod", {"bridge": "vnetprod"})


def test_an_sdn_vnet_with_its_own_tag_is_refused(globex: Engine) -> None:
    refused(globex, "/sdn/zones/evpn/vnetprod/202", {"bridge": "vnetprod", "vlanId": 202})


def test_a_second_nic_is_judged_like_the_first(globex: Engine) -> None:
    refused(globex, VLAN.format(201), {"bridge": "vmbr1", "vlanId": 202}, {"bridge": "vmbr1", "vlanId": 201})


@pytest.fixture
def acmes(acme: Engine) -> Engine:
    """Make acme's machine."""
    acme.up("vm", VM, vm(poolId="acme"), NO_SPEED)
    return acme


def test_a_clone_of_acmes_machine_is_refused(acmes: Engine, globex: Engine) -> None:
    with pytest.raises(Refused, match=r"403 Permission check failed \(/vms/2000, VM\.Clone\)"):
        globex.up("vm", VM, ours(clone={"vmId": 2000, "nodeName": "pve1"}), NO_SPEED)
    assert "vm" not in globex.state
    assert acmes.refresh("vm")
    globex.up("twin", VM, ours(), NO_SPEED)


def adopted(globex: Engine, acmes: Engine) -> None:
    """Hold acme's machine in globex's state, as an import with an administrator's token would have left it."""
    globex.state["theirs"] = acmes.state["vm"]


def test_a_change_of_acmes_machine_is_refused(acmes: Engine, globex: Engine, folder: Path) -> None:
    adopted(globex, acmes)
    for change in ({"name": "mine"}, {"memory": {"dedicated": 1024}}, {"started": False}, {"poolId": "globex"}):
        with pytest.raises(Refused, match="403 Permission check failed"):
            globex.up("theirs", VM, vm(**{"poolId": "acme", **change}), NO_SPEED)
        adopted(globex, acmes)
    there = machine(folder)
    assert (there["name"], there["pool"], there["status"]) == ("prod-dc-0", "acme", "running")
    assert acmes.up("vm", VM, vm(poolId="acme", memory={"dedicated": 16384}), NO_SPEED) == "update"


def test_the_end_of_acmes_machine_is_refused(acmes: Engine, globex: Engine, folder: Path) -> None:
    adopted(globex, acmes)
    with pytest.raises(Refused, match=r"403 Permission check failed \(/vms/2000, VM\.PowerMgmt\)"):
        globex.destroy("theirs")
    with edit(folder, ENDPOINT) as state:
        state["machines"]["2000"]["status"] = "stopped"
    with pytest.raises(Refused, match=r"403 Permission check failed \(/vms/2000, VM\.Allocate\)"):
        globex.destroy("theirs")
    assert machine(folder)
    acmes.destroy("vm")


def test_acmes_machine_is_not_there_for_globex(acmes: Engine, globex: Engine) -> None:
    assert not globex.import_("theirs", VM, "pve1/2000")
    assert acmes.import_("again", VM, "pve1/2000")


@pytest.fixture
def acmes_iso(acme: Engine, tmp_path: Path) -> str:
    """Upload acme's ISO."""
    (tmp_path / "seed.iso").write_bytes(b"x")
    source = {"path": str(tmp_path / "seed.iso")}
    file = {"contentType": "iso", "datastoreId": "iso-acme", "nodeName": "pve1", "sourceFile": source}
    acme.up("iso", FILE, file)
    return acme.state["iso"].identity


def test_acmes_iso_is_not_read_by_globex(acme: Engine, globex: Engine, acmes_iso: str) -> None:
    with pytest.raises(Refused, match=r"403 Permission check failed \(/storage/iso-acme, Datastore\.Audit"):
        globex.import_("theirs", FILE, acmes_iso)
    assert acme.import_("again", FILE, acmes_iso)


def test_a_list_of_acmes_isos_is_refused(pve: Engine, globex: Engine, acmes_iso: str) -> None:
    assert globex
    content = "nodes/pve1/storage/iso-acme/content"
    assert asked(pve, "globex", content) == (403, [])
    assert asked(pve, "acme", content) == (200, [acmes_iso])
    assert asked(pve, "globex", content.replace("iso-acme", "iso-globex")) == (200, [])


def asked(admin: Engine, tenant: str, path: str) -> tuple[int, list[str]]:
    token = admin.state[f"{tenant} token"].outputs["value"]
    with serving(admin.folder) as base:
        url = f"{base}/{quote(ENDPOINT, safe='')}/api2/json/{path}"
        request = urllib.request.Request(url, headers={"Authorization": f"PVEAPIToken={token}"})  # noqa: S310 - loopback
        try:
            with urllib.request.urlopen(request) as answer:  # noqa: S310 - loopback
                return answer.status, [item["volid"] for item in json.loads(answer.read())["data"]]
        except HTTPError as error:
            return error.code, []


def test_attaching_acmes_iso_is_refused(acme: Engine, globex: Engine, acmes_iso: str) -> None:
    with pytest.raises(Refused, match=r"403 Permission check failed \(/storage/iso-acme, Datastore\.Audit"):
        globex.up("vm", VM, ours(cdrom={"fileId": acmes_iso}), NO_SPEED)
    assert "cdrom" not in machine(globex.folder, 2100)["config"]
    acme.up("vm", VM, vm(poolId="acme", cdrom={"fileId": acmes_iso}), NO_SPEED)
    assert machine(acme.folder)["config"]["cdrom"]["fileId"] == acmes_iso


def test_deleting_or_overwriting_acmes_iso_is_refused(acme: Engine, globex: Engine, acmes_iso: str) -> None:
    globex.state["theirs"] = acme.state["iso"]
    with pytest.raises(Refused, match=r"403 Permission check failed \(/storage/iso-acme, Datastore\.Allocate\)"):
        globex.destroy("theirs")
    with pytest.raises(Refused, match=r"403 Permission check failed \(/storage/iso-acme, Datastore\.AllocateTemplate"):
        globex.up("over", FILE, acme.state["iso"].inputs)
    acme.destroy("iso")
    assert acmes_iso


def test_permissions_leave_open_trunks_of_its_own_vlan_without_a_tag(globex: Engine, folder: Path) -> None:
    globex.up("vm", VM, ours({"bridge": "vmbr1", "trunks": "202"}), NO_SPEED)
    assert machine(folder, 2100)["config"]["networkDevices"][0]["trunks"] == "202"


def test_permissions_leave_open_a_nic_without_a_bridge_since_version_9(globex: Engine, folder: Path) -> None:
    with edit(folder, ENDPOINT) as state:
        state["pve"] = 8
    with pytest.raises(Refused, match="bridge: property is missing"):
        globex.up("vm", VM, ours({"bridge": ""}), NO_SPEED)
    globex.destroy("vm")
    with edit(folder, ENDPOINT) as state:
        state["pve"] = 9
    globex.up("vm", VM, ours({"bridge": ""}), NO_SPEED)
    assert machine(folder, 2100)["status"] == "running"


@pytest.mark.parametrize("version", [8, 9])
def test_a_role_is_refused_whole_where_its_version_does_not_know_a_privilege(
    pve: Engine, folder: Path, version: int
) -> None:
    with edit(folder, ENDPOINT) as state:
        state["pve"] = version
    foreign = {8: "VM.GuestAgent.Audit", 9: "VM.Monitor"}
    assert foreign[version] not in known(version)
    with pytest.raises(Refused, match=f"invalid privilege '{foreign[version]}'"):
        pve.up("role", ROLE, {"roleId": "r", "privileges": [*ROLES["vm"], foreign[version]]})
    for role, privileges in ROLES.items():
        pve.up(role, ROLE, {"roleId": role, "privileges": list(privileges)})
    pve.up("twin", ROLE, {"roleId": "r", "privileges": [*ROLES["vm"], foreign[17 - version]]})
