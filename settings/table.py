"""The environment's table of networks, row by row, with what a row takes from its zone and location."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from settings.environment import ProxmoxLocation

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv4Network

    from settings.environment import Environment
    from settings.fields import AddressRange

VLAN_TAG_BYTES = 4
"""What a VLAN inside the vSwitch's own VLAN takes from the MTU."""


MAX_RANGES = 8
"""Ranges of a row, and below rows of a zone and of all zones: what the management cluster's API takes."""
MAX_NETWORKS = 512
MAX_ALL_NETWORKS = 2048


@dataclass(frozen=True)
class Row:
    """One network: who owns which VLAN, and everything that a machine's NIC on it needs.

    `mtu` is None where the bridge's own holds. `namespace` is the tenant's.
    """

    name: str
    zone: str
    bridge: str
    tenant: str
    namespace: str
    location: str
    vlan: int
    cidr: IPv4Network
    gateway: IPv4Address
    ranges: tuple[AddressRange, ...]
    dns_servers: tuple[IPv4Address, ...]
    mtu: int | None

    @property
    def addresses(self) -> list[str]:
        """Give the ranges as `InClusterIPPool.spec.addresses` has them."""
        return [str(item) for item in self.ranges]

    @property
    def capacity(self) -> int:
        """Count the addresses that machines can have."""
        return sum(len(item) for item in self.ranges)

    def address(self, offset: int) -> IPv4Address | None:
        """Give the address at `offset` (from 0) over all ranges in their order, or None beyond the last."""
        for item in self.ranges:
            if offset < len(item):
                return item.first + offset
            offset -= len(item)
        return None


def rows(environment: Environment) -> dict[str, Row]:
    """Give every row of every zone by its name, sorted by name.

    Rows whose tenant or location the environment does not know are left out: the rules report them.
    """
    found: dict[str, Row] = {}
    for zone_name, zone in environment.zones.items():
        for name, network in zone.networks.items():
            tenant = environment.tenants.get(network.tenant)
            location = environment.locations.get(network.location)
            if tenant is None or not isinstance(location, ProxmoxLocation):
                continue
            found[name] = Row(
                name=name,
                zone=zone_name,
                bridge=zone.bridge,
                tenant=network.tenant,
                namespace=tenant.namespace,
                location=network.location,
                vlan=network.vlan,
                cidr=network.cidr,
                gateway=network.gateway,
                ranges=network.range,
                dns_servers=location.dns_servers or (network.gateway,),
                mtu=location.uplink.mtu - VLAN_TAG_BYTES if location.uplink else None,
            )
    return dict(sorted(found.items()))
