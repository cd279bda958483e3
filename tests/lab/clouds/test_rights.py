"""What a tenant's token may do, and each right that it needs: taken away, the call is refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lab.clouds import edit
from lab.clouds.proxmox.rights import privileges
from settings.access import ROLES
from tests.lab.clouds.conftest import ACL, ADMIN, ENDPOINT, FILE, NO_SPEED, POOL, ROLE, TOKEN, USER, VM, machine, vm
from tests.lab.clouds.engine import Engine, Refused

if TYPE_CHECKING:
    from pathlib import Path

GRANTS: dict[str, tuple[str, list[str]]] = {
    "TenantVM": ("/pool/acme", list(ROLES["vm"])),
    "TenantTmpl": ("/pool/templates", list(ROLES["template"])),
    "TenantNet": ("/sdn/zones/localnetwork/vmbr1/201", list(ROLES["network"])),
    "TenantDisk": ("/storage/ceph-vm", list(ROLES["disk"])),
    "TenantIso": ("/storage/iso-acme", list(ROLES["iso"])),
}


@pytest.fixture
def tenant(pve: Engine, folder: Path) -> Engine:
    """Give the endpoint as acme's token sees it, with pool, roles, user, token and entries made first."""
    pve.up("pool", POOL, {"poolId": "acme"})
    pve.up("user", USER, {"userId": "acme@pve"})
    pve.up("token", TOKEN, {"userId": "acme@pve", "tokenName": "capi"})
    for role, (path, rights) in GRANTS.items():
        pve.up(role, ROLE, {"roleId": role, "privileges": rights})
        for who in ({"userId": "acme@pve"}, {"tokenId": "acme@pve!capi"}):
            pve.up(f"{role} {who}", ACL, {"path": path, "roleId": role, "propagate": False, **who})
    return Engine("proxmoxve", folder, endpoint=ENDPOINT, apiToken=pve.state["token"].outputs["value"])


def take_away(folder: Path, role: str, right: str) -> None:
    with edit(folder, ENDPOINT) as state:
        state["roles"][role].remove(right)


def ours(**changes: Any) -> dict[str, Any]:
    return vm(poolId="acme", **changes)


def test_the_minimal_set_is_enough_for_a_machine_and_its_iso(tenant: Engine, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "seed.iso").write_bytes(b"x")
    source = {"path": str(tmp_path / "seed.iso")}
    file = {"contentType": "iso", "datastoreId": "iso-acme", "nodeName": "pve1", "sourceFile": source}
    tenant.up("iso", FILE, file)
    inputs = ours(cdrom={"fileId": "iso-acme:iso/seed.iso"})
    tenant.up("vm", VM, inputs, NO_SPEED)
    assert machine(folder)["status"] == "running"
    assert tenant.refresh("vm")
    assert tenant.up("vm", VM, inputs, NO_SPEED) == "same"
    assert tenant.refresh("iso")
    assert tenant.up("iso", FILE, file) == "same"
    tenant.destroy("vm")
    tenant.destroy("iso")


NEEDED = [
    ("TenantVM", "VM.Allocate", "/pool/acme"),
    ("TenantVM", "VM.Audit", "/vms/2000"),
    ("TenantVM", "VM.PowerMgmt", "/vms/2000"),
    ("TenantVM", "VM.Config.CPU", "/vms/2000"),
    ("TenantVM", "VM.Config.Memory", "/vms/2000"),
    ("TenantVM", "VM.Config.Disk", "/vms/2000"),
    ("TenantVM", "VM.Config.Network", "/vms/2000"),
    ("TenantVM", "VM.Config.CDROM", "/vms/2000"),
    ("TenantVM", "VM.Config.HWType", "/vms/2000"),
    ("TenantVM", "VM.Config.Options", "/vms/2000"),
    ("TenantTmpl", "VM.Clone", "/vms/9000"),
    ("TenantNet", "SDN.Use", "/sdn/zones/localnetwork/vmbr1/201"),
    ("TenantDisk", "Datastore.AllocateSpace", "/storage/ceph-vm"),
]


@pytest.mark.parametrize(("role", "right", "path"), NEEDED)
def test_each_right_of_a_machine_is_needed(tenant: Engine, folder: Path, role: str, right: str, path: str) -> None:
    take_away(folder, role, right)
    with pytest.raises(Refused) as refused:
        tenant.up("vm", VM, ours(cdrom={"fileId": "none"}), NO_SPEED)
    assert f"403 Permission check failed ({path}, {right})" in str(refused.value)


