"""Direct VMs on Proxmox VE: always clones, on the node, id, bridge and VLAN that the table says, and nothing more."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.components.examples import example, run_tenant, tenant_settings

if TYPE_CHECKING:
    from tests.components.engine import Run


def test_a_vm_is_always_a_full_clone_from_the_templates_own_node_tried_once(acme: Run, globex: Run) -> None:
    for run, node in ((acme, "dc1"), (globex, "pve1")):
        for vm in run.of("VmLegacy"):
            assert vm.inputs["clone"] == {"vmId": 9000, "nodeName": node, "full": True, "retries": 1}


def test_machine_i_has_the_ith_id_and_stands_on_the_ith_node_in_turn(acme: Run, globex: Run) -> None:
    placed = {
        vm.name: (vm.inputs["vmId"], vm.inputs["nodeName"]) for run in (acme, globex) for vm in run.of("VmLegacy")
    }
    assert placed == {
        "prod-dc-0": (3000, "dc1"),
        "prod-dc-1": (3001, "dc1"),
        "prod-dc-2": (3002, "dc1"),
        "prod-small-0": (2100, "pve1"),
        "prod-small-1": (2101, "pve2"),
    }


def test_a_vm_has_one_nic_on_its_rows_bridge_and_vlan_with_the_uplinks_mtu(acme: Run, globex: Run) -> None:
    for vm in acme.of("VmLegacy"):
        assert vm.inputs["networkDevices"] == [{"bridge": "vmbr1", "vlanId": 301, "model": "virtio", "mtu": 1396}]
    for vm in globex.of("VmLegacy"):
        assert vm.inputs["networkDevices"] == [{"bridge": "vmbr1", "vlanId": 202, "model": "virtio"}]


def test_a_nic_is_no_trunk(acme: Run, globex: Run) -> None:
    assert not [vm for run in (acme, globex) for vm in run.of("VmLegacy") if "trunks" in vm.text]


def test_a_vm_belongs_to_its_tenants_resource_pool(acme: Run, globex: Run) -> None:
    assert {vm.inputs["poolId"] for vm in acme.of("VmLegacy")} == {"lab-acme"}
    assert {vm.inputs["poolId"] for vm in globex.of("VmLegacy")} == {"lab-globex"}


def test_a_vms_tags_are_sorted_and_lower_case_as_proxmox_gives_them_back(acme: Run) -> None:
    for vm in acme.of("VmLegacy"):
        tags = vm.inputs["tags"]
        assert tags == sorted({tag.lower() for tag in tags})
        assert {"hybrid", "lab", "acme", "prod", "dc"} == set(tags)


def test_a_vm_has_the_pools_size(acme: Run) -> None:
    for vm in acme.of("VmLegacy"):
        assert vm.inputs["cpu"] == {"cores": 8, "sockets": 1, "type": "x86-64-v2-AES"}
        assert vm.inputs["memory"] == {"dedicated": 16384}
        assert vm.inputs["disks"] == [{"interface": "scsi0", "datastoreId": "tank", "size": 80}]
        assert vm.inputs["operatingSystem"] == {"type": "l26"}


def test_a_vm_moves_instead_of_being_replaced_starts_with_its_node_and_stops_when_destroyed(acme: Run) -> None:
    for vm in acme.of("VmLegacy"):
        for key in ("migrate", "started", "onBoot", "stopOnDestroy"):
            assert vm.inputs[key] is True


def test_neither_another_template_nor_another_node_moves_a_vm_that_exists(acme: Run) -> None:
    assert {vm.ignore_changes for vm in acme.of("VmLegacy")} == {("clone", "nodeName", "disks[0].speed")}


def test_a_vm_has_no_cloud_init_no_hook_script_no_agent_and_no_other_device(acme: Run, globex: Run) -> None:
    for run in (acme, globex):
        for vm in run.of("VmLegacy"):
            assert vm.inputs.keys() == {
                "name",
                "nodeName",
                "vmId",
                "poolId",
                "description",
                "tags",
                "clone",
                "migrate",
                "started",
                "onBoot",
                "stopOnDestroy",
                "operatingSystem",
                "cpu",
                "memory",
                "disks",
                "networkDevices",
                "cdrom",
            }
            for absent in ("initialization", "hookScriptFileId", "hookScript", "agent", "hostpcis", "usbs"):
                assert absent not in vm.text


def test_a_vm_boots_from_its_own_iso_and_comes_after_it(acme: Run) -> None:
    # Known before anything is made, so that whose storage it is in can be judged.
    for vm in acme.of("VmLegacy"):
        (iso,) = vm.depends_on
        assert re.fullmatch(rf"{vm.name}-[0-9a-f]{{16}}", iso)
        assert vm.inputs["cdrom"] == {"fileId": f"iso-acme:iso/{iso}.iso", "interface": "ide2"}


def test_an_iso_carries_its_contents_hash_in_its_names_and_its_path_is_no_change(acme: Run, globex: Run) -> None:
    for run, storage in ((acme, "iso-acme"), (globex, "iso-globex")):
        for iso in run.of("FileLegacy"):
            machine, _, digest = iso.name.rpartition("-")
            assert iso.inputs == {
                "contentType": "iso",
                "datastoreId": storage,
                "nodeName": run[machine].inputs["nodeName"],
                "sourceFile": {"fileName": f"{iso.name}.iso", "path": f".build/iso/{digest}.iso"},
            }
            assert iso.ignore_changes == ("sourceFile", "nodeName")


def test_the_iso_is_there_before_it_is_registered_and_the_same_in_a_fresh_checkout() -> None:
    first = run_tenant(tenant_settings("globex"))
    paths = [Path(iso.inputs["sourceFile"]["path"]) for iso in first.of("FileLegacy")]
    assert len(paths) == 2
    before = [path.read_bytes() for path in paths]
    for path in paths:
        path.unlink()
    second = run_tenant(tenant_settings("globex"))
    assert second.texts == first.texts
    assert [path.read_bytes() for path in paths] == before


def test_a_changed_machine_config_is_another_iso_under_another_name_and_the_same_vm() -> None:
    before = example("lab-globex")
    after = run_tenant(
        tenant_settings("globex", lambda raw: raw["clusters"]["prod"]["pools"]["small"].update(labels={"tier": "web"}))
    )
    assert {item.name for item in before.of("VmLegacy")} == {item.name for item in after.of("VmLegacy")}
    assert not {item.name for item in before.of("FileLegacy")} & {item.name for item in after.of("FileLegacy")}


def test_a_new_node_of_the_location_moves_no_machine() -> None:
    before = example("lab-globex")
    grown = tenant_settings(
        "globex", environment=lambda raw: raw["locations"]["lab"]["nodes"].update(pve0={"memory": "64Gi"})
    )
    after = run_tenant(grown)
    assert {vm.text for vm in before.of("VmLegacy")} == {vm.text for vm in after.of("VmLegacy")}


def test_a_vm_more_changes_no_other() -> None:
    before = example("lab-globex")
    more = tenant_settings("globex", lambda raw: raw["clusters"]["prod"]["pools"]["small"].update(replicas=3))
    after = run_tenant(more)
    assert {item.name for item in after.of("VmLegacy")} == {"prod-small-0", "prod-small-1", "prod-small-2"}
    assert len(after.registrations) == len(before.registrations) + 2
    assert {name: text for name, text in after.texts.items() if name in before.texts} == before.texts
