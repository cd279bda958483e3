"""NICs: the plugin's defaults, the API's checks and the rights they need."""

import re
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from lab.clouds.errors import CloudError
from lab.clouds.proxmox.api import Session
from lab.clouds.values import UNKNOWN

_FIRST_VLAN, _LAST_VLAN = 1, 4094
_MTU_OF_BRIDGE = 1
_BRIDGELESS_SINCE = 9
_LOWEST_MTU, _HIGHEST_MTU = 576, 65520
_MODELS = {"e1000", "e1000e", "rtl8139", "virtio", "vmxnet3"}
_DEFAULTS: dict[str, Any] = {
    "bridge": "vmbr0",
    "disconnected": False,
    "enabled": True,
    "firewall": False,
    "model": "virtio",
    "mtu": 0,
    "queues": 0,
    "rateLimit": 0,
    "trunks": "",
    "vlanId": 0,
}


def wanted(devices: Any) -> Any:
    """Return a VM's NICs with the plugin's defaults. A MAC address is compared only where one is asked for."""
    if not isinstance(devices, list):
        return devices
    return [device if device is UNKNOWN else {**_DEFAULTS, **device} for device in devices]


def verify(index: int, device: Mapping[str, Any], session: Session) -> None:
    """Refuse what the API refuses of a NIC, rights last.

    Raises:
        CloudError: `400 Parameter verification failed`, or `403` for a VLAN that is not the caller's.
    """
    vlan, mtu = device.get("vlanId") or 0, device.get("mtu") or 0
    if vlan and not _FIRST_VLAN <= vlan <= _LAST_VLAN:
        _refuse(index, f"invalid format - tag: value must be between {_FIRST_VLAN} and {_LAST_VLAN}, not {vlan}")
    if mtu and mtu != _MTU_OF_BRIDGE and not _LOWEST_MTU <= mtu <= _HIGHEST_MTU:
        _refuse(index, f"invalid format - mtu: value must be 1 or between {_LOWEST_MTU} and {_HIGHEST_MTU}, not {mtu}")
    if device.get("model", "virtio") not in _MODELS:
        _refuse(index, f"invalid format - model: unknown model '{device['model']}'")
    bridge = device.get("bridge", "")
    if not bridge and session.state.get("pve", 9) < _BRIDGELESS_SINCE:
        _refuse(index, "bridge: property is missing")
    if bridge and bridge not in session.state["bridges"] and bridge not in session.state.get("vnets", {}):
        _refuse(index, f"bridge '{bridge}' does not exist")
    allow(device, session)


def allow(device: Mapping[str, Any], session: Session) -> None:
    """Refuse a NIC on a VLAN (or untagged bridge, or vnet) that the caller has no SDN.Use on.

    As the real API does, and no better: a NIC with trunks and no tag is checked for its trunks only, and one without
    a bridge for nothing (docs/proxmox-permissions.md, what permissions leave open).
    """
    bridge = device.get("bridge", "")
    if not bridge:
        return
    zone = session.state.get("vnets", {}).get(bridge, "localnetwork")
    path = f"/sdn/zones/{zone}/{bridge}"
    vlans = list(_trunks(device.get("trunks")))
    if device.get("vlanId"):
        vlans.insert(0, device["vlanId"])
    for each in [f"{path}/{vlan}" for vlan in vlans] or [path]:
        session.require(each, "SDN.Use")


def _trunks(text: Any) -> Iterator[int]:
    """Give each VLAN of `201;300-302`."""
    for part in re.split(r"[;,\s]+", str(text or "")):
        if part:
            first, _, last = part.partition("-")
            yield from range(int(first), int(last or first) + 1)


def _refuse(index: int, why: str) -> None:
    message = f"400 Parameter verification failed (net{index}: {why})"
    raise CloudError(message)


def plugged(devices: list[dict[str, Any]], before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the NICs as the API stores them: a NIC keeps its MAC address, a new one gets one."""
    result = []
    for index, device in enumerate(devices):
        old = before[index].get("macAddress") if index < len(before) else None
        result.append({**device, "macAddress": device.get("macAddress") or old or new_mac()})
    return result


def new_mac() -> str:
    """Return a random MAC address under Proxmox's own prefix."""
    return "BC:24:11:" + ":".join(f"{byte:02X}" for byte in secrets.token_bytes(3))
