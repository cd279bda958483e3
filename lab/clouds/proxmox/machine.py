"""Calls on machines, as the API makes them: checks, rights, and the change of the state."""

import re
from collections.abc import Mapping
from typing import Any

from lab.clouds.errors import CloudError
from lab.clouds.proxmox import nic
from lab.clouds.proxmox.api import Session

_DNS_NAME = re.compile(
    r"^(?=.{1,253}$)([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$"
)
_TAG = re.compile(r"^[a-z0-9_][a-z0-9_\-+.]*$", re.IGNORECASE)
_FIRST_ID, _LAST_ID = 100, 999999999

# Which privilege on /vms/N each property needs in Proxmox VE's own check of a configuration; all others: HWType.
_PRIVILEGE = {
    "cpu": "VM.Config.CPU",
    "numas": "VM.Config.CPU",
    "memory": "VM.Config.Memory",
    "networkDevices": "VM.Config.Network",
    "disks": "VM.Config.Disk",
    "bootOrders": "VM.Config.Disk",
    "cdrom": "VM.Config.CDROM",
    "initialization": "VM.Config.Cloudinit",
    **dict.fromkeys(
        ("name", "description", "agent", "onBoot", "bios", "operatingSystem", "protection", "template", "tags", "acpi"),
        "VM.Config.Options",
    ),
}
_ROOT_ONLY = {"kvmArguments": "args", "hookScriptFileId": "hookscript"}


def next_id(session: Session) -> int:
    """Return the lowest free machine id."""
    number = _FIRST_ID
    while str(number) in session.state["machines"]:
        number += 1
    return number


def taken(session: Session, vm_id: int) -> bool:
    """Tell whether a machine has the id already."""
    return str(vm_id) in session.state["machines"]


def may_allocate(session: Session, vm_id: int, pool: str) -> None:
    """Refuse a caller that may not make a machine: VM.Allocate on the pool that is given, or on the id."""
    if pool:
        if not session.has(f"/vms/{vm_id}", "VM.Allocate"):
            session.require(f"/pool/{pool}", "VM.Allocate")
        if pool not in session.state["pools"]:
            message = f"500 pool '{pool}' does not exist"
            raise CloudError(message)
    else:
        session.require(f"/vms/{vm_id}", "VM.Allocate")
    if not _FIRST_ID <= vm_id <= _LAST_ID:
        message = f"400 Parameter verification failed (vmid: value must have a minimum value of {_FIRST_ID})"
        raise CloudError(message)


def clone(session: Session, template_id: int, new_id: int, *, wanted: Mapping[str, Any]) -> None:
    """Clone a machine with everything that it has, NICs too; the copy is stopped.

    `wanted` are the plugin's inputs with defaults. The template must be on the node that is asked
    (`clone.nodeName`, else `nodeName`).
    """
    spec = wanted["clone"]
    source_node, pool = spec.get("nodeName") or wanted["nodeName"], wanted.get("poolId") or ""
    session.node(source_node)
    session.node(wanted["nodeName"])
    source = session.state["machines"].get(str(template_id))
    if source is None or source["node"] != source_node:
        message = f"500 unable to find configuration file for VM {template_id} on node '{source_node}'"
        raise CloudError(message)
    session.require(f"/vms/{template_id}", "VM.Clone")
    may_allocate(session, new_id, pool)
    storage = spec.get("datastoreId") or ""
    for disk in source["config"]["disks"]:
        target = storage or disk["datastoreId"]
        session.storage(target, "images")
        session.require(f"/storage/{target}", "Datastore.AllocateSpace")
    for device in source["config"]["networkDevices"]:
        nic.allow(device, session)
    _name(wanted.get("name"))
    if taken(session, new_id):
        message = "the requested resource already exists"
        raise CloudError(message)
    config = {key: value for key, value in source["config"].items() if key not in {"networkDevices", "disks"}}
    config["networkDevices"] = [
        {**device, "macAddress": nic.new_mac()} for device in source["config"]["networkDevices"]
    ]
    config["disks"] = [{**disk, "datastoreId": storage or disk["datastoreId"]} for disk in source["config"]["disks"]]
    session.state["machines"][str(new_id)] = {
        "name": wanted.get("name") or f"Copy-of-VM-{source['name']}",
        "node": source_node,
        "pool": pool,
        "status": "stopped",
        "starts": 0,
        "template": False,
        "clone_of": template_id,
        "config": config,
    }
    if source_node != wanted["nodeName"]:
        _move_to_node(session, new_id, wanted["nodeName"])


