"""Networks as an environment's stack makes them: each must be one that the table gives somebody.

Bridges and VLANs of Proxmox VE's nodes, SDN zones and vnets, networks and subnets of Hetzner Cloud.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tenant_isolation.providers import hcloud_problems, proxmox_place
from tenant_isolation.reading import ABSENT, read, whole_number
from tenant_isolation.verdicts import listed, shown, strange, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tenant_isolation.table import Proxmox
    from tenant_isolation.verdicts import Case

COMMON = words("address address6 autostart comment gateway gateway6 mtu name nodeName timeoutReload")
BRIDGE_FIELDS = COMMON | words("ports vids vlanAware")
VLAN_FIELDS = COMMON | words("interface vlan")
ZONE_FIELDS = words("bridge dns dnsZone ipam mtu nodes resourceId reverseDns")
VNET_FIELDS = words("alias isolatePorts resourceId tag vlanAware zone")
NETWORK_FIELDS = words("deleteProtection exposeRoutesToVswitch ipRange labels name")
SUBNET_FIELDS = words("ipRange networkId networkZone type")

_OFF = (ABSENT, False)
_PORT = re.compile(r"(?!vlan|vmbr|tap|veth|fw(br|ln|pr)[0-9])[A-Za-z][A-Za-z0-9]*")
"""A port of the node. One with a VLAN (`vmbr1.201`, `vlan201`) would join that VLAN to another bridge, and a guest's
(`tap2000i0`, `veth101i0`, `fwpr2000p0`) that guest."""


def bridge_problems(case: Case) -> list[str]:
    """Judge a Linux bridge: one that the table hands out, on the node's own ports."""
    place, problems = proxmox_place(case)
    props = case.resource.props
    problems += strange(props, BRIDGE_FIELDS, "It has inputs")
    problems += _bridge_problems(case, "name", read(props, "name"), place)
    ports = read(props, "ports")
    listing = ports if isinstance(ports, list) else [] if ports is ABSENT else [ports]
    if any(not isinstance(port, str) or not _PORT.fullmatch(port) for port in listing):
        problems.append(
            "Its ports are not all ports of the node. A port with a VLAN, or a guest's, joins two networks."
        )
    return problems


def vlan_problems(case: Case) -> list[str]:
    """Judge a Linux VLAN: a row's, on the row's bridge."""
    place, problems = proxmox_place(case)
    props = case.resource.props
    problems += strange(props, VLAN_FIELDS, "It has inputs")
    name, bridge, vlan = (read(props, field) for field in ("name", "interface", "vlan"))
    if bridge in (ABSENT, "") and vlan is ABSENT and isinstance(name, str):
        bridge, _, text = name.partition(".")
        vlan = int(text) if text.isdecimal() and text.isascii() else text
    elif name not in (f"{bridge}.{whole_number(vlan)}", f"vlan{whole_number(vlan)}"):
        problems.append(f"Its name is {shown(name)}, by which Proxmox VE knows its VLAN. Write name: <bridge>.<vlan>.")
    return problems if place is None else [*problems, *_row_problems(case, place, vlan, bridge)]


def zone_problems(case: Case) -> list[str]:
    """Judge an SDN zone of VLANs: on a bridge that the table hands out."""
    place, problems = proxmox_place(case)
    props = case.resource.props
    problems += strange(props, ZONE_FIELDS, "It has inputs")
    return [*problems, *_bridge_problems(case, "bridge", read(props, "bridge"), place)]


def vnet_problems(case: Case) -> list[str]:
    """Judge an SDN vnet: a row's VLAN, and no further one inside it."""
    place, problems = proxmox_place(case)
    props = case.resource.props
    problems += strange(props, VNET_FIELDS, "It has inputs")
    if read(props, "vlanAware") not in _OFF:
        problems.append("It lets VLANs through. Leave vlanAware out.")
    return problems if place is None else [*problems, *_row_problems(case, place, read(props, "tag"), None)]


