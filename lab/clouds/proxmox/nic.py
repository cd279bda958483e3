"""NICs: the plugin's defaults, the API's checks and the rights they need."""

import re
import secrets
from collections.abc import Mapping
from typing import Any

from lab.clouds.errors import CloudError
from lab.clouds.proxmox.api import Session
from lab.clouds.values import UNKNOWN

_FIRST_VLAN, _LAST_VLAN = 1, 4094
_MTU_OF_BRIDGE = 1
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
    if bridge not in session.state["bridges"]:
        _refuse(index, f"bridge '{bridge}' does not exist")
    allow(device, session)


def allow(device: Mapping[str, Any], session: Session) -> None:
    """Refuse a NIC on a VLAN (or untagged bridge) that the caller has no SDN.Use on.

    A NIC with trunks and no tag is checked for its trunks only, as the real API does (proxmox-permissions F4).
    """
    path = f"/sdn/zones/localnetwork/{device.get('bridge', '')}"
    if device.get("vlanId"):
        paths = [f"{path}/{device['vlanId']}"]
    elif device.get("trunks"):
        paths = [f"{path}/{vlan}" for vlan in re.split(r"[;,\s]+", str(device["trunks"])) if vlan]
    else:
        paths = [path]
    for each in paths:
        session.require(each, "SDN.Use")


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
