from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lab.clouds import edit
from tests.lab.clouds.conftest import ENDPOINT, FILE, NO_SPEED, POOL, VM, machine, order_faults, vm
from tests.lab.clouds.engine import UNKNOWN, Engine, Refused

if TYPE_CHECKING:
    from pathlib import Path


def test_a_clone_is_made_as_asked_and_the_second_up_changes_nothing(pve: Engine, folder: Path) -> None:
    assert pve.up("vm", VM, vm(), NO_SPEED) == "create"
    made = machine(folder)
    assert (made["status"], made["node"], made["starts"], made["clone_of"]) == ("running", "pve1", 1, 9000)
    assert made["config"]["disks"] == [{"interface": "scsi0", "datastoreId": "ceph-vm", "size": 40}]
    (nic,) = made["config"]["networkDevices"]
    assert (nic["bridge"], nic["vlanId"], nic["mtu"]) == ("vmbr1", 201, 1400)
    assert pve.state["vm"].identity == "2000"
    assert pve.up("vm", VM, vm(), NO_SPEED) == "same"
    assert pve.refresh("vm")
    assert pve.up("vm", VM, vm(), NO_SPEED) == "same"


def test_a_machine_without_an_id_gets_the_next_free_one(pve: Engine) -> None:
    pve.up("a", VM, vm(vmId=None), NO_SPEED)
    pve.up("b", VM, vm(vmId=None), NO_SPEED)
    assert [pve.state[name].outputs["vmId"] for name in "ab"] == [100, 101]
    assert pve.up("a", VM, vm(vmId=None), NO_SPEED) == "same"


@pytest.mark.parametrize("ignored", [[], ["disks[*].speed"]])
def test_a_disk_without_a_speed_is_an_update_on_every_up_unless_its_speed_is_ignored(
    pve: Engine, ignored: list[str]
) -> None:
    pve.up("vm", VM, vm(), NO_SPEED)
    for _ in range(2):
        plan = pve.plan("vm", VM, vm(), ignored)
        assert (plan.step, plan.paths) == ("update", {"disks[0].speed": "ADD"})
        assert pve.up("vm", VM, vm(), ignored) == "update"


@pytest.mark.parametrize("ignored", [["disks[0].speed"], ["disks"]])
def test_ignoring_the_speed_or_the_disks_ends_it(pve: Engine, ignored: list[str]) -> None:
    pve.up("vm", VM, vm(), NO_SPEED)
    assert pve.plan("vm", VM, vm(), ignored).step == "same"


def test_a_speed_of_zeros_counts_as_none_and_a_real_one_is_no_update(pve: Engine) -> None:
    def with_speed(read: int) -> dict[str, Any]:
        return vm(disks=[{"interface": "scsi0", "datastoreId": "ceph-vm", "size": 40, "speed": {"read": read}}])

    pve.up("vm", VM, with_speed(0))
    assert pve.plan("vm", VM, with_speed(0)).step == "update"
    pve.up("vm", VM, with_speed(100))
    assert pve.plan("vm", VM, with_speed(100)).step == "same"


def test_disks_that_are_left_out_are_taken_for_8_gib_and_fail_on_a_larger_template(pve: Engine) -> None:
    with pytest.raises(Refused, match=r"requested size \(8G\) is lower than current size \(10G\)|local-lvm"):
        pve.up("vm", VM, vm(disks=None))
    assert pve.up("other", VM, vm(vmId=2001, disks=[])) == "create"
    assert pve.up("other", VM, vm(vmId=2001, disks=[])) == "same"


def test_an_id_that_is_taken_refuses_the_clone_and_leaves_nothing_in_the_state(pve: Engine, folder: Path) -> None:
    pve.up("vm", VM, vm(), NO_SPEED)
    before = machine(folder)
    with pytest.raises(Refused, match="error cloning VM: the requested resource already exists") as refused:
        pve.up("twin", VM, vm(name="twin"), NO_SPEED)
    assert refused.value.kept is None
    assert machine(folder) == before
    assert pve.up("twin", VM, vm(name="twin", vmId=2001), NO_SPEED) == "create"


