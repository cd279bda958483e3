"""Two tenants, the resources that they may make, and small changes of them."""

from __future__ import annotations

import copy
from typing import Any

LAB = "https://pve.lab.example:8006"
DC = "https://pve.dc.example:8006"


def row(name: str, tenant: str, location: str, vlan: int, bridge: str = "vmbr1") -> dict[str, Any]:
    return {
        "name": name,
        "zone": "workers",
        "bridge": bridge,
        "vlan": vlan,
        "tenant": tenant,
        "namespace": f"tenant-{tenant}",
        "location": location,
    }


CONFIG: dict[str, Any] = {
    "stacks": {
        "lab": {"kind": "environment"},
        "lab-acme": {"kind": "tenant", "tenant": "acme", "namespace": "tenant-acme"},
        "lab-globex": {"kind": "tenant", "tenant": "globex", "namespace": "tenant-globex"},
        "lab-initech": {"kind": "tenant", "tenant": "initech", "namespace": "tenant-initech"},
    },
    "locations": {
        "lab": {"type": "proxmox", "endpoint": LAB},
        "dc": {"type": "proxmox", "endpoint": DC},
        "fsn1": {"type": "hcloud"},
    },
    "networks": [
        row("acme-lab", "acme", "lab", 201),
        row("acme-dc", "acme", "dc", 301),
        row("globex-lab", "globex", "lab", 202),
        row("globex-storage", "globex", "lab", 212, "vmbr2"),
    ],
}

VM = "proxmoxve:index/vmLegacy:VmLegacy"
FILE = "proxmoxve:index/fileLegacy:FileLegacy"
SERVER = "hcloud:index/server:Server"
PROXMOX: tuple[str, dict[str, Any]] = (
    "pulumi:providers:proxmoxve",
    {"endpoint": LAB, "apiToken": "globex@pve!lab=uuid"},
)
HCLOUD: tuple[str, dict[str, Any]] = ("pulumi:providers:hcloud", {"token": "t" * 64})
KUBERNETES: tuple[str, dict[str, Any]] = ("pulumi:providers:kubernetes", {"context": "lab-globex"})


def nic(vlan: Any = 202, bridge: Any = "vmbr1", **more: Any) -> dict[str, Any]:
    return {"bridge": bridge, "vlanId": vlan, "model": "virtio", **more}


def vm(*nics: Any, **more: Any) -> dict[str, Any]:
    """Make a VM that globex may have in `lab`, with the NICs given (one of its own by default)."""
    return {
        "name": "prod-small-0",
        "nodeName": "pve1",
        "vmId": 2100,
        "clone": {"vmId": 9000, "nodeName": "pve1", "full": True, "retries": 1},
        "networkDevices": list(nics) or [nic()],
        "disks": [{"interface": "scsi0", "datastoreId": "ceph-vm", "size": 20}],
        "cdrom": {"fileId": "iso-globex:iso/seed.iso"},
        **more,
    }


def provider(endpoint: Any) -> tuple[str, dict[str, Any]]:
    return PROXMOX[0], {**PROXMOX[1], "endpoint": endpoint}


def pool_ref(name: Any = "globex-lab") -> dict[str, Any]:
    return {"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": name}


def default_nic(vlan: Any = 202, bridge: Any = "vmbr1", pool: Any = "globex-lab") -> dict[str, Any]:
    return {"bridge": bridge, "vlan": vlan, "model": "virtio", "ipv4PoolRef": pool_ref(pool)}


def network_v1(*more: Any, default: Any = None) -> dict[str, Any]:
    found: dict[str, Any] = {"default": default or default_nic()}
    return {**found, "additionalDevices": list(more)} if more else found


def network_v2(*devices: Any) -> dict[str, Any]:
    return {"networkDevices": list(devices) or [{"name": "net0", "bridge": "vmbr1", "vlan": 202, "defaultIPv4": True}]}


def k8s(kind: str, spec: Any, group: str = "infrastructure", version: str = "v1alpha1") -> tuple[str, dict[str, Any]]:
    """Make type token and inputs of an object of globex."""
    group = f"{group}.cluster.x-k8s.io" if group else "cluster.x-k8s.io"
    api_version = f"{group}/{version}"
    body = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "prod-small", "namespace": "tenant-globex"},
        "spec": copy.deepcopy(spec),
    }
    return f"kubernetes:{api_version}:{kind}", body


def template(network: Any = None, version: str = "v1alpha1") -> tuple[str, dict[str, Any]]:
    usual = network_v1() if version == "v1alpha1" else network_v2()
    spec = {"template": {"spec": {"numCores": 2, "network": usual if network is None else network}}}
    return k8s("ProxmoxMachineTemplate", spec, version=version)


def machine(network: Any = None, version: str = "v1alpha1") -> tuple[str, dict[str, Any]]:
    usual = network_v1() if version == "v1alpha1" else network_v2()
    return k8s("ProxmoxMachine", {"network": usual if network is None else network}, version=version)