def create(session: Session, vm_id: int, *, wanted: Mapping[str, Any]) -> None:
    """Make a machine from nothing."""
    session.node(wanted["nodeName"])
    pool = wanted.get("poolId") or ""
    may_allocate(session, vm_id, pool)
    if taken(session, vm_id):
        message = (
            f"500 unable to create VM {vm_id} - VM {vm_id} already exists on node '{session.machine(vm_id)['node']}'"
        )
        raise CloudError(message)
    for disk in wanted.get("disks") or []:
        session.storage(disk["datastoreId"], "images")
        session.require(f"/storage/{disk['datastoreId']}", "Datastore.AllocateSpace")
    session.state["machines"][str(vm_id)] = {
        "name": wanted.get("name") or f"VM{vm_id}",
        "node": wanted["nodeName"],
        "pool": pool,
        "status": "stopped",
        "starts": 0,
        "template": False,
        "config": {"networkDevices": [], "disks": [dict(disk) for disk in wanted.get("disks") or []]},
    }


def put_config(session: Session, vm_id: str, values: Mapping[str, Any]) -> None:
    """Write configuration; None removes a value. All or nothing."""
    machine = session.machine(vm_id)
    path = f"/vms/{vm_id}"
    for index, device in enumerate(values.get("networkDevices") or []):
        nic.verify(index, device, session)
    _name(values.get("name"))
    for tag in values.get("tags") or []:
        if not _TAG.match(tag):
            message = f"400 Parameter verification failed (tags: invalid characters in tag '{tag}')"
            raise CloudError(message)
    for key, value in values.items():
        if key in _ROOT_ONLY and value:
            message = f"403 Permission check failed (only root can set '{_ROOT_ONLY[key]}' config)"
            raise CloudError(message)
        session.require(path, _PRIVILEGE.get(key, "VM.Config.HWType"))
    if "networkDevices" in values:
        _check_old_nics(session, machine, values["networkDevices"] or [])
    if (values.get("cdrom") or {}).get("fileId"):
        _check_volume(session, values["cdrom"]["fileId"])
    _write(machine, values)


def _check_old_nics(session: Session, machine: Mapping[str, Any], new: list[dict[str, Any]]) -> None:
    """Ask for the right on what a changed or removed NIC was, too (since qemu-server 8.0.7)."""
    for index, device in enumerate(machine["config"]["networkDevices"]):
        changed = index >= len(new) or any(new[index].get(key) != device.get(key) for key in ("bridge", "vlanId"))
        if changed:
            nic.allow(device, session)


def _check_volume(session: Session, volume: str) -> None:
    if volume in {"none", "cdrom"}:
        return
    storage = volume.partition(":")[0]
    if volume not in session.state["files"]:
        message = f"500 volume '{volume}' does not exist"
        raise CloudError(message)
    session.require(f"/storage/{storage}", "Datastore.Audit", "Datastore.AllocateSpace", "Datastore.Allocate")


def _write(machine: dict[str, Any], values: Mapping[str, Any]) -> None:
    config = machine["config"]
    for key, value in values.items():
        if key == "name":
            machine["name"] = value or machine["name"]
        elif key == "tags":
            config["tags"] = sorted({tag.lower() for tag in value or []})
        elif key == "networkDevices":
            config["networkDevices"] = nic.plugged(value or [], config["networkDevices"])
        elif key == "template":
            machine["template"] = bool(value)
        elif key == "disks":
            continue  # disks change by resize and move only
        elif value is None:
            config.pop(key, None)
        else:
            config[key] = value


def _name(name: Any) -> None:
    if name and not _DNS_NAME.match(name):
        message = "400 Parameter verification failed (name: invalid format - value does not look like a valid DNS name)"
        raise CloudError(message)


def resize(session: Session, vm_id: str, interface: str, size: int) -> None:
    """Grow a disk (GiB)."""
    disk = _disk(session, vm_id, interface)
    if size < disk["size"]:
        message = (
            f"requested size ({size}G) is lower than current size ({disk['size']}G). "
            f"Cannot shrink disk {interface}, it is not supported"
        )
        raise CloudError(message)
    if size > disk["size"]:
        session.require(f"/vms/{vm_id}", "VM.Config.Disk")
        session.require(f"/storage/{disk['datastoreId']}", "Datastore.AllocateSpace")
        disk["size"] = size