@pytest.mark.parametrize(
    "clone", [{"vmId": 9000, "nodeName": "pve2"}, {"vmId": 9999, "nodeName": "pve1"}, {"vmId": 9000, "nodeName": "no"}]
)
def test_a_template_that_is_not_on_the_named_node_refuses_the_clone(pve: Engine, clone: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="error cloning VM: 500"):
        pve.up("vm", VM, vm(clone=clone), NO_SPEED)
    assert pve.up("vm", VM, vm(nodeName="pve2"), NO_SPEED) == "create"


@pytest.mark.parametrize(
    "device",
    [
        {"bridge": "vmbr9", "vlanId": 201},
        {"bridge": "vmbr1", "vlanId": 4095},
        {"bridge": "vmbr1", "vlanId": 201, "mtu": 99999},
        {"bridge": "vmbr1", "vlanId": 201, "model": "nope"},
    ],
)
def test_a_nic_that_the_api_refuses_fails_after_the_clone_exists_with_the_wanted_values_in_the_state(
    pve: Engine, folder: Path, device: dict[str, Any]
) -> None:
    with pytest.raises(Refused, match="400 Parameter verification failed") as refused:
        pve.up("vm", VM, vm(networkDevices=[device]), NO_SPEED)
    assert refused.value.kept.id == "2000"
    kept = pve.state["vm"].outputs["networkDevices"][0]
    assert {key: kept[key] for key in device} == device
    assert machine(folder)["config"]["networkDevices"] == []
    assert machine(folder)["status"] == "stopped"


@pytest.mark.parametrize("vlan", [1, 4094])
def test_the_first_and_the_last_vlan_are_accepted(pve: Engine, folder: Path, vlan: int) -> None:
    pve.up("vm", VM, vm(networkDevices=[{"bridge": "vmbr1", "vlanId": vlan}]), NO_SPEED)
    assert machine(folder)["config"]["networkDevices"][0]["vlanId"] == vlan


def test_after_a_failed_config_write_a_plain_up_only_starts_the_machine_on_the_templates_nic(
    pve: Engine, folder: Path
) -> None:
    inputs = vm(clone={"vmId": 9001, "nodeName": "pve1"})
    order_faults(folder, {"endpoint": ENDPOINT, "call": "config_put", "times": 1, "how": "error"})
    with pytest.raises(Refused, match="told to fail"):
        pve.up("vm", VM, inputs, NO_SPEED)
    assert pve.up("vm", VM, inputs, NO_SPEED) == "update"
    running = machine(folder)
    assert running["status"] == "running"
    assert [(nic["bridge"], nic["vlanId"]) for nic in running["config"]["networkDevices"]] == [("vmbr0", 0)]
    # The third run sees what it really is.
    assert pve.up("vm", VM, inputs, NO_SPEED) == "update"
    assert machine(folder)["config"]["networkDevices"][0]["vlanId"] == 201
    assert pve.up("vm", VM, inputs, NO_SPEED) == "same"


def test_after_a_failed_config_write_a_refresh_first_repairs_before_the_start(pve: Engine, folder: Path) -> None:
    inputs = vm(clone={"vmId": 9001, "nodeName": "pve1"})
    order_faults(folder, {"endpoint": ENDPOINT, "call": "config_put"})
    with pytest.raises(Refused):
        pve.up("vm", VM, inputs, NO_SPEED)
    assert pve.refresh("vm")
    assert pve.up("vm", VM, inputs, NO_SPEED) == "update"
    repaired = machine(folder)
    assert [(nic["bridge"], nic["vlanId"]) for nic in repaired["config"]["networkDevices"]] == [("vmbr1", 201)]
    assert repaired["starts"] == 1
    assert pve.up("vm", VM, inputs, NO_SPEED) == "same"


def test_a_failed_update_leaves_the_wanted_values_in_the_state_and_a_refresh_shows_the_real_ones(pve: Engine) -> None:
    pve.up("vm", VM, vm(), NO_SPEED)
    with pytest.raises(Refused, match="400"):
        pve.up("vm", VM, vm(networkDevices=[{"bridge": "vmbr1", "vlanId": 5000}]), NO_SPEED)
    assert pve.state["vm"].outputs["networkDevices"][0]["vlanId"] == 5000
    pve.refresh("vm")
    assert pve.state["vm"].outputs["networkDevices"][0]["vlanId"] == 201


