"""Rules of an environment's locations."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from settings.fields import IdRange
from settings.places import choose, names
from settings.rules.views import problem, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.environment import ProxmoxLocation, Template
    from settings.problems import Problem
    from settings.rules.views import EnvironmentView

VSWITCH_VLANS = range(4000, 4092)
"""https://docs.hetzner.com/robot/dedicated-server/network/vswitch/: VLAN ids 4000 to 4091."""
VSWITCH_MTU = 1400
"""The same page: the largest packet that a vSwitch carries."""

EVERYBODYS_STORAGES = ("local", "local-lvm", "local-zfs")
"""What Proxmox VE's installer makes on every node (pve-installer): ISOs, backups and disks of whoever wants."""

_PRIVATE = (IPv4Network("10.0.0.0/8"), IPv4Network("172.16.0.0/12"), IPv4Network("192.168.0.0/16"))
"""RFC 1918; https://docs.hetzner.cloud/reference/cloud#networks: an ip_range is one of these or a part of one."""


def endpoints_are_one_location_each(view: EnvironmentView) -> Iterator[Problem]:
    """Refuse two locations with one endpoint: it would be one Proxmox VE cluster with two sets of ids."""
    owners: dict[str, str] = {}
    for name, location in view.proxmox.items():
        if location.endpoint in owners:
            why = f"location {owners[location.endpoint]} has this endpoint: one Proxmox VE cluster is one location"
            fix = f"write this location's own endpoint, or use location {owners[location.endpoint]}"
            yield problem("ENDPOINT_TAKEN", ("locations", name, "endpoint"), location.endpoint, why, fix)
        owners.setdefault(location.endpoint, name)


def authorities_are_certificates(view: EnvironmentView) -> Iterator[Problem]:
    """Require that what is given as a private CA is a certificate, and no key."""
    for name, location in view.proxmox.items():
        if location.ca is None:
            continue
        if "PRIVATE KEY" in location.ca or "-----BEGIN CERTIFICATE-----" not in location.ca:
            why = "a private CA is given as its certificate in PEM, and never with its key"
            fix = "write ca: | and below it the lines from -----BEGIN CERTIFICATE----- on, or leave it out"
            yield problem("BAD_CA", ("locations", name, "ca"), None, why, fix)


