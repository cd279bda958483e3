from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from lab.clouds import edit
from tests.lab.clouds.conftest import ACL, ENDPOINT, POOL, ROLE, TOKEN, USER, VM, machine, vm
from tests.lab.clouds.engine import UNKNOWN, Engine, Refused

if TYPE_CHECKING:
    from pathlib import Path

MEMBERSHIP = "proxmoxve:pool/membership:Membership"
EVERYTHING: list[tuple[str, dict[str, Any], str]] = [
    (POOL, {"poolId": "acme", "comment": "text"}, "acme"),
    (ROLE, {"roleId": "Tenant", "privileges": ["VM.Audit", "VM.Allocate"]}, "Tenant"),
    (USER, {"userId": "acme@pve", "comment": "text"}, "acme@pve"),
    (TOKEN, {"userId": "acme@pve", "tokenName": "capi"}, "acme@pve!capi"),
    ("proxmoxve:user/tokenLegacy:TokenLegacy", {"userId": "acme@pve", "tokenName": "old"}, "acme@pve!old"),
    (ACL, {"path": "/sdn/zones/localnetwork/vmbr1/201", "roleId": "Tenant", "tokenId": "acme@pve!capi"},
     "/sdn/zones/localnetwork/vmbr1/201?acme@pve!capi?Tenant"),
    ("proxmoxve:index/aclLegacy:AclLegacy", {"path": "/pool/acme", "roleId": "Tenant", "userId": "acme@pve"},
     "/pool/acme?acme@pve?Tenant"),
    (MEMBERSHIP, {"poolId": "acme", "vmId": 9000}, "acme/vm/9000"),
    (MEMBERSHIP, {"poolId": "acme", "storageId": "iso-acme"}, "acme/storage/iso-acme"),
]  # fmt: skip


def test_all_are_made_unchanged_by_a_second_up_and_a_refresh_and_destroyed(pve: Engine, folder: Path) -> None:
    with edit(folder, ENDPOINT) as state:
        before = {key: state[key] for key in ("users", "tokens", "roles", "acls", "pools")}
    for index, (kind, inputs, identity) in enumerate(EVERYTHING):
        assert pve.up(str(index), kind, inputs) == "create"
        assert pve.state[str(index)].identity == identity
    for index, (kind, inputs, _) in enumerate(EVERYTHING):
        assert pve.up(str(index), kind, inputs) == "same"
        assert pve.refresh(str(index))
        assert pve.up(str(index), kind, inputs) == "same"
    for index in reversed(range(len(EVERYTHING))):
        pve.destroy(str(index))
    with edit(folder, ENDPOINT) as state:
        assert {key: state[key] for key in before} == before


@pytest.mark.parametrize(
    ("holder", "gone", "message"),
    [
        ({"tokenId": "acme@pve!capi"}, "token", "no such token 'capi' for user 'acme@pve'"),
        ({"tokenId": "acme@pve!capi"}, "user", "no such user ('acme@pve')"),
        ({"userId": "acme@pve"}, "user", "user 'acme@pve' does not exist"),
        ({"userId": "acme@pve"}, "role", "role 'Tenant' does not exist"),
    ],
)
def test_an_entry_whose_holder_or_role_is_gone_can_not_be_deleted(
    pve: Engine, folder: Path, holder: dict[str, str], gone: str, message: str
) -> None:
    pve.up("role", ROLE, {"roleId": "Tenant", "privileges": ["SDN.Use"]})
    pve.up("user", USER, {"userId": "acme@pve"})
    pve.up("token", TOKEN, {"userId": "acme@pve", "tokenName": "capi"})
    pve.up("acl", ACL, {"path": "/vms/100", "roleId": "Tenant", **holder})
    pve.destroy(gone)
    with pytest.raises(Refused) as refused:
        pve.destroy("acl")
    assert message in str(refused.value)
    if gone != "role":
        with edit(folder, ENDPOINT) as state:
            assert not [acl for acl in state["acls"] if acl["path"] == "/vms/100"]


