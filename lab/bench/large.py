"""Environments larger than anybody's, as the dicts that stack files hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

if TYPE_CHECKING:
    from pathlib import Path

FIRST_VLAN = 100
IDS = 100


def environment(tenants: int) -> dict[str, Any]:
    """Give an environment with one Proxmox location and one network per tenant; `tenants` up to 1,000."""
    names = [f"t{index:03}" for index in range(tenants)]
    return {
        "management": {"context": "bench", "generation": "capi-1.10"},
        "tenants": {name: {"namespace": f"tenant-{name}", "clusters": ["prod"]} for name in names},
        "locations": {
            "lab": {
                "type": "proxmox",
                "endpoint": "https://pve.bench.example:8006",
                "nodes": {"pve1": {"memory": "4096Gi"}, "pve2": {"memory": "4096Gi"}},
                "storage": {"name": "ceph-vm", "shared": True},
                "template": {"tags": ["talos"], "id": 9000, "node": "pve1"},
                "tenants": {
                    name: {"vmIds": _ids(index, 0, IDS), "isoStorage": f"iso-{name}"}
                    for index, name in enumerate(names)
                },
            }
        },
        "zones": {
            "workers": {
                "bridge": "vmbr1",
                "locations": ["lab"],
                "networks": {
                    f"{name}-lab": {
                        "tenant": name,
                        "location": "lab",
                        "vlan": FIRST_VLAN + index,
                        "cidr": f"172.{16 + index // 256}.{index % 256}.0/24",
                        "gateway": f"172.{16 + index // 256}.{index % 256}.1",
                        "range": f"172.{16 + index // 256}.{index % 256}.10-172.{16 + index // 256}.{index % 256}.250",
                    }
                    for index, name in enumerate(names)
                },
            }
        },
    }


def tenant(index: int, pools: int) -> dict[str, Any]:
    """Give a tenant of it, with `pools` pools of one to two machines (up to 33)."""
    return {
        "environment": "bench",
        "clusters": {
            "prod": {
                "home": "lab",
                "kubernetes": "v1.35.6",
                "talos": "v1.13.6",
                "controlPlane": {"type": "kamaji", "address": f"203.0.113.{index % 250 + 1}"},
                "connectivity": "kilo",
                "pools": {
                    f"pool{number}": {
                        "backend": "capi-proxmox",
                        "network": f"t{index:03}-lab",
                        "vmIds": _ids(index, number * 3, 3),
                        "size": {"cpu": 4, "memory": "8Gi", "disk": "40Gi"},
                        "scale": {"min": 1, "max": 2},
                    }
                    for number in range(pools)
                },
            }
        },
    }


def write(folder: Path, tenants: int, pools: int) -> None:
    """Write the environment `bench` and all its tenants as stack files."""
    yaml = YAML()
    files = {"bench": {"hybrid:environment": environment(tenants)}}
    for index in range(tenants):
        files[f"bench-t{index:03}"] = {"hybrid:tenant": tenant(index, pools)}
    for stack, config in files.items():
        with (folder / f"Pulumi.{stack}.yaml").open("w") as file:
            yaml.dump({"config": config}, file)


def _ids(index: int, offset: int, count: int) -> str:
    first = 100_000 + index * IDS + offset
    return f"{first}-{first + count - 1}"
