"""A tenant's VMs on Proxmox VE and the ISO images that they start from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tenant_isolation.nics import WHY_KNOWN, Nic, network_of
from tenant_isolation.providers import proxmox_place
from tenant_isolation.reading import ABSENT, UNKNOWN, read, whole_number
from tenant_isolation.verdicts import Offer, shown, strange, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tenant_isolation.table import Holding, Proxmox
    from tenant_isolation.verdicts import Case

VM = "proxmoxve:index/vmLegacy:VmLegacy"
FILE = "proxmoxve:index/fileLegacy:FileLegacy"

NIC_FIELDS = words("bridge vlanId trunks disconnected enabled firewall macAddress model mtu queues rateLimit")
CLONE_FIELDS = words("vmId nodeName datastoreId full retries")
DISK_FIELDS = words(
    """aio backup cache datastoreId discard fileFormat fileId importFrom interface iothread pathInDatastore queues
    replicate serial size speed ssd"""
)
FOREIGN_DISK_FIELDS = ("fileId", "importFrom", "pathInDatastore")
"""They make a disk of what lies somewhere already."""
CDROM_FIELDS = words("enabled fileId interface")
STORED_FIELDS = words("datastoreId fileFormat preEnrolledKeys type version")
"""Of `efiDisk` and `tpmState`."""
REFUSED_FIELDS = {
    "kvmArguments": "raw arguments of QEMU can add a NIC",
    "hostpcis": "a device of the node can be a NIC of it",
    "usbs": "a device of the node can be a NIC of it",
    "virtiofs": "it shows folders of the node",
    "hookScriptFileId": "it runs on the node",
    "initialization": "it can name files of any storage; a machine's configuration comes as an ISO image",
}
"""Inputs of a VM that reach around what is judged, and why."""
JUDGED_FIELDS = words("networkDevices clone vmId poolId disks cdrom efiDisk tpmState serialDevices")
OTHER_FIELDS = words(
    """acpi agent amdSev audioDevice bios bootOrders cpu deleteUnreferencedDisksOnDestroy description hotplug
    keyboardLayout macAddresses machine memory migrate name nodeName numas onBoot operatingSystem protection
    purgeOnDestroy reboot rebootAfterUpdate rngs scsiHardware smbios started startup stopOnDestroy
    tabletDevice tags template timeoutClone timeoutCreate timeoutMigrate timeoutMoveDisk timeoutReboot
    timeoutShutdownVm timeoutStartVm timeoutStopVm vga watchdog"""
)
"""Inputs of a VM that say nothing about what is a tenant's. What is in none of these sets is refused: the provider
would turn `networkDevice` or `network_devices` into its own `network_device`."""
FILE_FIELDS = words("contentType datastoreId nodeName overwrite sourceFile timeoutUpload")

_EMPTY: tuple[Any, ...] = (ABSENT, "", [])
_ISO_NAME = re.compile(r"[^/\s,]+")
_SOCKET = (ABSENT, "", "socket")


def vm_problems(case: Case) -> list[str]:
    """Judge a VM: a clone, in a location of the tenant, with ids, pool and storages of the tenant's, each NIC a row."""
    place, problems = proxmox_place(case)
    props = case.resource.props
    problems += _clone_problems(props, place)
    for name, why in REFUSED_FIELDS.items():
        if read(props, name) not in _EMPTY:
            problems.append(f"It sets {name}, which is not for tenants: {why}. Leave it out.")
    problems += _serial_problems(read(props, "serialDevices"))
    problems += strange(props, JUDGED_FIELDS | OTHER_FIELDS | REFUSED_FIELDS.keys(), "It has inputs")
    if place is None:
        return problems
    own = place.tenants[case.stack.tenant]
    offer = Offer(case.stack.name, place.endpoint, case.table.rows_of(case.stack, place.name))
    return [*problems, *_own_problems(props, own), *_disk_problems(props, place, own), *_nic_problems(props, offer)]


def file_problems(case: Case) -> list[str]:
    """Judge an upload: an ISO image, to the tenant's own ISO storage."""
    place, problems = proxmox_place(case)
    props = case.resource.props
    problems += strange(props, FILE_FIELDS, "It has inputs")
    content = read(props, "contentType")
    if content != "iso":
        problems.append("A tenant uploads ISO images only. Write contentType: iso.")
    if place is not None:
        own = place.tenants[case.stack.tenant].iso_storage
        asked = read(props, "datastoreId")
        if asked != own:
            problems.append(f"Its datastoreId is {shown(asked)}. The tenant's ISO images are in {own}.")
    return problems


def _own_problems(props: Mapping[str, Any], own: Holding) -> Iterator[str]:
    number = whole_number(read(props, "vmId"))
    if number is None or not own.first_id <= number <= own.last_id:
        yield f"Its vmId is {shown(read(props, 'vmId'))}. The tenant has {own.first_id} to {own.last_id} there."
    if read(props, "poolId") != own.pool:
        yield f"Its poolId is {shown(read(props, 'poolId'))}. The tenant's resource pool is {own.pool}."


