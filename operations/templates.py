"""What tenants can clone in a Proxmox VE location: templates from the pool of templates, with nothing that leaks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from operations.effective import is_template
from operations.https import UnansweredError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from operations.proxmox import Permissions, Proxmox
    from settings.environment import ProxmoxLocation

Line = tuple[str, Literal["ok", "WRONG", "not checked"], str]
Asked = tuple[str, "Proxmox", "Permissions"]
"""A tenant, the API as its token sees it, and what that token may do."""

_CARRIED = re.compile(r"(net|hostpci|usb|virtiofs)[0-9]+|args|hookscript")
_DRIVE = re.compile(r"(ide|sata|scsi)[0-9]+")


def templates(name: str, location: ProxmoxLocation, asked: Sequence[Asked]) -> Iterator[Line]:
    """Judge everything that any tenant can clone, with the token of one who can.

    The pool of templates is everybody's: what one tenant alone can clone is a right from elsewhere.
    """
    row, wanted = f"{name}: what tenants can clone", location.template.id
    pool = location.template.pool
    able: dict[int, dict[str, Proxmox]] = {wanted: {}}
    for tenant, api, found in asked:
        for path, there in found.items():
            if path.startswith("/vms/") and is_template(there):
                able.setdefault(int(path.removeprefix("/vms/")), {})[tenant] = api
    without = [tenant for tenant, _, _ in asked if tenant not in able[wanted]]
    if without:
        yield row, "WRONG", f"{', '.join(without)} can not clone template {wanted}: put it into the pool {pool}"
    for vm_id, who in sorted(able.items()):
        tenants = ", ".join(who)
        if not able[wanted].keys() <= who.keys():
            why = f"so not because of the pool {pool}: see `pveum acl list`"
            yield row, "WRONG", f"{vm_id} can be cloned by {tenants} alone, {why}"
        for api in list(who.values())[:1]:
            yield (row, *_judged(vm_id, tenants, api))


def _judged(vm_id: int, tenants: str, api: Proxmox) -> tuple[Literal["ok", "WRONG", "not checked"], str]:
    try:
        machine = next((item for item in api.machines() if int(item["vmid"]) == vm_id), None)
        if machine is None:
            return "not checked", f"{vm_id} can be cloned by {tenants} and is not listed"
        if machine["type"] != "qemu":
            return "WRONG", f"{vm_id} is a container: {tenants} can clone it"
        # The list forgets what is a template while a node is away; the configuration does not.
        config = api.config(str(machine["node"]), vm_id)
    except UnansweredError as error:
        return "not checked", f"{vm_id}: {error}"
    if not int(config.get("template") or 0):
        return "WRONG", f"{vm_id} is no template: {tenants} can clone it"
    carried = _carried(config)
    if carried:
        return "WRONG", f"template {vm_id} has {', '.join(carried)}: every clone begins with it"
    return "ok", f"template {vm_id} has no NIC, no device of the host and no cloud-init drive"


def _carried(config: Mapping[str, object]) -> list[str]:
    return sorted(
        key
        for key, value in config.items()
        if _CARRIED.fullmatch(key) or (_DRIVE.fullmatch(key) and "cloudinit" in str(value))
    )