def test_each_right_of_an_iso_is_needed(tenant: Engine, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "seed.iso").write_bytes(b"x")
    file = {
        "contentType": "iso",
        "datastoreId": "iso-acme",
        "nodeName": "pve1",
        "sourceFile": {"path": str(tmp_path / "seed.iso")},
    }
    tenant.up("iso", FILE, file)
    take_away(folder, "TenantIso", "Datastore.Allocate")
    with pytest.raises(Refused) as refused:
        tenant.destroy("iso")
    assert "403 Permission check failed (/storage/iso-acme, Datastore.Allocate)" in str(refused.value)
    take_away(folder, "TenantIso", "Datastore.AllocateTemplate")
    with pytest.raises(Refused) as refused:
        tenant.up("again", FILE, file)
    assert "403 Permission check failed (/storage/iso-acme, Datastore.AllocateTemplate)" in str(refused.value)
    with pytest.raises(Refused) as refused:
        tenant.up("foreign", FILE, {**file, "datastoreId": "iso-globex"})
    assert "403 Permission check failed (/storage/iso-globex, Datastore.AllocateTemplate)" in str(refused.value)


@pytest.mark.parametrize(
    ("device", "path"),
    [
        ({"bridge": "vmbr1", "vlanId": 202}, "/sdn/zones/localnetwork/vmbr1/202"),
        ({"bridge": "vmbr0", "vlanId": 201}, "/sdn/zones/localnetwork/vmbr0/201"),
        ({"bridge": "vmbr1"}, "/sdn/zones/localnetwork/vmbr1"),
        ({"bridge": "vmbr1", "trunks": "201;202"}, "/sdn/zones/localnetwork/vmbr1/202"),
    ],
)
def test_a_foreign_vlan_is_refused_after_the_clone_and_the_next_up_does_not_reach_it(
    tenant: Engine, folder: Path, device: dict[str, Any], path: str
) -> None:
    with pytest.raises(Refused) as refused:
        tenant.up("vm", VM, ours(networkDevices=[device]), NO_SPEED)
    assert f"403 Permission check failed ({path}, SDN.Use)" in str(refused.value)
    assert refused.value.kept.id == "2000"
    assert machine(folder)["config"]["networkDevices"] == []
    tenant.up("vm", VM, ours(networkDevices=[device]), NO_SPEED)
    assert machine(folder)["config"]["networkDevices"] == []


def test_a_nic_moves_to_another_vlan_only_with_the_right_on_the_old_one(
    tenant: Engine, pve: Engine, folder: Path
) -> None:
    tenant.up("vm", VM, ours(), NO_SPEED)
    net = {"roleId": "TenantNet", "propagate": False, "path": "/sdn/zones/localnetwork/vmbr1/203"}
    for who in ({"userId": "acme@pve"}, {"tokenId": "acme@pve!capi"}):
        pve.up(f"203 {who}", ACL, {**net, **who})
        pve.destroy(f"TenantNet {who}")
    moved = ours(networkDevices=[{"bridge": "vmbr1", "vlanId": 203, "mtu": 1400}])
    with pytest.raises(Refused, match=r"vmbr1/201, SDN\.Use"):
        tenant.up("vm", VM, moved, NO_SPEED)
    assert machine(folder)["config"]["networkDevices"][0]["vlanId"] == 201


def test_a_template_with_a_nic_can_not_be_cloned_without_the_right_on_its_bridge(tenant: Engine) -> None:
    with pytest.raises(Refused, match=r"error cloning VM: 403 .*/sdn/zones/localnetwork/vmbr0, SDN\.Use"):
        tenant.up("vm", VM, ours(clone={"vmId": 9001}), NO_SPEED)


def test_a_machine_outside_the_pool_needs_a_right_on_its_id(tenant: Engine) -> None:
    with pytest.raises(Refused, match=r"/vms/2000, VM\.Allocate"):
        tenant.up("vm", VM, vm(), NO_SPEED)


def test_adopting_a_foreign_machine_fails_where_the_token_may_not_start_it(
    tenant: Engine, pve: Engine, folder: Path
) -> None:
    pve.up("theirs", VM, vm(name="theirs", started=False), NO_SPEED)
    with pytest.raises(Refused, match=r"403 Permission check failed \(/vms/2000"):
        tenant.up("mine", VM, ours(clone=None), NO_SPEED)
    assert machine(folder)["status"] == "stopped"


def test_a_machine_that_the_token_may_not_see_counts_as_gone(tenant: Engine, folder: Path) -> None:
    tenant.up("vm", VM, ours(), NO_SPEED)
    take_away(folder, "TenantVM", "VM.Audit")
    assert not tenant.refresh("vm")


def test_without_pool_audit_the_pool_differs_on_every_run(tenant: Engine, folder: Path) -> None:
    tenant.up("vm", VM, ours(), NO_SPEED)
    take_away(folder, "TenantVM", "Pool.Audit")
    tenant.refresh("vm")
    assert tenant.plan("vm", VM, ours(), NO_SPEED).paths == {"poolId": "ADD"}


