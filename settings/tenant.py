"""A tenant's stack file: its clusters and their pools (shape only; rules are in `rules`)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from settings.environment import Model
from settings.fields import Address, Disk, Label, Memory, NodeName, ServerType, Version, VmIds, Word

Count = Annotated[int, Field(ge=0, le=1000)]


class Size(Model):
    """A machine's size: cores, memory in MiB, disk in GiB."""

    cpu: Annotated[int, Field(ge=1, le=512)]
    memory: Memory
    disk: Disk


class Scale(Model):
    """Bounds within which an autoscaler moves a pool."""

    min: Count
    max: Count


class Rollout(Model):
    """How many machines a rolling update adds and takes away at a time."""

    surge: Count = 1
    unavailable: Count = 0


class Pool(Model):
    """What every pool may say, whatever its backend."""

    labels: dict[str, str] = Field(default_factory=dict)
    taints: tuple[str, ...] = Field(default=(), strict=False)


class Counted(Pool):
    """A pool of a fixed number of machines, made by the program itself."""

    replicas: Count


class CapiProxmoxPool(Pool):
    """Machines that Cluster API makes on Proxmox VE."""

    backend: Literal["capi-proxmox"]
    network: Label
    vm_ids: VmIds
    size: Size
    replicas: Count | None = None
    scale: Scale | None = None
    rollout: Rollout = Rollout()


class ProxmoxVmPool(Counted):
    """VMs that the program clones itself."""

    backend: Literal["proxmox-vm"]
    network: Label
    vm_ids: VmIds
    size: Size
    nodes: tuple[NodeName, ...] = Field(default=(), strict=False)


class HcloudServerPool(Counted):
    """Hetzner Cloud servers that the program makes itself."""

    backend: Literal["hcloud-server"]
    location: Word
    server_type: ServerType


AnyPool = Annotated[CapiProxmoxPool | ProxmoxVmPool | HcloudServerPool, Field(discriminator="backend")]

NOT_AVAILABLE: dict[str, tuple[str, ...]] = {
    "backend": ("hetzner-autoscaler", "capi-hetzner"),
    "controlPlane": ("existing", "external"),
}
"""Values that the design names and that are not built yet."""


class ControlPlane(Model):
    """Where the tenant cluster's API server is: hosted by Kamaji, at an address that workers reach."""

    type: Literal["kamaji"]
    address: Address


class Cluster(Model):
    """One tenant Kubernetes cluster. `network` names the home row when the tenant has several there."""

    home: Word
    network: Label | None = None
    kubernetes: Version
    talos: Version
    control_plane: ControlPlane
    connectivity: Literal["kilo", "cilium-wireguard", "routed"]
    pools: dict[Label, AnyPool] = Field(default_factory=dict)


class TenantStack(Model):
    """`hybrid:tenant`."""

    environment: Word
    clusters: dict[Word, Cluster] = Field(default_factory=dict)
