"""Rules of the rows of the zones' tables: whose, where, which VLAN, which addresses."""

from __future__ import annotations

from ipaddress import IPv4Address
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from settings.fields import AddressRange
from settings.places import choose, names
from settings.rules.views import problem
from settings.table import MAX_ALL_NETWORKS, MAX_NETWORKS, MAX_RANGES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from ipaddress import IPv4Network

    from settings.environment import Network, Zone
    from settings.problems import Problem
    from settings.rules.views import EnvironmentView

    Place = tuple[str | int, ...]

VLANS = range(2, 4095)
"""1 is untagged traffic's on most switches; 0 and 4095 are IEEE 802.1Q's own."""
_SMALLEST = 30
_ADDRESSES = 2**32


def _place(zone: str, name: str, *rest: str | int) -> tuple[str | int, ...]:
    return ("zones", zone, "networks", name, *rest)


def names_are_unique(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a network's name is one row's in the whole environment: it names the address pool."""
    owners: dict[str, str] = {}
    for zone, name, _ in view.networks:
        if name in owners:
            why = f"zone {owners[name]} has a network of this name, and tenants name networks without their zone"
            yield problem("NAME_TAKEN", _place(zone, name), name, why, f"for example {name}-{zone}")
        owners.setdefault(name, zone)
        if name.endswith("-icip"):
            why = "capmox gives the address pools that it makes itself names ending with -icip"
            yield problem("NAME_RESERVED", _place(zone, name), name, why, f"for example {name.removesuffix('-icip')}")


def tables_are_small_enough(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a zone, and all zones together, have no more rows than the management cluster takes."""
    for name, zone in sorted(view.environment.zones.items()):
        if len(zone.networks) > MAX_NETWORKS:
            why = f"the management cluster takes at most {MAX_NETWORKS} networks a zone"
            place = ("zones", name, "networks")
            yield problem("TOO_MANY_NETWORKS", place, len(zone.networks), why, "make a second zone, on another bridge")
    if len(view.networks) > MAX_ALL_NETWORKS:
        why = f"the management cluster takes at most {MAX_ALL_NETWORKS} networks of all zones"
        fix = "make a second environment, on another management cluster"
        yield problem("TOO_MANY_NETWORKS", ("zones",), len(view.networks), why, fix)


def places_are_known(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a row's tenant and location are there, the zone spans it, and the tenant has a place in it."""
    tenants = view.examined.names("tenants")
    locations = view.examined.names("locations")
    for zone_name, name, network in view.networks:
        zone = view.environment.zones[zone_name]
        known_tenant = network.tenant in tenants
        if not known_tenant:
            why = "the environment has no tenant of this name"
            fix = choose(network.tenant, tenants)
            yield problem("UNKNOWN_TENANT", _place(zone_name, name, "tenant"), network.tenant, why, fix)
        place = _place(zone_name, name, "location")
        if network.location not in locations:
            if network.location in zone.locations:
                continue  # said at the zone
            why = "the environment has no location of this name"
            fix = choose(network.location, locations & set(zone.locations))
            yield problem("UNKNOWN_LOCATION", place, network.location, why, fix)
        elif view.examined.sound("zones", zone_name, "locations") and network.location not in zone.locations:
            why = f"zone {zone_name} does not span this location"
            fix = f"{choose(network.location, zone.locations)}; or add it to zones.{zone_name}.locations"
            yield problem("LOCATION_NOT_IN_ZONE", place, network.location, why, fix)
        elif known_tenant and _is_elsewhere(view, network):
            there = names(view.examined.names("locations", network.location, "tenants"))
            why = f"tenant {network.tenant} has no place in location {network.location}: no VM ids, no ISO storage"
            fix = f"add locations.{network.location}.tenants.{network.tenant} (there is: {there})"
            yield problem("TENANT_NOT_AT_LOCATION", place, network.location, why, fix)


def _is_elsewhere(view: EnvironmentView, network: Network) -> bool:
    if not view.examined.sound("locations", network.location, "tenants"):
        return False
    if view.examined.raw("locations", network.location, "type") == "hcloud":
        return False  # said at the zone
    return network.tenant not in view.examined.names("locations", network.location, "tenants")


def vlans_are_free(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a row's VLAN is a legal one that is nobody else's in the zone."""
    for zone_name, zone in sorted(view.environment.zones.items()):
        owners: dict[int, str] = {}
        for name, network in sorted(zone.networks.items()):
            found = _vlan_fault(zone, network, owners.get(network.vlan))
            owners.setdefault(network.vlan, name)
            if found:
                code, why = found
                free = _next_free(zone, network)
                fix = f"the next free VLAN is {free}" if free else f"zone {zone_name} has no free VLAN left"
                yield problem(code, _place(zone_name, name, "vlan"), network.vlan, why, fix)


def _vlan_fault(zone: Zone, network: Network, owner: str | None) -> tuple[str, str] | None:
    vlan = network.vlan
    if vlan not in VLANS:
        return "VLAN_OUT_OF_BOUNDS", f"a tenant's VLAN is {VLANS[0]} to {VLANS[-1]}"
    if vlan == zone.native_vlan:
        return "VLAN_NATIVE", "it is the zone's native VLAN, whose traffic is untagged and everybody's"
    if any(item.first <= vlan <= item.last for item in zone.reserved.get(network.location, ())):
        return "VLAN_RESERVED", f"the operator keeps it for other uses in location {network.location}"
    if any(item.first <= vlan <= item.last for item in zone.retired):
        return "VLAN_RETIRED", "it was a network's once and is not free yet"
    if owner:
        return "VLAN_TAKEN", f"network {owner} has it; in a zone a VLAN is one network's, also over locations"
    return None


def _next_free(zone: Zone, network: Network) -> int | None:
    taken = {other.vlan for other in zone.networks.values()} | {zone.native_vlan}
    for item in (*zone.reserved.get(network.location, ()), *zone.retired):
        taken.update(range(item.first, item.last + 1))
    first = min(max(network.vlan, VLANS[0]), VLANS[-1])
    order = (*range(first, VLANS[-1] + 1), *range(VLANS[0], first))
    return next((vlan for vlan in order if vlan not in taken), None)


def cidrs_are_disjoint(view: EnvironmentView) -> Iterator[Problem]:
    """Require that no address is in two of these: networks, and tenant clusters' pods and services."""
    management = view.environment.management
    taken: list[_Taken] = []
    for what, key, cidr in (
        ("pods", "podCidr", management.pod_cidr),
        ("services", "serviceCidr", management.service_cidr),
    ):
        if view.examined.sound("management", key):
            taken.append(_Taken.of(f"the {what} of tenant clusters (management.{key})", cidr))
    for place, what, cidr in sorted(_cidrs(view), key=lambda item: (item[1], item[0])):
        mine = _Taken.of(what, cidr)
        clash = next((other for other in taken if other.first <= mine.last and mine.first <= other.last), None)
        if clash:
            why = f"it overlaps {clash.cidr}, {clash.what}; machines joined by a mesh must not share addresses"
            yield problem("CIDR_OVERLAP", place, cidr, why, f"for example {_next_network(cidr, taken)}")
        taken.append(mine)


class _Taken(NamedTuple):
    """A range of addresses that is somebody's; as plain numbers, since every pair of them is compared."""

    what: str
    cidr: IPv4Network
    first: int
    last: int

    @classmethod
    def of(cls, what: str, cidr: IPv4Network) -> _Taken:
        return cls(what, cidr, int(cidr.network_address), int(cidr.broadcast_address))


def _next_network(cidr: IPv4Network, taken: list[_Taken]) -> str:
    """Find the next network of the same size that is nobody's among those looked at so far."""
    size = cidr.num_addresses
    first = int(cidr.network_address)
    while first + size <= _ADDRESSES:
        clash = max(
            (item.last for item in taken if item.first <= first + size - 1 and first <= item.last), default=None
        )
        if clash is None:
            return f"{IPv4Address(first)}/{cidr.prefixlen}"
        first = (clash // size + 1) * size
    return "a smaller network"


def _cidrs(view: EnvironmentView) -> Iterator[tuple[Place, str, IPv4Network]]:
    for zone, name, network in view.networks:
        yield _place(zone, name, "cidr"), f"network {name}", network.cidr
    for name, location in view.hcloud.items():
        for tenant, own in location.tenants.items():
            place = ("locations", name, "tenants", tenant, "cidr")
            yield place, f"network of tenant {tenant} in location {name}", own.cidr


def gateways_fit(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a gateway is a host address of its network that no machine is given."""
    for zone, name, network in view.networks:
        place = _place(zone, name, "gateway")
        if network.cidr.prefixlen > _SMALLEST:
            why = "a network this small has no room for a gateway and a machine"
            fix = f"the smallest is a /{_SMALLEST}"
            yield problem("CIDR_TOO_SMALL", _place(zone, name, "cidr"), network.cidr, why, fix)
        elif not _is_host(network, network.gateway):
            why = f"it is no host address of {network.cidr}, so machines could not reach it"
            yield problem("GATEWAY_OUTSIDE", place, network.gateway, why, f"for example {network.cidr[1]}")
        elif any(network.gateway in item for item in network.range):
            inside = next(item for item in network.range if network.gateway in item)
            why = f"it is inside the range {inside}, whose addresses are machines'"
            fix = "take it out of the range, or name another gateway"
            yield problem("GATEWAY_IN_RANGE", place, network.gateway, why, fix)


def _is_host(network: Network, address: object) -> bool:
    edges = (network.cidr.network_address, network.cidr.broadcast_address)
    return address in network.cidr and address not in edges


def ranges_fit(view: EnvironmentView) -> Iterator[Problem]:
    """Require that ranges hold host addresses of their network, each once."""
    for zone, name, network in view.networks:
        if network.cidr.prefixlen > _SMALLEST:
            continue  # said above
        place = _place(zone, name, "range")
        hosts = AddressRange(network.cidr[1], network.cidr[-2])
        shown = [str(item) for item in network.range]
        value = shown[0] if len(shown) == 1 else shown
        if len(network.range) > MAX_RANGES:
            why = f"the management cluster takes at most {MAX_RANGES} ranges a network"
            yield problem("TOO_MANY_RANGES", place, len(network.range), why, "join ranges, or make another network")
        for item in network.range:
            if not (item.first in hosts and item.last in hosts):
                why = f"{item} is not inside the host addresses of {network.cidr}, {hosts}"
                yield problem("RANGE_OUTSIDE", place, value, why, f"stay within {hosts}")
                break
        for one, two in combinations(network.range, 2):
            if one.overlaps(two):
                why = f"{one} and {two} share addresses"
                yield problem("RANGE_OVERLAP", place, value, why, "write each address once")
                break
