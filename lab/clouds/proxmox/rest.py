"""What an audit asks of the API itself, as the real one answers it: `GET /api2/json/…` with a token."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.clouds.errors import CloudError
from lab.clouds.proxmox.api import ProxmoxApi, Session
from lab.clouds.proxmox.iso import SEEING
from lab.clouds.proxmox.rights import Permissions, effective, permissions
from lab.clouds.proxmox.token import parse_token

_SCHEME = "PVEAPIToken="


def answer(folder: Path, endpoint: str, path: str, query: Mapping[str, str], authorization: str) -> Any:
    """Return what `GET path` answers; raises CloudError with the HTTP status in front for a refusal."""
    if not authorization.startswith(_SCHEME):
        message = "401 No ticket"
        raise CloudError(message)
    api = ProxmoxApi(folder, endpoint, parse_token(authorization.removeprefix(_SCHEME)))
    with api.call("read") as session:
        return {"data": _data(session, path.removeprefix("/api2/json"), query)}


def _data(session: Session, path: str, query: Mapping[str, str]) -> Any:
    if path == "/version":
        version = session.state.get("pve", 9)
        return {"version": f"{version}.1.0", "release": f"{version}.1", "repoid": "lab"}
    if path == "/access/permissions":
        return _permissions(session, query.get("path"))
    if path == "/cluster/resources":
        return [
            _resource(session, number, machine)
            for number, machine in session.state["machines"].items()
            if session.has(f"/vms/{number}", "VM.Audit")
        ]
    if found := re.fullmatch(r"/nodes/([^/]+)/qemu/([0-9]+)/config", path):
        session.require(f"/vms/{found[2]}", "VM.Audit")
        return _config(session.machine(found[2]))
    if found := re.fullmatch(r"/nodes/([^/]+)/storage", path):
        session.node(found[1])
        return [
            {"storage": name, "content": ",".join(storage["content"]), "shared": int(storage["shared"]), "enabled": 1}
            for name, storage in session.state["storages"].items()
            if session.has(f"/storage/{name}", "Datastore.Audit", "Datastore.AllocateSpace")
        ]
    if found := re.fullmatch(r"/nodes/([^/]+)/storage/([^/]+)/content", path):
        session.require(f"/storage/{found[2]}", *SEEING)
        files = session.state["files"].items()
        return [
            {"volid": name, "content": each["content"], "size": each["size"], "format": "iso"}
            for name, each in files
            if name.startswith(f"{found[2]}:")
        ]
    message = f"501 Method 'GET {path}' not implemented"
    raise CloudError(message)


def _permissions(session: Session, path: str | None) -> dict[str, dict[str, int]]:
    if path is not None:
        return {path: _numbers(permissions(session.state, session.identity, path))}
    return {each: _numbers(there) for each, there in effective(session.state, session.identity).items()}


def _numbers(found: Permissions) -> dict[str, int]:
    return {privilege: int(spreads) for privilege, spreads in sorted(found.items())}


def _resource(session: Session, number: str, machine: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        "id": f"{machine.get('type', 'qemu')}/{number}",
        "vmid": int(number),
        "type": machine.get("type", "qemu"),
        "name": machine["name"],
        "node": machine["node"],
        "status": machine["status"],
        "template": int(machine["template"]),
    }
    pool = machine["pool"]
    return {**found, "pool": pool} if pool and session.has(f"/pool/{pool}", "Pool.Audit") else found


def _config(machine: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with the API's own names, as far as an audit looks at it."""
    config = machine["config"]
    found: dict[str, Any] = {
        "name": machine["name"],
        "cores": config.get("cpu", {}).get("cores", 1),
        "memory": str(config.get("memory", {}).get("dedicated", 512)),
        "digest": "0" * 40,
    }
    if machine["template"]:
        found["template"] = 1
    for index, device in enumerate(config["networkDevices"]):
        tag = f",tag={device['vlanId']}" if device.get("vlanId") else ""
        found[f"net{index}"] = f"{device['model']}={device.get('macAddress', '')},bridge={device['bridge']}{tag}"
    for disk in config["disks"]:
        found[disk["interface"]] = f"{disk['datastoreId']}:{disk.get('volume', 'vm-disk')},size={disk['size']}G"
    return found