@pytest.mark.parametrize(("kind", "inputs"), [
    (POOL, {"poolId": "other"}),
    (ROLE, {"roleId": "Mine", "privileges": ["VM.Audit"]}),
    (USER, {"userId": "friend@pve"}),
    (TOKEN, {"userId": "acme@pve", "tokenName": "more"}),
    (ACL, {"path": "/sdn/zones/localnetwork/vmbr1/202", "roleId": "TenantNet", "tokenId": "acme@pve!capi"}),
])  # fmt: skip
def test_a_tenant_changes_no_rights(tenant: Engine, pve: Engine, kind: str, inputs: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="403 Permission check failed"):
        tenant.up("more", kind, inputs)
    assert pve.up("more", kind, inputs) == "create"


def test_an_unknown_token_or_a_wrong_secret_is_refused_at_the_first_call(pve: Engine, folder: Path) -> None:
    for token in (ADMIN.replace("!lab", "!other"), ADMIN.replace("5555", "6666", 1)):
        stranger = Engine("proxmoxve", folder, endpoint=ENDPOINT, apiToken=token)
        stranger.preview("pool", POOL, {"poolId": "acme"})
        with pytest.raises(Refused, match="401"):
            stranger.up("pool", POOL, {"poolId": "acme"})
    assert pve.up("pool", POOL, {"poolId": "acme"}) == "create"


def test_a_token_that_was_deleted_or_whose_user_was_disabled_is_refused(tenant: Engine, pve: Engine) -> None:
    pve.up("user", USER, {"userId": "acme@pve", "enabled": False})
    with pytest.raises(Refused, match="401"):
        tenant.up("vm", VM, ours(), NO_SPEED)
    pve.up("user", USER, {"userId": "acme@pve"})
    assert tenant.up("vm", VM, ours(), NO_SPEED) == "create"
    pve.destroy("token")
    with pytest.raises(Refused, match="401"):
        tenant.refresh("vm")


def acl(path: str, who: str, role: str, *, propagate: bool = True) -> dict[str, Any]:
    kind = "token" if "!" in who else "user"
    return {"path": path, "who": who, "role": role, "type": kind, "propagate": propagate}


def state(*acls: dict[str, Any], privsep: bool = True) -> dict[str, Any]:
    return {
        "acls": list(acls),
        "roles": {"Clone": ["VM.Clone"], "See": ["VM.Audit"]},
        "users": {"u@pve": {}},
        "tokens": {"u@pve!t": {"privsep": privsep}},
        "pools": {"p": {"storages": ["s"]}},
        "machines": {"100": {"pool": "p"}, "101": {"pool": ""}},
    }


def test_a_separated_token_has_what_both_it_and_its_user_have() -> None:
    both = state(acl("/vms", "u@pve", "Clone"), acl("/vms", "u@pve!t", "Clone"))
    assert privileges(both, "u@pve!t", "/vms/100") == {"VM.Clone"}
    assert privileges(state(acl("/vms", "u@pve", "Clone")), "u@pve!t", "/vms/100") == set()
    assert privileges(state(acl("/vms", "u@pve!t", "Clone")), "u@pve!t", "/vms/100") == set()
    assert privileges(state(acl("/vms", "u@pve", "Clone"), privsep=False), "u@pve!t", "/vms/100") == {"VM.Clone"}


def test_the_deepest_entry_replaces_what_comes_from_above() -> None:
    found = state(acl("/", "u@pve", "Clone"), acl("/vms/101", "u@pve", "See"))
    assert privileges(found, "u@pve", "/vms/101") == {"VM.Audit"}
    assert privileges(found, "u@pve", "/vms/102") == {"VM.Clone"}


def test_an_entry_without_propagation_counts_on_its_own_path_only() -> None:
    found = state(acl("/vms", "u@pve", "Clone", propagate=False))
    assert privileges(found, "u@pve", "/vms") == {"VM.Clone"}
    assert privileges(found, "u@pve", "/vms/101") == set()


def test_a_pools_entry_covers_its_members_and_nothing_else() -> None:
    found = state(acl("/pool/p", "u@pve", "Clone", propagate=False))
    assert privileges(found, "u@pve", "/vms/100") == {"VM.Clone"}
    assert privileges(found, "u@pve", "/storage/s") == {"VM.Clone"}
    assert privileges(found, "u@pve", "/vms/101") == set()


def test_no_access_takes_away_what_a_pool_gives() -> None:
    found = state(acl("/pool/p", "u@pve", "Clone"), acl("/vms/100", "u@pve", "NoAccess"))
    assert privileges(found, "u@pve", "/vms/100") == set()
    beaten = state(acl("/vms/100", "u@pve", "See"), acl("/pool/p", "u@pve", "NoAccess"))
    assert privileges(beaten, "u@pve", "/vms/100") == set()
