"""What exists in the simulated clouds: every machine of every endpoint with its NICs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.clouds.state import all_states


def machines(folder: Path, *, templates: bool = False) -> list[dict[str, Any]]:
    """Return the machines of all endpoints, in order of endpoint and id.

    Each is `{endpoint, kind, place, id, name, status, starts, nics, group, tags, cdrom}`: `place` is the node or
    location, `group` the pool or project, `nics` are `{bridge, vlan, mtu, mac}` or `{network, ip, mac}` (network None
    for the public one), `tags` a list (labels as `key=value`), `cdrom` None or `{file, size, sha256, path}` with the
    absolute path of the uploaded bytes. A Proxmox template is left out unless `templates`.
    """
    found: list[dict[str, Any]] = []
    for state in all_states(folder).values():
        if state.get("kind") == "proxmox":
            found.extend(_proxmox(folder, state, templates=templates))
        elif state.get("kind") == "hcloud":
            found.extend(_hcloud(state))
    return found


def _proxmox(folder: Path, state: dict[str, Any], *, templates: bool) -> Iterator[dict[str, Any]]:
    for number, machine in sorted(state["machines"].items(), key=lambda item: int(item[0])):
        if machine["template"] and not templates:
            continue
        config = machine["config"]
        volume = (config.get("cdrom") or {}).get("fileId")
        file = state["files"].get(volume)
        yield {
            "endpoint": state["endpoint"],
            "kind": "proxmox",
            "place": machine["node"],
            "id": number,
            "name": machine["name"],
            "status": machine["status"],
            "starts": machine["starts"],
            "nics": [
                {
                    "bridge": device["bridge"],
                    "vlan": device.get("vlanId") or None,
                    "mtu": device.get("mtu") or None,
                    "mac": device.get("macAddress"),
                }
                for device in config["networkDevices"]
            ],
            "group": machine["pool"],
            "tags": config.get("tags", []),
            "cdrom": {
                "file": volume,
                "size": file["size"],
                "sha256": file["sha256"],
                "path": str((folder / file["copy"]).resolve()),
            }
            if file
            else None,
        }


def _hcloud(state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for project, content in state["projects"].items():
        for number, server in sorted(content["servers"].items(), key=lambda item: int(item[0])):
            public = server["publicNets"][0]
            nics: list[dict[str, Any]] = []
            if public["ipv4Enabled"] or public["ipv6Enabled"]:
                nics.append({"network": None, "ip": "public", "mac": None})
            for network, place in server["attached"].items():
                name = content["networks"].get(network, {}).get("name", network)
                nics.append({"network": name, "ip": place["ip"], "mac": place["macAddress"]})
            yield {
                "endpoint": "hcloud",
                "kind": "hcloud",
                "place": server["location"],
                "id": number,
                "name": server["name"],
                "status": server["status"],
                "starts": server["starts"],
                "nics": nics,
                "group": project,
                "tags": [f"{key}={value}" for key, value in sorted((server.get("labels") or {}).items())],
                "cdrom": None,
            }


def lines(found: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a table of machines for people."""
    if not found:
        yield "no machines"
        return
    rows: list[tuple[str, ...]] = [
        ("ENDPOINT", "PLACE", "ID", "NAME", "STATUS", "NICS", "POOL/PROJECT", "TAGS", "CDROM")
    ]
    for machine in found:
        cdrom = machine["cdrom"]["file"] if machine["cdrom"] else "-"
        nics = " ".join(_nic(device) for device in machine["nics"]) or "-"
        texts = [str(machine[key]) for key in ("endpoint", "place", "id", "name", "status")]
        rows.append((*texts, nics, machine["group"] or "-", ",".join(machine["tags"]) or "-", cdrom))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _nic(device: dict[str, Any]) -> str:
    if "bridge" in device:
        mtu = f",mtu={device['mtu']}" if device["mtu"] else ""
        return f"{device['bridge']},vlan={device['vlan'] or 'none'}{mtu}"
    return f"{device['network']}={device['ip']}" if device["network"] else "public"
