"""Objects as a platform or a controller writes them, in the versions of both generations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from manifests.common import pve_secret
from manifests.generations import KINDS, api_version

if TYPE_CHECKING:
    from manifests.guard_cases.world import World
    from settings.table import Row

Body = dict[str, Any]
IPAM = "ipam.cluster.x-k8s.io"
V1ALPHA1 = "v1alpha1"


def ref(name: str, kind: str = "InClusterIPPool") -> dict[str, str]:
    """Give a reference to an address pool."""
    return {"apiGroup": IPAM, "kind": kind, "name": name}


@dataclass(frozen=True)
class Nic:
    """A NIC of a machine in no version's words; None is left out."""

    bridge: str | None
    vlan: int | None
    v4: dict[str, str] | None = None
    v6: dict[str, str] | None = None
    name: str | None = None

    def but(self, **changes: Any) -> Nic:
        """Give the same NIC with something changed."""
        return replace(self, **changes)

    def body(self, version: str) -> Body:
        """Write it in a version of capmox's API."""
        found: Body = {"bridge": self.bridge, "vlan": self.vlan, "model": "virtio"}
        if version == V1ALPHA1:
            found |= {"ipv4PoolRef": self.v4, "ipv6PoolRef": self.v6}
        else:
            found["ipPoolRef"] = [each for each in (self.v4, self.v6) if each] or None
        return {key: value for key, value in found.items() if value is not None}


def network(nics: list[Nic], version: str) -> Body:
    """Write a machine's network: the first NIC is its default one, net0."""
    named = [(nic.name or f"net{index}", nic) for index, nic in enumerate(nics)]
    if version == V1ALPHA1:
        found: Body = {"default": nics[0].body(version)} if nics[0].name is None else {}
        more = [{"name": name, **nic.body(version)} for name, nic in named if name != "net0"]
        return {**found, **({"additionalDevices": more} if more else {})}
    return {
        "networkDevices": [
            {"name": name, **nic.body(version), **({"defaultIPv4": True} if name == "net0" else {})}
            for name, nic in named
        ]
    }


def own_nic(world: World, row: Row, *, default: bool = True) -> Nic:
    """Give a NIC on a row as it must be: on the cluster's own range (net0 of capi-1.12) it names no pool."""
    return Nic(row.bridge, row.vlan, None if default and world.next_generation else ref(row.name))


def machine_spec(world: World, row: Row, nics: list[Nic] | None = None, **changes: Any) -> Body:
    """Give a machine's spec on a row's location; `changes` are fields, None leaves one out."""
    location = world.location(row)
    spec: Body = {
        "templateSelector": {"matchTags": sorted(location.template.tags)},
        "full": True,
        "storage": location.storage.name,
        "pool": world.resource_pool(row.tenant),
        "numSockets": 1,
        "numCores": 4,
        "memoryMiB": 8192,
        "disks": {"bootVolume": {"disk": "scsi0", "sizeGb": 40}},
        "checks": {"skipCloudInitStatus": True, "skipQemuGuestAgent": True},
        "metadataSettings": {"providerIDInjection": True},
        "description": "guard case",
        "network": network(nics or [own_nic(world, row)], world.machines),
        **changes,
    }
    return {key: value for key, value in spec.items() if value is not None}


def machine(world: World, kind: str, namespace: str, spec: Body, **meta: Any) -> Body:
    """Give a ProxmoxMachine, or a template of them, in a namespace."""
    return {
        "apiVersion": f"{KINDS[kind].group}/{world.machines}",
        "kind": kind,
        "metadata": {"namespace": namespace, **meta},
        "spec": {"template": {"spec": spec}} if kind.endswith("Template") else spec,
    }


def ip_config(row: Row, addresses: list[str], **changes: Any) -> Body:
    """Give an address range of a ProxmoxCluster."""
    found: Body = {
        "addresses": addresses,
        "gateway": str(row.gateway),
        "prefix": row.cidr.prefixlen,
        "metric": 100,
        **changes,
    }
    return {key: value for key, value in found.items() if value is not None}


def own_range(world: World, row: Row) -> Body:
    """Give the range that a cluster on a row must have: the sentinel, or in capi-1.12 one of the row's ranges."""
    return ip_config(row, [row.addresses[0]] if world.next_generation else [str(row.gateway)])


def cluster(world: World, kind: str, namespace: str, row: Row, **changes: Any) -> Body:
    """Give a ProxmoxCluster, or a template of them, on a row's location; None leaves a field out."""
    spec: Body = {
        "externalManagedControlPlane": True,
        "allowedNodes": sorted(world.location(row).nodes),
        "dnsServers": [str(server) for server in row.dns_servers],
        "ipv4Config": own_range(world, row),
        "credentialsRef": {"name": pve_secret(row.location), "namespace": namespace},
        **changes,
    }
    spec = {key: value for key, value in spec.items() if value is not None}
    return {
        "apiVersion": f"{KINDS[kind].group}/{world.machines}",
        "kind": kind,
        "metadata": {"namespace": namespace},
        "spec": {"template": {"spec": spec}} if kind.endswith("Template") else spec,
    }


def pool(world: World, namespace: str, name: str, addresses: list[str], row: Row, **changes: Any) -> Body:
    """Give an InClusterIPPool with a row's gateway and prefix."""
    return {
        "apiVersion": api_version("InClusterIPPool", world.generation),
        "kind": "InClusterIPPool",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"addresses": addresses, "gateway": str(row.gateway), "prefix": row.cidr.prefixlen, **changes},
    }


def where(world: World, kind: str, namespace: str) -> str:
    """Say which objects a case is about."""
    return f"{kind} in {namespace}" + (f", asked for in {world.machines}" if world.older_version else "")


def labelled(body: Body) -> Body:
    """Give the object with another label: a change that touches nothing that is judged."""
    meta = body["metadata"]
    return {**body, "metadata": {**meta, "labels": {**meta.get("labels", {}), "guard-case": "changed"}}}
