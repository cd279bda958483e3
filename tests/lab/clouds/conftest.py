"""Seeded clouds for the tests here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lab.clouds import edit, seed_hcloud, seed_proxmox
from tests.lab.clouds.engine import Engine

if TYPE_CHECKING:
    from pathlib import Path

ENDPOINT = "https://pve.lab.example:8006"
ADMIN = "root@pam!lab=11111111-2222-3333-4444-555555555555"
ACME, GLOBEX = "a" * 64, "g" * 64

VM = "proxmoxve:index/vmLegacy:VmLegacy"
FILE = "proxmoxve:index/fileLegacy:FileLegacy"
POOL = "proxmoxve:index/poolLegacy:PoolLegacy"
ROLE = "proxmoxve:index/roleLegacy:RoleLegacy"
USER = "proxmoxve:index/userLegacy:UserLegacy"
TOKEN = "proxmoxve:user/token:Token"
ACL = "proxmoxve:index/acl:Acl"

NO_SPEED = ["disks[0].speed"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "clouds"


@pytest.fixture
def pve(folder: Path) -> Engine:
    """Give an endpoint as an administrator sees it."""
    seed_proxmox(
        folder,
        ENDPOINT,
        nodes={"pve1": {"memory": 262144}, "pve2": {"memory": 262144}},
        storages={
            "ceph-vm": {"content": ["images"], "shared": True},
            "tank": {"content": ["images"], "shared": False},
            "iso-acme": {"content": ["iso"], "shared": True},
            "iso-globex": {"content": ["iso"], "shared": True},
        },
        bridges=["vmbr0", "vmbr1"],
        vnets={"vnetprod": "evpn"},
        templates=[
            {"id": 9000, "node": "pve1", "tags": ["talos"], "disk_gb": 10, "pool": "templates"},
            {
                "id": 9001,
                "node": "pve1",
                "tags": ["old"],
                "disk_gb": 10,
                "nics": [{"bridge": "vmbr0"}],
                "pool": "templates",
            },
        ],
        admin_token=ADMIN,
    )
    return Engine("proxmoxve", folder, endpoint=ENDPOINT, apiToken=ADMIN)


@pytest.fixture
def acme(folder: Path) -> Engine:
    """Give Hetzner Cloud as the project of acme sees it."""
    seed_hcloud(
        folder,
        projects={
            "acme": {"token": ACME, "images": [{"id": 501, "labels": {"os": "talos", "version": "v1.13.6"}}]},
            "globex": {"token": GLOBEX, "images": []},
        },
        server_types=["cpx32", "cpx42"],
        locations=["fsn1", "nbg1"],
    )
    return Engine("hcloud", folder, token=ACME)


def vm(**changes: Any) -> dict[str, Any]:
    """Return the inputs of a good clone; a change of None leaves the input out."""
    inputs = {
        "vmId": 2000,
        "name": "prod-dc-0",
        "nodeName": "pve1",
        "clone": {"vmId": 9000, "nodeName": "pve1", "retries": 1},
        "cpu": {"cores": 4, "type": "x86-64-v2-AES"},
        "memory": {"dedicated": 8192},
        "operatingSystem": {"type": "l26"},
        "disks": [{"interface": "scsi0", "datastoreId": "ceph-vm", "size": 40}],
        "networkDevices": [{"bridge": "vmbr1", "vlanId": 201, "mtu": 1400}],
        "tags": ["acme", "prod"],
        **changes,
    }
    return {key: value for key, value in inputs.items() if value is not None}


def machine(folder: Path, number: int | str = 2000) -> dict[str, Any]:
    """Return a machine as it really is."""
    with edit(folder, ENDPOINT) as state:
        found: dict[str, Any] = state["machines"][str(number)]
        return found


def order_faults(folder: Path, *faults: dict[str, Any]) -> None:
    """Order faults on demand."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "faults.json").write_text(json.dumps(list(faults)))