def _clone_problems(props: Mapping[str, Any], place: Proxmox | None) -> list[str]:
    clone = read(props, "clone")
    reason = "A VM that is not a clone takes over, and later deletes, a VM of another owner that has its id."
    if clone is UNKNOWN:
        return [f"Whether it is a clone is not known yet. {reason} Write clone with plain values."]
    if not isinstance(clone, dict) or not clone:
        return [f"It is not a clone. {reason} Write clone: {{vmId: <the template's>}}."]
    problems = strange(clone, CLONE_FIELDS, "Its clone has fields")
    source = read(clone, "vmId")
    if source is ABSENT:
        problems.append(f"Its clone names no vmId, so it is not a clone. {reason}")
    elif place is not None and whole_number(source) not in {template.id for template in place.templates}:
        known = " or ".join(str(template.id) for template in place.templates)
        problems.append(
            f"It is no clone of a template of {place.name}. Write clone.vmId: {known}; a template from which machines "
            "still stand is for the platform to list in the location's formerTemplates."
        )
    retries = read(clone, "retries")
    if retries is not ABSENT and whole_number(retries) not in (0, 1):
        problems.append("A clone that is tried again takes over a VM that has its id. Write clone.retries: 1.")
    storage = read(clone, "datastoreId")
    if place is not None and storage not in (ABSENT, "", place.storage):
        problems.append(f"Its clone goes to storage {shown(storage)}. Machines of {place.name} are on {place.storage}.")
    return problems


def _option_problems(label: str, value: Any) -> Iterator[str]:
    """Judge the texts of what becomes one line of options in Proxmox VE, `virtio,bridge=vmbr1,tag=202`."""
    for field, text in value.items() if isinstance(value, dict) else ():
        if isinstance(text, str) and "," in text:
            yield f"{label}.{field} holds a comma, with which it would set further options. Write a plain value."


def _serial_problems(devices: Any) -> Iterator[str]:
    listing = [] if devices is ABSENT else devices if isinstance(devices, list) else [devices]
    if any(not isinstance(item, dict) or read(item, "device") not in _SOCKET for item in listing):
        yield "Its serialDevices are not all sockets. A device of the node is not for tenants: write device: socket."


def _disk_problems(props: Mapping[str, Any], place: Proxmox, own: Holding) -> Iterator[str]:
    disks = read(props, "disks")
    if disks is not ABSENT and not isinstance(disks, list):
        yield f"Its disks are {shown(disks)}, not a list."
    stored = [(f"disks[{i}]", disk) for i, disk in enumerate(disks)] if isinstance(disks, list) else []
    for label, disk in stored:
        yield from _stored_problems(label, disk, DISK_FIELDS, place.storage)
        for field in FOREIGN_DISK_FIELDS:
            if isinstance(disk, dict) and read(disk, field) not in _EMPTY:
                yield f"{label}.{field} takes a disk from elsewhere. Leave it out: disks are the template's."
    for field in ("efiDisk", "tpmState"):
        if read(props, field) is not ABSENT:
            yield from _stored_problems(field, read(props, field), STORED_FIELDS, place.storage)
    yield from _cdrom_problems(read(props, "cdrom"), own.iso_storage)


def _stored_problems(label: str, value: Any, fields: frozenset[str], storage: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{label} is {shown(value)}, not a set of fields."
        return
    yield from strange(value, fields, f"{label} has fields")
    yield from _option_problems(label, value)
    asked = read(value, "datastoreId")
    if asked != storage:
        yield f"{label}.datastoreId is {shown(asked)}. The tenant's disks are in {storage}."


def _cdrom_problems(cdrom: Any, storage: str) -> Iterator[str]:
    if cdrom is ABSENT:
        return
    if not isinstance(cdrom, dict):
        yield f"Its cdrom is {shown(cdrom)}, not a set of fields."
        return
    yield from strange(cdrom, CDROM_FIELDS, "Its cdrom has fields")
    file = read(cdrom, "fileId")
    if file in (ABSENT, "", "none"):
        return
    head = f"{storage}:iso/"
    if not isinstance(file, str) or not file.startswith(head) or not _ISO_NAME.fullmatch(file.removeprefix(head)):
        yield f"Its cdrom.fileId is {shown(file)}. The tenant's ISO images are {head}<name>."


def _nic_problems(props: Mapping[str, Any], offer: Offer) -> Iterator[str]:
    nics = read(props, "networkDevices")
    if nics is UNKNOWN:
        yield f"Its NICs are not known yet. {WHY_KNOWN} {offer.says('vlanId')}"
    elif nics in _EMPTY:
        yield f"It names no NIC, so it would keep the template's. {offer.says('vlanId')}"
    elif not isinstance(nics, list):
        yield f"Its networkDevices are not a list. {offer.says('vlanId')}"
    else:
        for i, value in enumerate(nics):
            nic = Nic(f"NIC {i + 1} (networkDevices[{i}])", value, "vlanId", NIC_FIELDS)
            yield from network_of(nic, offer)[1]
            yield from _option_problems(nic.label, value)
            if isinstance(value, dict) and read(value, "trunks") not in _EMPTY:
                yield f"{nic.label} has trunks, which let further VLANs through. Leave trunks out."