def test_a_tokens_value_is_secret_and_goes_straight_into_a_provider(pve: Engine, folder: Path) -> None:
    pve.up("user", USER, {"userId": "acme@pve"})
    preview = pve.preview("token", TOKEN, {"userId": "acme@pve", "tokenName": "capi"})
    assert preview["value"] is UNKNOWN
    pve.up("token", TOKEN, {"userId": "acme@pve", "tokenName": "capi"})
    value = pve.state["token"].outputs["value"]
    assert re.fullmatch(r"acme@pve!capi=[0-9a-f-]{36}", value)
    pve.up("token", TOKEN, {"userId": "acme@pve", "tokenName": "capi", "comment": "new"})
    pve.refresh("token")
    assert pve.state["token"].outputs["value"] == value
    assert Engine("proxmoxve", folder, endpoint=ENDPOINT, apiToken=value)


def test_a_token_deleted_by_hand_is_made_again_with_another_value(pve: Engine, folder: Path) -> None:
    pve.up("user", USER, {"userId": "acme@pve"})
    pve.up("token", TOKEN, {"userId": "acme@pve", "tokenName": "capi"})
    before = pve.state["token"].outputs["value"]
    with edit(folder, ENDPOINT) as state:
        del state["tokens"]["acme@pve!capi"]
    assert not pve.refresh("token")
    pve.up("token", TOKEN, {"userId": "acme@pve", "tokenName": "capi"})
    assert pve.state["token"].outputs["value"] != before


@pytest.mark.parametrize(
    ("kind", "inputs", "change", "step"),
    [
        (POOL, {"poolId": "acme"}, {"comment": "new"}, "update"),
        (POOL, {"poolId": "acme"}, {"poolId": "other"}, "replace"),
        (ROLE, {"roleId": "R", "privileges": ["VM.Audit"]}, {"privileges": ["VM.Audit", "VM.Clone"]}, "update"),
        (ROLE, {"roleId": "R", "privileges": ["VM.Audit"]}, {"roleId": "S"}, "replace"),
        (USER, {"userId": "a@pve"}, {"comment": "new"}, "update"),
        (USER, {"userId": "a@pve"}, {"userId": "b@pve"}, "replace"),
        (TOKEN, {"userId": "root@pam", "tokenName": "t"}, {"comment": "new"}, "update"),
        (TOKEN, {"userId": "root@pam", "tokenName": "t"}, {"tokenName": "u"}, "replace"),
        (ACL, {"path": "/vms", "roleId": "PVEAuditor", "userId": "root@pam"}, {"propagate": False}, "update"),
        (ACL, {"path": "/vms", "roleId": "PVEAuditor", "userId": "root@pam"}, {"path": "/pool"}, "replace"),
        (ACL, {"path": "/vms", "roleId": "PVEAuditor", "userId": "root@pam"}, {"roleId": "PVEVMUser"}, "replace"),
    ],
)
def test_what_is_updated_and_what_replaced(
    pve: Engine, kind: str, inputs: dict[str, Any], change: dict[str, Any], step: str
) -> None:
    pve.up("x", kind, inputs)
    assert pve.up("x", kind, {**inputs, **change}) == step
    assert pve.up("x", kind, {**inputs, **change}) == "same"
    pve.refresh("x")
    assert pve.up("x", kind, {**inputs, **change}) == "same"


def test_the_order_of_privileges_is_no_change(pve: Engine) -> None:
    pve.up("role", ROLE, {"roleId": "R", "privileges": ["VM.Clone", "VM.Audit"]})
    assert pve.up("role", ROLE, {"roleId": "R", "privileges": ["VM.Audit", "VM.Clone"]}) == "same"