def applier_problems(case: Case) -> list[str]:
    """Judge what puts SDN changes into force: only where."""
    _, problems = proxmox_place(case)
    return [*problems, *strange(case.resource.props, ("onCreate", "onDestroy"), "It has inputs")]


def network_problems(case: Case) -> list[str]:
    """Judge a network of Hetzner Cloud: a tenant's range."""
    props = case.resource.props
    problems = [*hcloud_problems(case), *strange(props, NETWORK_FIELDS, "It has inputs")]
    if read(props, "exposeRoutesToVswitch") not in _OFF:
        problems.append("It joins the network to a vSwitch, with every VLAN in it. Leave exposeRoutesToVswitch out.")
    return [*problems, *_range_problems(case, read(props, "ipRange"), 0)]


def subnet_problems(case: Case) -> list[str]:
    """Judge a subnet of Hetzner Cloud: a tenant's, for cloud servers.

    One for a vSwitch would join the tenant's network to the dedicated servers' vSwitch, which carries the VLANs of all
    tenants; the table gives nobody that.
    """
    props = case.resource.props
    problems = [*hcloud_problems(case), *strange(props, SUBNET_FIELDS, "It has inputs")]
    kind = read(props, "type")
    if kind != "cloud":
        problems.append(f"Its type is {shown(kind)}. The table has subnets for cloud servers alone: write type: cloud.")
    return [*problems, *_range_problems(case, read(props, "ipRange"), 1)]


def _bridge_problems(case: Case, field: str, bridge: Any, place: Proxmox | None) -> Iterator[str]:
    if place is None:
        return
    known = case.table.bridges(place.name)
    if not isinstance(bridge, str) or bridge not in known:
        yield f"Its {field} is {shown(bridge)}. Bridges of {place.name} are {listed(known) or 'none'}."


def _row_problems(case: Case, place: Proxmox, vlan: Any, bridge: Any) -> Iterator[str]:
    rows = [row for row in case.table.rows if row.location == place.name]
    number = whole_number(vlan)
    if not any(row.vlan == number and bridge in (None, row.bridge) for row in rows):
        where = "" if bridge is None else f" on {shown(bridge)}"
        known = listed(f"{row.vlan} on {row.bridge}" for row in rows) or "none"
        yield f"It is VLAN {shown(vlan)}{where}. VLANs of {place.name} are {known}."


def _range_problems(case: Case, given: Any, which: int) -> Iterator[str]:
    known = {ranges[which] for place in case.table.hcloud for ranges in place.tenants.values()}
    if not isinstance(given, str) or given not in known:
        yield f"Its ipRange is {shown(given)}, which the table gives nobody. Known are {listed(known) or 'none'}."


NETWORKS: Mapping[str, Callable[[Case], list[str]]] = {
    "proxmoxve:network/linux/bridge:Bridge": bridge_problems,
    "proxmoxve:network/linux/bridgeLegacy:BridgeLegacy": bridge_problems,
    "proxmoxve:network/linux/vlan:Vlan": vlan_problems,
    "proxmoxve:network/linux/vlanLegacy:VlanLegacy": vlan_problems,
    "proxmoxve:sdn/zone/vlan:Vlan": zone_problems,
    "proxmoxve:sdn/zone/vlanLegacy:VlanLegacy": zone_problems,
    "proxmoxve:sdn/vnet:Vnet": vnet_problems,
    "proxmoxve:sdn/vnetLegacy:VnetLegacy": vnet_problems,
    "proxmoxve:sdn/applier:Applier": applier_problems,
    "proxmoxve:sdn/applierLegacy:ApplierLegacy": applier_problems,
    "hcloud:index/network:Network": network_problems,
    "hcloud:index/networkSubnet:NetworkSubnet": subnet_problems,
}
"""Other kinds of SDN zones and fabrics, routes, and load balancers in networks are refused: no row describes them."""