def test_a_machine_without_clone_adopts_starts_and_deletes_a_foreign_machine_of_its_id(
    pve: Engine, folder: Path
) -> None:
    other = Engine("proxmoxve", folder, endpoint=ENDPOINT, apiToken="root@pam!lab=11111111-2222-3333-4444-555555555555")
    other.up("theirs", VM, vm(name="theirs", started=False), NO_SPEED)
    assert pve.up("mine", VM, vm(name="mine", clone=None), NO_SPEED) == "create"
    assert machine(folder)["name"] == "theirs"
    assert machine(folder)["status"] == "running"
    assert pve.up("mine", VM, vm(name="mine", clone=None), NO_SPEED) == "update"
    assert machine(folder)["name"] == "mine"
    pve.destroy("mine")
    assert not other.refresh("theirs")


def test_a_clone_that_tries_twice_adopts_too_and_a_free_id_from_nothing_is_a_new_machine(
    pve: Engine, folder: Path
) -> None:
    pve.up("first", VM, vm(), NO_SPEED)
    assert pve.up("second", VM, vm(name="second", clone={"vmId": 9000, "retries": 2}), NO_SPEED) == "create"
    assert machine(folder)["name"] == "prod-dc-0"
    assert pve.up("fresh", VM, vm(vmId=2005, clone=None), NO_SPEED) == "create"
    assert "clone_of" not in machine(folder, 2005)


UPDATES: list[tuple[dict[str, Any], str, bool]] = [
    ({"networkDevices": [{"bridge": "vmbr1", "vlanId": 202, "mtu": 1400}]}, "networkDevices[0].vlanId", False),
    ({"networkDevices": [{"bridge": "vmbr0", "vlanId": 201, "mtu": 1400}]}, "networkDevices[0].bridge", False),
    ({"networkDevices": [{"bridge": "vmbr1", "vlanId": 201}]}, "networkDevices[0].mtu", False),
    (
        {"networkDevices": [{"bridge": "vmbr1", "vlanId": 201, "mtu": 1400}, {"bridge": "vmbr1", "vlanId": 9}]},
        "networkDevices[1]",
        False,
    ),
    ({"tags": ["acme", "next"]}, "tags[1]", False),
    ({"description": "text"}, "description", False),
    ({"name": "other"}, "name", False),
    ({"onBoot": False}, "onBoot", False),
    ({"protection": True}, "protection", False),
    ({"stopOnDestroy": True}, "stopOnDestroy", False),
    ({"migrate": True}, "migrate", False),
    ({"cpu": {"cores": 8, "type": "x86-64-v2-AES"}}, "cpu.cores", True),
    ({"cpu": {"cores": 4, "type": "host"}}, "cpu.type", True),
    ({"memory": {"dedicated": 4096}}, "memory.dedicated", True),
    ({"bios": "ovmf"}, "bios", True),
    ({"bootOrders": ["scsi0"]}, "bootOrders", True),
    ({"agent": {"enabled": True}}, "agent", True),
    ({"disks": [{"interface": "scsi0", "datastoreId": "ceph-vm", "size": 50}]}, "disks[0].size", False),
    ({"disks": [{"interface": "scsi0", "datastoreId": "tank", "size": 40}]}, "disks[0].datastoreId", True),
]


@pytest.mark.parametrize(("change", "path", "restarts"), UPDATES)
def test_what_is_updated_in_place_and_whether_it_restarts_the_machine(
    pve: Engine, folder: Path, change: dict[str, Any], path: str, *, restarts: bool
) -> None:
    pve.up("vm", VM, vm(), NO_SPEED)
    mac = machine(folder)["config"]["networkDevices"][0]["macAddress"]
    plan = pve.plan("vm", VM, vm(**change), NO_SPEED)
    assert (plan.step, list(plan.paths)) == ("update", [path])
    assert pve.up("vm", VM, vm(**change), NO_SPEED) == "update"
    after = machine(folder)
    assert after["starts"] == (2 if restarts else 1)
    assert after["status"] == "running"
    assert after["config"]["networkDevices"][0]["macAddress"] == mac
    assert pve.up("vm", VM, vm(**change), NO_SPEED) == "same"
    pve.refresh("vm")
    assert pve.up("vm", VM, vm(**change), NO_SPEED) == "same"


