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
        "addresses": [f"10.{vlan}.0.20-10.{vlan}.0.99"],
        "gateway": f"10.{vlan}.0.1",
        "prefix": 24,
    }


def place(endpoint: str, nodes: list[str], storage: str, **tenants: list[int]) -> dict[str, Any]:
    """Make a Proxmox VE location of the environment `lab`; tenants with their VM ids."""
    return {
        "type": "proxmox",
        "endpoint": endpoint,
        "nodes": nodes,
        "storage": storage,
        "templates": [
            {"id": 9000, "node": nodes[0], "tags": ["talos", "v1.13.6"]},
            {"id": 8999, "node": nodes[0], "tags": ["talos", "v1.13.5"]},
        ],
        "templatePool": "templates",
        "tenants": {
            name: {"pool": f"lab-{name}", "vmIds": ids, "isoStorage": f"iso-{name}"} for name, ids in tenants.items()
        },
    }


CONFIG: dict[str, Any] = {
    "stacks": {
        "lab": {"kind": "environment", "context": "cozystack-lab"},
        "lab-acme": {"kind": "tenant", "tenant": "acme", "namespace": "tenant-acme"},
        "lab-globex": {"kind": "tenant", "tenant": "globex", "namespace": "tenant-globex"},
        "lab-initech": {"kind": "tenant", "tenant": "initech", "namespace": "tenant-initech"},
    },
    "locations": {
        "lab": place(LAB, ["pve1", "pve2"], "ceph-vm", acme=[2000, 2099], globex=[2100, 2199]),
        "dc": place(DC, ["dc1"], "tank", acme=[3000, 3099]),
        "fsn1": {
            "type": "hcloud",
            "region": "fsn1",
            "tenants": {
                "acme": {"cidr": "10.100.0.0/16", "subnet": "10.100.1.0/24"},
                "globex": {"cidr": "10.101.0.0/16", "subnet": "10.101.1.0/24"},
            },
        },
    },
    "networks": [
        row("acme-lab", "acme", "lab", 201),
        row("acme-dc", "acme", "dc", 301),
        row("globex-lab", "globex", "lab", 202),
        row("globex-storage", "globex", "lab", 212, "vmbr2"),
    ],
    "openBridges": [{"bridge": "vmbr8", "vlans": [[100, 199], [300, 300]]}, {"bridge": "vmbr9"}],
}

VM = "proxmoxve:index/vmLegacy:VmLegacy"
FILE = "proxmoxve:index/fileLegacy:FileLegacy"
SERVER = "hcloud:index/server:Server"
PROXMOX: tuple[str, dict[str, Any]] = (
    "pulumi:providers:proxmoxve",
    {"endpoint": LAB, "apiToken": "lab-globex@pve!hybrid=uuid"},
)
HCLOUD: tuple[str, dict[str, Any]] = ("pulumi:providers:hcloud", {"token": "t" * 64})
KUBERNETES: tuple[str, dict[str, Any]] = (
    "pulumi:providers:kubernetes",
    {"context": "lab-globex", "clusterIdentifier": "lab", "enableSecretMutable": "true", "version": "4.34.2"},
)


def kubernetes(stack: str) -> tuple[str, dict[str, Any]]:
    """Give the provider with the context that a stack has."""
    return KUBERNETES[0], {**KUBERNETES[1], "context": {"lab": "cozystack-lab"}.get(stack, stack)}


def nic(vlan: Any = 202, bridge: Any = "vmbr1", **more: Any) -> dict[str, Any]:
    return {"bridge": bridge, "vlanId": vlan, "model": "virtio", **more}


def vm(*nics: Any, **more: Any) -> dict[str, Any]:
    """Make a VM that globex may have in `lab`, with the NICs given (one of its own by default)."""
    return {
        "name": "prod-small-0",
        "nodeName": "pve1",
        "vmId": 2100,
        "poolId": "lab-globex",
        "clone": {"vmId": 9000, "nodeName": "pve1", "full": True, "retries": 1},
        "networkDevices": list(nics) or [nic()],
        "disks": [{"interface": "scsi0", "datastoreId": "ceph-vm", "size": 20}],
        "cdrom": {"fileId": "iso-globex:iso/seed.iso"},
        **more,
    }


def provider(endpoint: Any, tenant: str = "globex") -> tuple[str, dict[str, Any]]:
    return PROXMOX[0], {"endpoint": endpoint, "apiToken": f"lab-{tenant}@pve!hybrid=uuid"}


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


def machine_spec(network: Any = None, version: str = "v1alpha1", **more: Any) -> dict[str, Any]:
    """Make what a machine of globex in `lab` is made of."""
    usual = network_v1() if version == "v1alpha1" else network_v2()
    return {
        "numCores": 2,
        "pool": "lab-globex",
        "storage": "ceph-vm",
        "templateSelector": {"matchTags": ["talos", "v1.13.6"]},
        "vmIDRange": {"start": 2110, "end": 2119},
        "network": usual if network is None else network,
        **more,
    }


def template(network: Any = None, version: str = "v1alpha1", **more: Any) -> tuple[str, dict[str, Any]]:
    spec = {"template": {"spec": machine_spec(network, version, **more)}}
    return k8s("ProxmoxMachineTemplate", spec, version=version)


def machine(network: Any = None, version: str = "v1alpha1", **more: Any) -> tuple[str, dict[str, Any]]:
    return k8s("ProxmoxMachine", machine_spec(network, version, **more), version=version)


def iso(**more: Any) -> dict[str, Any]:
    """Make an upload that globex may have in `lab`."""
    source = {"path": ".build/iso/x.iso", "fileName": "prod-small-0-x.iso"}
    usual = {"contentType": "iso", "datastoreId": "iso-globex", "nodeName": "pve1", "sourceFile": source}
    return {**usual, **more}


def server(**more: Any) -> dict[str, Any]:
    """Make a server that globex may have in Hetzner Cloud."""
    return {
        "name": "prod-cloud-0",
        "serverType": "cpx32",
        "location": "fsn1",
        "image": "1",
        "userData": "x",
        "publicNets": [{"ipv4Enabled": True, "ipv6Enabled": False}],
        "networks": [{"subnetId": "17-10.101.1.0/24", "aliasIps": []}],
        **more,
    }


def cluster(version: str = "v1alpha1", **more: Any) -> tuple[str, dict[str, Any]]:
    """Make a ProxmoxCluster that globex may have."""
    addresses = ["10.202.0.1"] if version == "v1alpha1" else ["10.202.0.20-10.202.0.99"]
    spec = {
        "externalManagedControlPlane": True,
        "allowedNodes": ["pve1"],
        "dnsServers": ["10.202.0.1"],
        "ipv4Config": {"addresses": addresses, "gateway": "10.202.0.1", "prefix": 24, "metric": 100},
        "credentialsRef": {"name": "pve-lab", "namespace": "tenant-globex"},
        **more,
    }
    return k8s("ProxmoxCluster", {key: value for key, value in spec.items() if value is not None}, version=version)