def move_disk(session: Session, vm_id: str, interface: str, storage: str) -> bool:
    """Move a disk to another storage; tell whether there was anything to do."""
    disk = _disk(session, vm_id, interface)
    if disk["datastoreId"] == storage:
        return False
    session.storage(storage, "images")
    session.require(f"/vms/{vm_id}", "VM.Config.Disk")
    session.require(f"/storage/{storage}", "Datastore.AllocateSpace")
    disk["datastoreId"] = storage
    return True


def set_disk(session: Session, vm_id: str, disk: Mapping[str, Any]) -> None:
    """Write a disk's other options, adding the disk when the machine has none at that interface."""
    disks = session.machine(vm_id)["config"]["disks"]
    for there in disks:
        if there["interface"] == disk["interface"]:
            there.update({key: value for key, value in disk.items() if key not in {"size", "datastoreId"}})
            return
    session.storage(disk["datastoreId"], "images")
    session.require(f"/vms/{vm_id}", "VM.Config.Disk")
    session.require(f"/storage/{disk['datastoreId']}", "Datastore.AllocateSpace")
    disks.append(dict(disk))


def remove_disks(session: Session, vm_id: str, keep: set[str]) -> None:
    """Remove the disks at interfaces that are not wanted any more."""
    machine = session.machine(vm_id)
    left = [disk for disk in machine["config"]["disks"] if disk["interface"] in keep]
    if len(left) < len(machine["config"]["disks"]):
        session.require(f"/vms/{vm_id}", "VM.Config.Disk")
        machine["config"]["disks"] = left


def _disk(session: Session, vm_id: str, interface: str) -> dict[str, Any]:
    for disk in session.machine(vm_id)["config"]["disks"]:
        if disk["interface"] == interface:
            found: dict[str, Any] = disk
            return found
    message = f"500 disk '{interface}' does not exist"
    raise CloudError(message)


def start(session: Session, vm_id: str) -> None:
    """Start a machine that is stopped."""
    machine = session.machine(vm_id)
    if machine["status"] == "running":
        return
    session.require(f"/vms/{vm_id}", "VM.PowerMgmt")
    for index, device in enumerate(machine["config"]["networkDevices"]):
        there = (*session.state["bridges"], *session.state.get("vnets", {}), "")
        if device["bridge"] not in there:
            message = f"500 start failed: net{index}: bridge '{device['bridge']}' does not exist"
            raise CloudError(message)
    machine["status"] = "running"
    machine["starts"] += 1


def stop(session: Session, vm_id: str) -> None:
    """Stop a machine that runs."""
    machine = session.machine(vm_id)
    if machine["status"] == "running":
        session.require(f"/vms/{vm_id}", "VM.PowerMgmt")
        machine["status"] = "stopped"


def delete(session: Session, vm_id: str) -> None:
    """Delete a stopped machine with its disks, its pool membership and its ACL entries."""
    machine = session.machine(vm_id)
    session.require(f"/vms/{vm_id}", "VM.Allocate")
    if machine["config"].get("protection"):
        message = f"500 can't remove VM {vm_id} - protection mode enabled"
        raise CloudError(message)
    del session.state["machines"][vm_id]
    session.state["acls"] = [acl for acl in session.state["acls"] if acl["path"] != f"/vms/{vm_id}"]


def migrate(session: Session, vm_id: str, node: str) -> None:
    """Move a machine to another node, running or not."""
    session.node(node)
    _move_to_node(session, vm_id, node)


def _move_to_node(session: Session, vm_id: int | str, node: str) -> None:
    machine = session.machine(vm_id)
    if (
        any(not session.state["storages"][disk["datastoreId"]]["shared"] for disk in machine["config"]["disks"])
        or machine["status"] == "running"
    ):
        session.require(f"/vms/{vm_id}", "VM.Migrate")
    machine["node"] = node


def move_to_pool(session: Session, vm_id: str, pool: str) -> None:
    """Put a machine into another pool, or into none."""
    machine = session.machine(vm_id)
    for each in {machine["pool"], pool} - {""}:
        session.require(f"/pool/{each}", "Pool.Allocate")
    if pool and pool not in session.state["pools"]:
        message = f"500 pool '{pool}' does not exist"
        raise CloudError(message)
    machine["pool"] = pool