def test_a_change_that_needs_a_restart_is_left_pending_when_the_program_says_so(pve: Engine, folder: Path) -> None:
    pve.up("vm", VM, vm(rebootAfterUpdate=False), NO_SPEED)
    pve.up("vm", VM, vm(rebootAfterUpdate=False, memory={"dedicated": 4096}), NO_SPEED)
    assert machine(folder)["starts"] == 1


REPLACEMENTS: list[dict[str, Any]] = [
    {"vmId": 2001},
    {"nodeName": "pve2"},
    {"clone": {"vmId": 9001, "nodeName": "pve1", "retries": 1}},
    {"clone": {"vmId": 9000, "nodeName": "pve1", "retries": 1, "full": False}},
    {"clone": {"vmId": 9000, "retries": 1}},
]


@pytest.mark.parametrize("change", REPLACEMENTS)
def test_what_replaces_a_machine_deletes_it_first(pve: Engine, change: dict[str, Any]) -> None:
    pve.up("vm", VM, vm(), NO_SPEED)
    plan = pve.plan("vm", VM, vm(**change), NO_SPEED)
    assert (plan.step, plan.delete_first) == ("replace", True)
    assert all(kind.endswith("_REPLACE") for kind in plan.paths.values())


def test_adding_the_clones_node_later_replaces_too(pve: Engine) -> None:
    pve.up("vm", VM, vm(clone={"vmId": 9000}), NO_SPEED)
    assert pve.plan("vm", VM, vm(clone={"vmId": 9000, "nodeName": "pve1"}), NO_SPEED).step == "replace"


def test_another_node_without_the_template_destroys_the_machine_and_then_fails(pve: Engine, folder: Path) -> None:
    pve.up("vm", VM, vm(clone={"vmId": 9000}), NO_SPEED)
    with pytest.raises(Refused, match="error cloning VM"):
        pve.up("vm", VM, vm(clone={"vmId": 9000}, nodeName="pve2"), NO_SPEED)
    with edit(folder, ENDPOINT) as state:
        assert "2000" not in state["machines"]


def test_another_node_migrates_the_running_machine_when_asked(pve: Engine, folder: Path) -> None:
    pve.up("vm", VM, vm(migrate=True), NO_SPEED)
    assert pve.up("vm", VM, vm(migrate=True, nodeName="pve2"), NO_SPEED) == "update"
    assert (machine(folder)["node"], machine(folder)["starts"]) == ("pve2", 1)


def test_a_disk_can_not_shrink(pve: Engine, folder: Path) -> None:
    pve.up("vm", VM, vm(), NO_SPEED)
    with pytest.raises(Refused, match="Cannot shrink"):
        pve.up("vm", VM, vm(disks=[{"interface": "scsi0", "datastoreId": "ceph-vm", "size": 20}]), NO_SPEED)
    assert machine(folder)["config"]["disks"][0]["size"] == 40


def test_order_of_tags_is_no_change_and_an_upper_case_tag_is_one_on_every_run(pve: Engine) -> None:
    pve.up("vm", VM, vm(tags=["prod", "acme"]), NO_SPEED)
    assert pve.plan("vm", VM, vm(tags=["acme", "prod"]), NO_SPEED).step == "same"
    pve.up("loud", VM, vm(vmId=2001, tags=["Acme"]), NO_SPEED)
    assert pve.up("loud", VM, vm(vmId=2001, tags=["Acme"]), NO_SPEED) == "update"
    assert pve.up("loud", VM, vm(vmId=2001, tags=["Acme"]), NO_SPEED) == "update"