def templates_can_be_found(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a template stands on a node that is there, outside every tenant's ids, and has each tag once.

    Former templates too, but for the node, which may be gone.
    """
    for name, location in view.proxmox.items():
        template = location.template
        if template.node not in location.nodes:
            why = f"location {name} has no node of this name"
            place = ("locations", name, "template", "node")
            yield problem("UNKNOWN_NODE", place, template.node, why, choose(template.node, location.nodes))
        yield from _template_problems(("locations", name, "template"), template, location)
        for index, former in enumerate(location.former_templates):
            yield from _template_problems(("locations", name, "formerTemplates", index), former, location)


def _template_problems(
    place: tuple[str | int, ...], template: Template, location: ProxmoxLocation
) -> Iterator[Problem]:
    for tenant, own in sorted(location.tenants.items()):
        if own.vm_ids.first <= template.id <= own.vm_ids.last:
            why = f"the id is among those of tenant {tenant} ({own.vm_ids}), whose machines would take it"
            yield problem("ID_TAKEN", (*place, "id"), template.id, why, "give the template an id of no tenant")
            break
    for index, tag in enumerate(template.tags):
        if tag in template.tags[:index]:
            why = "the tag stands there twice"
            yield problem("DUPLICATE_NAME", (*place, "tags", index), tag, why, "keep one of them")


def template_pools_are_the_administrators(view: EnvironmentView) -> Iterator[Problem]:
    """Require that tenants clone from a pool in which no tenant can put a machine."""
    for name, location in view.proxmox.items():
        pool = location.template.pool
        _, _, tenant = pool.partition("-")
        if tenant in view.examined.names("tenants") | set(location.tenants):
            why = f"a pool of this name holds the machines of tenant {tenant}: others could clone those"
            fix = "a pool of its own for templates, for example templates"
            yield problem("POOL_TAKEN", ("locations", name, "template", "pool"), pool, why, fix)


def tenants_are_known(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a location gives places to tenants that the environment has."""
    known = view.examined.names("tenants")
    for name, location in sorted(view.environment.locations.items()):
        for tenant in sorted(set(location.tenants) - known):
            why = "the environment has no tenant of this name"
            yield problem("UNKNOWN_TENANT", ("locations", name, "tenants", tenant), tenant, why, choose(tenant, known))


def ids_are_one_tenants(view: EnvironmentView) -> Iterator[Problem]:
    """Require that no VM id of a location belongs to two tenants."""
    for name, location in view.proxmox.items():
        taken: list[tuple[str, IdRange]] = []
        after = max((own.vm_ids.last for own in location.tenants.values()), default=0) + 1
        for tenant, own in sorted(location.tenants.items()):
            clash = next(((other, ids) for other, ids in taken if ids.overlaps(own.vm_ids)), None)
            if clash:
                why = f"tenant {clash[0]} has {clash[1]} here, and an id is one tenant's"
                place = ("locations", name, "tenants", tenant, "vmIds")
                free = IdRange(after, after + len(own.vm_ids) - 1)
                yield problem("IDS_OVERLAP", place, own.vm_ids, why, f"for example {free}")
            taken.append((tenant, own.vm_ids))


def iso_storages_are_one_tenants(view: EnvironmentView) -> Iterator[Problem]:
    """Require that the storage of machine configs' ISOs, which hold secrets, is one tenant's, not the disks'."""
    for name, location in view.proxmox.items():
        owners: dict[str, str] = {}
        for tenant, own in sorted(location.tenants.items()):
            place = ("locations", name, "tenants", tenant, "isoStorage")
            fix = f"make a storage for it, for example iso-{tenant}"
            if own.iso_storage == location.storage.name:
                why = "the disks of all tenants are there; the ISOs hold one tenant's machine configs"
                yield problem("ISO_STORAGE_TAKEN", place, own.iso_storage, why, fix)
            elif own.iso_storage in EVERYBODYS_STORAGES:
                why = "every node has it for everybody's ISOs and backups, and the tenant could delete all of it"
                yield problem("ISO_STORAGE_TAKEN", place, own.iso_storage, why, fix)
            elif own.iso_storage in owners:
                why = f"tenant {owners[own.iso_storage]} has this ISO storage and could read the machine configs"
                yield problem("ISO_STORAGE_TAKEN", place, own.iso_storage, why, fix)
            owners.setdefault(own.iso_storage, tenant)


def uplinks_are_legal(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a vSwitch has the VLANs and the MTU that Hetzner gives it."""
    for name, location in view.proxmox.items():
        if location.uplink is None:
            continue
        place = ("locations", name, "uplink")
        vswitch, mtu = location.uplink.vswitch, location.uplink.mtu
        if vswitch not in VSWITCH_VLANS:
            near = min(max(vswitch, VSWITCH_VLANS[0]), VSWITCH_VLANS[-1])
            why = f"Hetzner's vSwitches have VLANs {VSWITCH_VLANS[0]} to {VSWITCH_VLANS[-1]}"
            yield problem("VSWITCH_VLAN", (*place, "vswitch"), vswitch, why, f"the nearest is {near}")
        if mtu > VSWITCH_MTU:
            why = "a vSwitch drops larger packets"
            yield problem("UPLINK_MTU", (*place, "mtu"), mtu, why, f"the largest is {VSWITCH_MTU}")
        if len(location.nodes) > 1:
            why = "VLANs inside a vSwitch's own VLAN are not verified between servers at Hetzner"
            fix = "try a machine's VLAN between two of the nodes before relying on it"
            yield warning("VSWITCH_NODES", place, names(location.nodes), why, fix)


def subnets_are_inside(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a Hetzner Cloud subnet is part of its network."""
    for name, location in view.hcloud.items():
        for tenant, own in sorted(location.tenants.items()):
            if not own.subnet.subnet_of(own.cidr):
                place = ("locations", name, "tenants", tenant, "subnet")
                why = f"it is not part of the network {own.cidr}"
                prefix = max(own.subnet.prefixlen, own.cidr.prefixlen)
                inside = next(own.cidr.subnets(new_prefix=prefix))
                yield problem("SUBNET_OUTSIDE", place, own.subnet, why, f"for example {inside}")


def clouds_are_private(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a Hetzner Cloud network has private addresses: the API takes no others."""
    for name, location in view.hcloud.items():
        for tenant, own in sorted(location.tenants.items()):
            if not any(own.cidr.subnet_of(private) for private in _PRIVATE):
                place = ("locations", name, "tenants", tenant, "cidr")
                why = "Hetzner Cloud's networks have private addresses only (RFC 1918)"
                yield problem("CIDR_NOT_PRIVATE", place, own.cidr, why, f"a part of {names(_PRIVATE)}")


def locations_are_used(view: EnvironmentView) -> Iterator[Problem]:
    """Warn of a location that no tenant can use: it is probably half written."""
    for name, location in sorted(view.environment.locations.items()):
        if not view.examined.names("locations", name, "tenants"):
            why = "no tenant has a place in this location"
            yield warning("UNUSED", ("locations", name), location.type, why, "give a tenant a place, or leave it out")
