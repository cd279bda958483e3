"""The clouds that the environment files describe, as an operator would have set them up before the first `up`."""

from __future__ import annotations

import json
import secrets
import string
import uuid
from typing import TYPE_CHECKING, Any

from lab.clouds import seed_hcloud, seed_proxmox
from operations.private import write_private
from settings.environment import HcloudLocation, ProxmoxLocation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from settings.stack import EnvironmentSettings

TEMPLATE_DISK = 10
"""GiB."""
HCLOUD_LOCATIONS = ("ash", "fsn1", "hel1", "hil", "nbg1", "sin")
HCLOUD_SERVER_TYPES = ("ccx13", "ccx23", "cpx12", "cpx22", "cpx32", "cpx42", "cpx52", "cx23", "cx33", "cx43", "cx53")


def credentials(file: Path, settings: Mapping[str, EnvironmentSettings]) -> dict[str, dict[str, Any]]:
    """Give each environment its `hybrid:credentials`, with random tokens that are made once and kept in `file`."""
    kept: dict[str, dict[str, Any]] = json.loads(file.read_text()) if file.exists() else {}
    for name, environment in settings.items():
        mine = kept.setdefault(name, {})
        for location_name, location in environment.environment.locations.items():
            tokens = mine.setdefault(location_name, {})
            if isinstance(location, ProxmoxLocation):
                tokens.setdefault("token", f"pulumi@pve!{name}={uuid.uuid4()}")
            else:
                for tenant in location.tenants:
                    tokens.setdefault(tenant, _hcloud_token())
    write_private(file, json.dumps(kept, indent=1))
    return {name: _used(kept[name], environment) for name, environment in settings.items()}


def _used(tokens: Mapping[str, Any], settings: EnvironmentSettings) -> dict[str, Any]:
    """Leave out what was made for locations and tenants that are no longer there."""
    return {
        name: {"token": tokens[name]["token"]}
        if isinstance(location, ProxmoxLocation)
        else {tenant: tokens[name][tenant] for tenant in location.tenants}
        for name, location in settings.environment.locations.items()
    }


def seed(clouds: Path, settings: EnvironmentSettings, tokens: Mapping[str, Any]) -> None:
    """Make every location of an environment; what is there already stays."""
    for name, location in settings.environment.locations.items():
        if isinstance(location, HcloudLocation):
            _seed_hcloud(clouds, name, location, tokens[name])
        else:
            bridges = {zone.bridge for zone in settings.environment.zones.values() if name in zone.locations}
            _seed_proxmox(clouds, location, sorted(bridges), tokens[name]["token"])


def _seed_proxmox(clouds: Path, location: ProxmoxLocation, bridges: list[str], token: str) -> None:
    storages: dict[str, dict[str, Any]] = {
        location.storage.name: {"content": ["images"], "shared": location.storage.shared}
    }
    for tenant in location.tenants.values():
        storages[tenant.iso_storage] = {"content": ["iso"], "shared": True}
    template = location.template
    seed_proxmox(
        clouds,
        location.endpoint,
        nodes={name: {"memory": node.memory} for name, node in location.nodes.items()},
        storages=storages,
        bridges=bridges,
        templates=[
            {
                "id": template.id,
                "node": template.node,
                "tags": list(template.tags),
                "disk_gb": template.disk or TEMPLATE_DISK,
                "pool": template.pool,
            }
        ],
        admin_token=token,
        pve=location.pve,
    )


def _seed_hcloud(clouds: Path, name: str, location: HcloudLocation, tokens: Mapping[str, str]) -> None:
    labels = dict(part.split("=", 1) for part in location.image.selector.split(",") if "=" in part)
    seed_hcloud(
        clouds,
        projects={
            f"{name}-{tenant}": {"token": token, "images": [{"id": 501, "labels": labels}]}
            for tenant, token in tokens.items()
        },
        server_types=HCLOUD_SERVER_TYPES,
        locations=HCLOUD_LOCATIONS,
    )


def _hcloud_token() -> str:
    letters = string.ascii_letters + string.digits
    return "".join(secrets.choice(letters) for _ in range(64))