def test_tags_that_are_not_given_are_the_templates(pve: Engine, folder: Path) -> None:
    pve.up("vm", VM, vm(tags=None), NO_SPEED)
    assert machine(folder)["config"]["tags"] == ["talos"]
    assert pve.up("vm", VM, vm(tags=None), NO_SPEED) == "same"


def test_drift_shows_only_after_a_refresh_and_is_repaired(pve: Engine, folder: Path) -> None:
    pve.up("vm", VM, vm(), NO_SPEED)
    with edit(folder, ENDPOINT) as state:
        state["machines"]["2000"]["config"]["networkDevices"][0]["bridge"] = "vmbr0"
        state["machines"]["2000"]["status"] = "stopped"
    assert pve.plan("vm", VM, vm(), NO_SPEED).step == "same"
    pve.refresh("vm")
    plan = pve.plan("vm", VM, vm(), NO_SPEED)
    assert set(plan.paths) == {"networkDevices[0].bridge", "started"}
    pve.up("vm", VM, vm(), NO_SPEED)
    assert machine(folder)["config"]["networkDevices"][0]["bridge"] == "vmbr1"
    assert machine(folder)["status"] == "running"


def test_a_nic_that_somebody_added_by_hand_is_removed(pve: Engine, folder: Path) -> None:
    pve.up("vm", VM, vm(), NO_SPEED)
    with edit(folder, ENDPOINT) as state:
        state["machines"]["2000"]["config"]["networkDevices"].append({"bridge": "vmbr0", "vlanId": 0})
    pve.refresh("vm")
    assert pve.plan("vm", VM, vm(), NO_SPEED).paths == {"networkDevices[1]": "DELETE"}
    pve.up("vm", VM, vm(), NO_SPEED)
    assert len(machine(folder)["config"]["networkDevices"]) == 1


def test_a_machine_deleted_by_hand_is_made_again_after_a_refresh(pve: Engine, folder: Path) -> None:
    pve.up("vm", VM, vm(), NO_SPEED)
    with edit(folder, ENDPOINT) as state:
        del state["machines"]["2000"]
    assert not pve.refresh("vm")
    assert pve.up("vm", VM, vm(), NO_SPEED) == "create"


def test_destroy_stops_and_deletes_and_a_protected_machine_stays(pve: Engine, folder: Path) -> None:
    pve.up("vm", VM, vm(), NO_SPEED)
    pve.up("kept", VM, vm(vmId=2001, protection=True), NO_SPEED)
    pve.destroy("vm")
    with pytest.raises(Refused, match="protection mode enabled"):
        pve.destroy("kept")
    with edit(folder, ENDPOINT) as state:
        assert "2000" not in state["machines"]
        assert "2001" in state["machines"]


def test_a_machine_that_is_not_to_run_is_not_started_and_is_stopped(pve: Engine, folder: Path) -> None:
    pve.up("vm", VM, vm(started=False), NO_SPEED)
    assert machine(folder)["starts"] == 0
    pve.up("vm", VM, vm(), NO_SPEED)
    assert machine(folder)["status"] == "running"
    pve.up("vm", VM, vm(started=False), NO_SPEED)
    assert machine(folder)["status"] == "stopped"


def test_a_lost_answer_to_the_clone_leaves_a_machine_that_blocks_its_id_until_it_is_imported(
    pve: Engine, folder: Path
) -> None:
    order_faults(folder, {"endpoint": ENDPOINT, "call": "clone", "how": "lost_answer"})
    with pytest.raises(Refused, match="EOF") as refused:
        pve.up("vm", VM, vm(), NO_SPEED)
    assert refused.value.kept is None
    assert machine(folder)["status"] == "stopped"
    for _ in range(2):
        with pytest.raises(Refused, match="already exists"):
            pve.up("vm", VM, vm(), NO_SPEED)
    assert not pve.import_("vm", VM, "pve2/2000")
    assert pve.import_("vm", VM, "pve1/2000")
    assert pve.plan("vm", VM, vm(), NO_SPEED).step == "replace"
    assert pve.up("vm", VM, vm(), [*NO_SPEED, "clone"]) == "update"
    assert machine(folder)["config"]["networkDevices"][0]["vlanId"] == 201
    assert pve.up("vm", VM, vm(), [*NO_SPEED, "clone"]) == "same"


