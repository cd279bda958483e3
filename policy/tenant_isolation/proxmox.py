"""Resources of the Proxmox VE provider in a tenant's stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenant_isolation.endpoints import normal
from tenant_isolation.nics import WHY_KNOWN, Nic, row_for
from tenant_isolation.reading import ABSENT, UNKNOWN, read
from tenant_isolation.table import whole_number
from tenant_isolation.verdicts import Place, listed, words

if TYPE_CHECKING:
    from tenant_isolation.verdicts import Case, Provider

PROVIDER = "pulumi:providers:proxmoxve"
VM = "proxmoxve:index/vmLegacy:VmLegacy"
FILE = "proxmoxve:index/fileLegacy:FileLegacy"

NIC_FIELDS = words("bridge vlanId trunks disconnected enabled firewall macAddress model mtu queues rateLimit")
CLONE_FIELDS = words("vmId nodeName datastoreId full retries")
REFUSED_FIELDS = {
    "kvmArguments": "raw arguments of QEMU can add a NIC",
    "hostpcis": "a device of the node can be a NIC of it",
    "usbs": "a device of the node can be a NIC of it",
    "virtiofs": "it shows folders of the node",
    "hookScriptFileId": "it runs on the node",
}
"""Inputs of a VM that reach around its NICs, and why."""
JUDGED_FIELDS = frozenset({"networkDevices", "clone"})
OTHER_FIELDS = words(
    """acpi agent amdSev audioDevice bios bootOrders cdrom cpu deleteUnreferencedDisksOnDestroy description disks
    efiDisk hotplug initialization keyboardLayout macAddresses machine memory migrate name nodeName numas
    onBoot operatingSystem poolId protection purgeOnDestroy reboot rebootAfterUpdate rngs scsiHardware
    serialDevices smbios started startup stopOnDestroy tabletDevice tags template timeoutClone timeoutCreate
    timeoutMigrate timeoutMoveDisk timeoutReboot timeoutShutdownVm timeoutStartVm timeoutStopVm tpmState vga
    vmId watchdog"""
)
"""Inputs of a VM that say nothing about networks. What is in none of these sets is refused: the provider would turn
`networkDevice` or `network_devices` into its own `network_device`."""

BORROWED = "Its Proxmox VE provider has no apiToken, so it would use that of whoever runs it. Give it the tenant's."


def provider_problems(case: Case) -> list[str]:
    """Judge the provider itself: it must talk to a location in which the tenant has a network."""
    resource = case.resource
    return _location(case, read(resource.props, "endpoint"), read(resource.props, "apiToken"))[1]


def vm_problems(case: Case) -> list[str]:
    """Judge a VM: a clone, in a location of the tenant, each NIC one of the tenant's rows there."""
    place, problems = _place(case, case.resource.provider)
    props = case.resource.props
    problems += _clone_problems(read(props, "clone"))
    fields = read(props)
    for name, why in REFUSED_FIELDS.items():
        if read(fields, name) not in (ABSENT, "", []):
            problems.append(f"It sets {name}, which is not for tenants: {why}. Leave it out.")
    strange = set(fields) - JUDGED_FIELDS - OTHER_FIELDS - REFUSED_FIELDS.keys()
    if strange:
        problems.append(f"It has inputs that this pack can not judge: {listed(strange)}. Leave them out.")
    return problems + _nic_problems(read(props, "networkDevices"), place) if place else problems


def file_problems(case: Case) -> list[str]:
    """Judge an upload: an ISO image, in a location of the tenant."""
    _, problems = _place(case, case.resource.provider)
    content = read(case.resource.props, "contentType")
    if content not in (ABSENT, "iso"):
        problems.append("A tenant uploads ISO images only. Write contentType: iso.")
    return problems


def _place(case: Case, provider: Provider | None) -> tuple[Place | None, list[str]]:
    if provider is None or provider.type != PROVIDER or provider.is_default:
        return None, ["It has no explicit Proxmox VE provider, so where it would be made is not known. Give it one."]
    return _location(case, read(provider.props, "endpoint"), read(provider.props, "apiToken"))


def _location(case: Case, endpoint: object, token: object) -> tuple[Place | None, list[str]]:
    mine = {row.location for row in case.table.rows_of(case.stack)}
    allowed = [text for text, location in case.table.endpoints.items() if location in mine]
    offer = (
        f"Stack {case.stack.name} may use: {', '.join(sorted(allowed))}."
        if allowed
        else f"Stack {case.stack.name} has no network on any Proxmox VE: ask the platform for one."
    )
    if endpoint is UNKNOWN:
        return None, [
            f"The endpoint of its Proxmox VE provider is not known yet, but it decides where this is made. {offer}"
        ]
    if endpoint is ABSENT:
        return None, [f"Its Proxmox VE provider has no endpoint. {offer}"]
    text = normal(endpoint)
    if text is None:
        return None, [f"The endpoint of its Proxmox VE provider is not of the form https://host:port. {offer}"]
    if text not in allowed:
        return None, [f"Its Proxmox VE provider talks to {text}. {offer}"]
    rows = case.table.rows_of(case.stack, case.table.endpoints[text])
    problems = [] if token is not ABSENT else [BORROWED]
    return Place(case.stack.name, text, rows), problems


def _clone_problems(clone: object) -> list[str]:
    reason = "A VM that is not a clone takes over, and later deletes, a VM of another owner that has its id."
    if clone is UNKNOWN:
        return [f"Whether it is a clone is not known yet. {reason} Write clone with plain values."]
    if not isinstance(clone, dict) or not clone:
        return [f"It is not a clone. {reason} Write clone: {{vmId: <the template's>}}."]
    problems = []
    strange = clone.keys() - CLONE_FIELDS
    if strange:
        problems.append(f"Its clone has fields that this pack can not judge: {listed(strange)}. Leave them out.")
    if read(clone, "vmId") is ABSENT:
        problems.append(f"Its clone names no vmId, so it is not a clone. {reason}")
    retries = read(clone, "retries")
    if retries is not ABSENT and whole_number(retries) not in (0, 1):
        problems.append("A clone that is tried again takes over a VM that has its id. Write clone.retries: 1.")
    return problems


def _nic_problems(nics: object, place: Place) -> list[str]:
    if nics is UNKNOWN:
        return [f"Its NICs are not known yet. {WHY_KNOWN} {place.offer('vlanId')}"]
    if nics is ABSENT or nics == []:
        return [f"It names no NIC, so it would keep the template's. {place.offer('vlanId')}"]
    if not isinstance(nics, list):
        return [f"Its networkDevices are not a list. {place.offer('vlanId')}"]
    problems = []
    for i, value in enumerate(nics):
        nic = Nic(f"NIC {i + 1} (networkDevices[{i}])", value, "vlanId", NIC_FIELDS)
        problems += row_for(nic, place)[1]
        if isinstance(value, dict) and read(value, "trunks") not in (ABSENT, "", []):
            problems.append(f"{nic.label} has trunks, which let further VLANs through. Leave trunks out.")
    return problems
