"""What exists in a simulated cloud before the program runs: what an operator set up by hand."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lab.clouds.proxmox.token import parse_token
from lab.clouds.state import HCLOUD, edit

_FIRST_HCLOUD_ID = 1001
HCLOUD_TOKEN_LENGTH = 64


def seed_proxmox(  # noqa: PLR0913, PLR0917 - an endpoint is just that many things
    state_dir: Path,
    endpoint: str,
    nodes: Mapping[str, Mapping[str, Any]],
    storages: Mapping[str, Mapping[str, Any]],
    bridges: Iterable[str],
    templates: Iterable[Mapping[str, Any]],
    admin_token: str,
    pve: int = 9,
    vnets: Mapping[str, str] | None = None,
) -> None:
    """Make (or extend) a Proxmox VE endpoint; what is there already stays as it is.

    Only a new secret of the administrator's token replaces the old one.

    `pve` is the major version, `vnets` names SDN vnets and the zone of each.
    `nodes`: {name: {"memory": MiB}}; `storages`: {name: {"content": ["images", "iso", …], "shared": bool}};
    `templates`: [{"id", "node", "tags", "disk_gb"}], each also with "storage" (default: the first that holds images),
    "pool" and "nics" ([{"bridge", "vlan"}]; default none) where wanted; `admin_token`: `USER@REALM!ID=UUID` of a user
    with the role Administrator on `/`.

    Raises:
        CloudError: `admin_token` is malformed.
    """
    token = parse_token(admin_token)
    with edit(state_dir, endpoint) as state:
        state["kind"] = "proxmox"
        state["pve"] = pve
        state.setdefault("endpoint", endpoint.rstrip("/"))
        for key in ("nodes", "storages", "users", "tokens", "roles", "pools", "machines", "files"):
            state.setdefault(key, {})
        state.setdefault("acls", [])
        for name, node in nodes.items():
            state["nodes"].setdefault(name, dict(node))
        for name, storage in storages.items():
            state["storages"].setdefault(
                name, {"content": list(storage["content"]), "shared": bool(storage.get("shared"))}
            )
        state["vnets"] = {**state.get("vnets", {}), **(vnets or {})}
        state["bridges"] = sorted({*state.get("bridges", []), *bridges})
        state["users"].setdefault(token.user, {"enabled": True, "comment": "the lab's administrator"})
        state["tokens"][token.identity] = {"secret": token.secret, "privsep": False}
        acl = {"path": "/", "role": "Administrator", "who": token.user, "type": "user", "propagate": True}
        if acl not in state["acls"]:
            state["acls"].append(acl)
        for template in templates:
            _add_template(state, template)


def _add_template(state: dict[str, Any], template: Mapping[str, Any]) -> None:
    holding = [name for name, storage in state["storages"].items() if "images" in storage["content"]]
    storage = template.get("storage") or (holding[0] if holding else "local")
    pool = template.get("pool") or ""
    if pool:
        state["pools"].setdefault(pool, {"comment": ""})
    nics = [
        {"model": "virtio", "bridge": nic["bridge"], "vlanId": nic.get("vlan", 0), "mtu": nic.get("mtu", 0)}
        for nic in template.get("nics", [])
    ]
    made = state["machines"].setdefault(
        str(template["id"]),
        {
            "name": template.get("name", f"template-{template['id']}"),
            "node": template["node"],
            "pool": pool,
            "status": "stopped",
            "starts": 0,
            "template": True,
            "config": {
                "tags": sorted(tag.lower() for tag in template.get("tags", [])),
                "cpu": {"cores": 2, "sockets": 1, "type": "x86-64-v2-AES"},
                "memory": {"dedicated": 2048},
                "operatingSystem": {"type": "l26"},
                "networkDevices": nics,
                "disks": [{"interface": "scsi0", "datastoreId": storage, "size": template["disk_gb"]}],
            },
        },
    )
    made["pool"] = made["pool"] or pool  # one that was seeded before it had a pool


def seed_hcloud(
    state_dir: Path,
    projects: Mapping[str, Mapping[str, Any]],
    server_types: Iterable[str],
    locations: Iterable[str],
) -> None:
    """Make (or extend) Hetzner Cloud; what is there already stays as it is.

    `projects`: {name: {"token": 64 characters, "images": [{"id", "labels", and "name" where it has one}]}}.

    Raises:
        ValueError: a token has not exactly 64 characters, or two projects share one.
    """
    with edit(state_dir, HCLOUD) as state:
        state["kind"] = "hcloud"
        state["server_types"] = sorted({*state.get("server_types", []), *server_types})
        state["locations"] = sorted({*state.get("locations", []), *locations})
        state.setdefault("next_id", _FIRST_HCLOUD_ID)
        known = state.setdefault("projects", {})
        for name, project in projects.items():
            token = project["token"]
            if len(token) != HCLOUD_TOKEN_LENGTH:
                message = f"the token of project {name} has {len(token)} characters; Hetzner's have 64"
                raise ValueError(message)
            for other, entry in known.items():
                if other != name and entry["token"] == token:
                    message = f"projects {other} and {name} share a token; a token belongs to one project"
                    raise ValueError(message)
            entry = known.setdefault(name, {"token": token, "images": []})
            for key in ("networks", "servers", "firewalls", "placement_groups", "ssh_keys"):
                entry.setdefault(key, {})
            there = {image["id"] for image in entry["images"]}
            entry["images"] += [dict(image) for image in project.get("images", []) if image["id"] not in there]