def test_a_lost_answer_from_nothing_is_made_good_by_the_second_run(pve: Engine, folder: Path) -> None:
    order_faults(folder, {"endpoint": ENDPOINT, "call": "create", "how": "lost_answer"})
    with pytest.raises(Refused, match="EOF"):
        pve.up("vm", VM, vm(clone=None), NO_SPEED)
    assert pve.up("vm", VM, vm(clone=None), NO_SPEED) == "create"


def test_a_clone_into_a_pool_that_is_not_there_is_refused(pve: Engine, folder: Path) -> None:
    with pytest.raises(Refused, match="pool 'acme' does not exist"):
        pve.up("vm", VM, vm(poolId="acme"), NO_SPEED)
    pve.up("pool", POOL, {"poolId": "acme"})
    pve.up("vm", VM, vm(poolId="acme"), NO_SPEED)
    assert machine(folder)["pool"] == "acme"
    with pytest.raises(Refused, match="not empty"):
        pve.destroy("pool")


def test_a_name_that_is_no_dns_name_is_refused(pve: Engine) -> None:
    with pytest.raises(Refused, match="does not look like a valid DNS name"):
        pve.up("vm", VM, vm(name="prod_0"), NO_SPEED)
    assert pve.up("vm", VM, vm(name="prod-0.acme"), NO_SPEED) == "create"


def test_an_iso_that_is_not_there_can_not_be_attached(pve: Engine, folder: Path, tmp_path: Path) -> None:
    cdrom = {"fileId": "iso-acme:iso/seed.iso", "interface": "ide0"}
    with pytest.raises(Refused, match=r"volume 'iso-acme:iso/seed\.iso' does not exist"):
        pve.up("early", VM, vm(vmId=2001, cdrom=cdrom), NO_SPEED)
    (tmp_path / "seed.iso").write_bytes(b"x")
    source = {"path": str(tmp_path / "seed.iso")}
    pve.up("iso", FILE, {"contentType": "iso", "datastoreId": "iso-acme", "nodeName": "pve1", "sourceFile": source})
    pve.up("vm", VM, vm(cdrom=cdrom), NO_SPEED)
    assert machine(folder)["config"]["cdrom"] == cdrom
    assert pve.up("vm", VM, vm(cdrom=cdrom), NO_SPEED) == "same"


def test_a_disk_image_needs_ssh_and_fails_after_the_machine_is_made(pve: Engine, folder: Path) -> None:
    disk = {"interface": "scsi0", "datastoreId": "ceph-vm", "size": 40, "fileId": "iso-acme:iso/talos.img"}
    with pytest.raises(Refused, match="failed to open SSH client"):
        pve.up("vm", VM, vm(disks=[disk]), NO_SPEED)
    assert machine(folder)["status"] == "stopped"


def test_a_preview_calls_nothing_and_shows_what_only_the_cloud_knows_as_unknown(pve: Engine, folder: Path) -> None:
    inputs = vm(vmId=None, networkDevices=[{"bridge": "nowhere", "vlanId": 5000, "mtu": 99999}])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    outputs = pve.preview("vm", VM, inputs)
    assert outputs["vmId"] is UNKNOWN
    assert outputs["networkDevices"][0]["vlanId"] == 5000
    assert outputs["networkDevices"][0]["macAddress"] is UNKNOWN
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("key", ["vmId", "nodeName", "poolId", "clone", "disks", "networkDevices", "cpu", "tags"])
def test_every_input_may_be_unknown_at_preview(pve: Engine, key: str) -> None:
    pve.preview("vm", VM, vm(**{key: UNKNOWN}))
    pve.up("pool", POOL, {"poolId": "acme"})
    pve.up("vm", VM, vm(poolId="acme"), NO_SPEED)
    assert pve.plan("vm", VM, vm(**{"poolId": "acme", key: UNKNOWN}), NO_SPEED).step in {"update", "replace"}
