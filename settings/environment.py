"""The environment's stack file: management cluster, tenants, locations, zones (shape only; rules are in `rules`)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from settings.fields import (
    Address,
    Bridge,
    Cidr,
    Endpoint,
    Label,
    NodeMemory,
    NodeName,
    PlainText,
    PoolName,
    Ranges,
    StorageName,
    Tag,
    TemplateDisk,
    Vlan,
    VlanRange,
    VmIds,
    Word,
)

POD_CIDR = "10.243.0.0/16"
SERVICE_CIDR = "10.95.0.0/16"

Mode = Literal["enforce", "audit"]
Generation = Literal["capi-1.10", "capi-1.12"]


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


class Model(BaseModel):
    """Base of every part of a stack file: nothing unknown, nothing converted in silence, spelled as in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, alias_generator=_camel)


class Controllers(Model):
    """User names under which the controllers of the management cluster speak to its API.

    `charts` is who writes the platform's own charts: it may set what is closed to tenants in a control plane. The
    default is Cozystack's: there every helm-controller, the shared one and each that serves a part of the tenants,
    runs as the ServiceAccount `flux` in `cozy-fluxcd` (cozystack/cozystack: internal/fluxinstall/manifests/fluxcd.yaml
    and fluxcd-tenants.yaml, `serviceAccountName: flux`; packages/system/flux-shard-operator clones the former's
    helm-controller). Releases before that installed Flux by its operator: `…:cozy-fluxcd:helm-controller`.
    """

    capmox: str = "system:serviceaccount:capmox-system:capmox-controller-manager"
    capi: str = "system:serviceaccount:capi-system:capi-manager"
    charts: str = "system:serviceaccount:cozy-fluxcd:flux"


class Management(Model):
    """The management cluster.

    `open_bridges` are no zone's, and open to every tenant: with any VLAN, or with those of `open_vlans` alone.
    """

    context: PlainText
    generation: Generation
    protect: bool = False
    guard: Mode = "enforce"
    open_bridges: tuple[Bridge, ...] = Field(default=(), strict=False)
    open_vlans: dict[Bridge, Annotated[tuple[VlanRange, ...], Field(strict=False, min_length=1)]] = Field(
        default_factory=dict
    )
    controllers: Controllers = Controllers()
    kamaji_service_ports: bool = False
    pod_cidr: Cidr = Field(default=POD_CIDR, validate_default=True)
    service_cidr: Cidr = Field(default=SERVICE_CIDR, validate_default=True)


class Tenant(Model):
    """A customer: one namespace, and the names of the tenant clusters that its stack may make.

    Another `rotation` is another token of its own identity in the management cluster.
    """

    namespace: Label
    clusters: tuple[Word, ...] = Field(strict=False)
    rotation: Annotated[int, Field(ge=1, le=9999)] = 1


class Node(Model):
    """A Proxmox VE node."""

    memory: NodeMemory


class Storage(Model):
    """Where a location's disks go."""

    name: StorageName
    shared: bool


class Template(Model):
    """A location's VM template: `capi-proxmox` finds it by its set of tags, `proxmox-vm` clones `id` from `node`.

    `disk` is the size of its disk, where it is known: no machine's can be smaller. `pool` is the resource pool in which
    the administrator keeps the templates: tenants may clone what is in it, and nothing else.
    """

    tags: tuple[Tag, ...] = Field(strict=False, min_length=1)
    id: Annotated[int, Field(ge=100, le=999_999_999)]
    node: NodeName
    disk: TemplateDisk | None = None
    pool: PoolName = "templates"


class Uplink(Model):
    """A Hetzner vSwitch under the location's bridge: its VLAN and the MTU that the operator set on it."""

    vswitch: Vlan
    mtu: Annotated[int, Field(ge=576, le=65520)] = 1400


class ProxmoxTenant(Model):
    """What one tenant has in one Proxmox location. Another `rotation` is another token."""

    vm_ids: VmIds
    iso_storage: StorageName
    rotation: Annotated[int, Field(ge=1, le=9999)] = 1


class ProxmoxLocation(Model):
    """One Proxmox VE cluster with its own API endpoint; `pve` is the major version that it runs.

    `former_templates` are those from which machines that still stand were made: nothing new is made from them.
    """

    type: Literal["proxmox"]
    endpoint: Endpoint
    pve: Literal[8, 9] = 9
    ca: str | None = None
    nodes: dict[NodeName, Node] = Field(min_length=1)
    storage: Storage
    template: Template
    former_templates: tuple[Template, ...] = Field(default=(), strict=False)
    region: Label | None = None
    dns_servers: tuple[Address, ...] = Field(default=(), strict=False)
    uplink: Uplink | None = None
    tenants: dict[Word, ProxmoxTenant] = Field(default_factory=dict)


class Image(Model):
    """A Hetzner Cloud image, found by its labels in each tenant's project."""

    selector: PlainText


class HcloudTenant(Model):
    """One tenant's Hetzner Cloud network: its whole range, and the subnet its servers stand in."""

    cidr: Cidr
    subnet: Cidr


class HcloudLocation(Model):
    """One Hetzner Cloud location; each tenant has a project, and so a token, of its own there."""

    type: Literal["hcloud"]
    region: Literal["fsn1", "nbg1", "hel1", "ash", "hil", "sin"]
    image: Image
    tenants: dict[Word, HcloudTenant] = Field(default_factory=dict)


Location = Annotated[ProxmoxLocation | HcloudLocation, Field(discriminator="type")]


class Network(Model):
    """One row of a zone's table."""

    tenant: Word
    location: Word
    vlan: Vlan
    cidr: Cidr
    gateway: Address
    range: Ranges


class Zone(Model):
    """One bridge name and its table of networks."""

    bridge: Bridge
    locations: tuple[Word, ...] = Field(strict=False, min_length=1)
    mode: Mode = "enforce"
    native_vlan: Vlan = 1
    reserved: dict[Word, Annotated[tuple[VlanRange, ...], Field(strict=False)]] = Field(default_factory=dict)
    retired: tuple[VlanRange, ...] = Field(default=(), strict=False)
    networks: dict[Label, Network] = Field(default_factory=dict)


class Environment(Model):
    """`hybrid:environment`."""

    management: Management
    tenants: dict[Word, Tenant] = Field(default_factory=dict)
    locations: dict[Word, Location] = Field(default_factory=dict)
    zones: dict[Label, Zone] = Field(default_factory=dict)