def test_rights_changed_by_hand_are_put_back_after_a_refresh(pve: Engine, folder: Path) -> None:
    pve.up("role", ROLE, {"roleId": "R", "privileges": ["VM.Audit"]})
    with edit(folder, ENDPOINT) as state:
        state["roles"]["R"].append("VM.Allocate")
    pve.refresh("role")
    assert pve.up("role", ROLE, {"roleId": "R", "privileges": ["VM.Audit"]}) == "update"
    with edit(folder, ENDPOINT) as state:
        assert state["roles"]["R"] == ["VM.Audit"]


@pytest.mark.parametrize(
    ("kind", "inputs", "message"),
    [
        (ROLE, {"roleId": "R", "privileges": ["VM.Monitor"]}, "invalid privilege 'VM.Monitor'"),
        (ROLE, {"roleId": "PVEAdmin", "privileges": ["VM.Audit"]}, "already exists"),
        (USER, {"userId": "acme"}, "does not look like a valid user name"),
        (TOKEN, {"userId": "nobody@pve", "tokenName": "t"}, "no such user"),
        (ACL, {"path": "/vms", "roleId": "None", "userId": "root@pam"}, "role 'None' does not exist"),
        (ACL, {"path": "/vms", "roleId": "PVEAdmin", "userId": "no@pve"}, "failed: user 'no@pve' does not exist"),
        (ACL, {"path": "/vms", "roleId": "PVEAdmin", "tokenId": "no@pve!t"}, "ACL update failed: no such user"),
        (ACL, {"path": "/vms", "roleId": "PVEAdmin", "tokenId": "root@pam!t"}, "no such token 't' for user 'root@pam'"),
        (ACL, {"path": "/machines", "roleId": "PVEAdmin", "userId": "root@pam"}, "invalid ACL path"),
    ],
)
def test_what_the_api_refuses_at_up(pve: Engine, kind: str, inputs: dict[str, Any], message: str) -> None:
    pve.preview("x", kind, inputs)
    with pytest.raises(Refused, match=message):
        pve.up("x", kind, inputs)


def test_an_entry_names_exactly_one_receiver(pve: Engine) -> None:
    base = {"path": "/vms", "roleId": "PVEAdmin"}
    assert len(pve.failures(ACL, base)) == 1
    assert len(pve.failures(ACL, {**base, "userId": "a@pve", "tokenId": UNKNOWN})) == 1
    assert pve.failures(ACL, {**base, "tokenId": UNKNOWN}) == []


def test_a_machine_put_into_a_pool_by_membership_is_there(pve: Engine, folder: Path) -> None:
    pve.up("pool", POOL, {"poolId": "golden"})
    pve.up("member", MEMBERSHIP, {"poolId": "golden", "vmId": 9000})
    assert machine(folder, 9000)["pool"] == "golden"
    assert len(pve.failures(MEMBERSHIP, {"poolId": "golden"})) == 1
    pve.destroy("member")
    assert machine(folder, 9000)["pool"] == ""


def test_a_name_that_is_taken_is_refused(pve: Engine) -> None:
    for kind, inputs, _ in EVERYTHING[:4]:
        pve.up(kind, kind, inputs)
        with pytest.raises(Refused, match="already exists"):
            pve.up(f"twin {kind}", kind, inputs)


def test_a_password_logs_in_where_no_token_is_given(pve: Engine, folder: Path) -> None:
    admin = {"path": "/", "roleId": "Administrator", "propagate": True}
    pve.up("user", USER, {"userId": "boss@pve", "password": "right", "acls": [admin]})
    boss = Engine("proxmoxve", folder, endpoint=ENDPOINT, username="boss@pve", password="right")
    assert boss.up("vm", VM, vm(disks=[])) == "create"
    wrong = Engine("proxmoxve", folder, endpoint=ENDPOINT, username="boss@pve", password="wrong")
    with pytest.raises(Refused, match="401"):
        wrong.up("pool", POOL, {"poolId": "p"})
