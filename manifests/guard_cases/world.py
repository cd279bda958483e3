"""What the cases are made of: an environment's table seen from one namespace, and what is nobody's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

from manifests.generations import CAPI_1_12, version
from settings.access import resource_pool
from settings.environment import ProxmoxLocation
from settings.table import Row, rows

if TYPE_CHECKING:
    from settings.environment import Environment, Generation

NOBODY = "default"
"""A namespace that no tenant has and every cluster does."""


@dataclass(frozen=True)
class World:
    """An environment, the name of its stack, and the version in which the requests for machines are written."""

    environment: Environment
    stack: str
    machines: str

    @property
    def generation(self) -> Generation:
        """Give the environment's generation."""
        return self.environment.management.generation

    @property
    def next_generation(self) -> bool:
        """Tell whether default NICs get their addresses from the cluster's own range."""
        return self.generation == CAPI_1_12

    @property
    def older_version(self) -> bool:
        """Tell whether requests are written in a version that the server converts before it judges."""
        return self.machines != version("ProxmoxMachine", self.generation)

    @cached_property
    def rows(self) -> list[Row]:
        """Every row of the table."""
        return list(rows(self.environment).values())

    @cached_property
    def tenants(self) -> dict[str, str]:
        """Namespaces of the tenants that have a network, each with its tenant's name."""
        return {row.namespace: row.tenant for row in sorted(self.rows, key=lambda row: row.namespace)}

    @cached_property
    def bridges(self) -> set[str]:
        """Name the bridges on which a tenant's NIC may be: the zones' and the open ones."""
        zones = {zone.bridge for zone in self.environment.zones.values()}
        return zones | set(self.environment.management.open_bridges)

    def open_vlan(self, bridge: str) -> int:
        """Give a VLAN that is open on an open bridge."""
        ranges = self.environment.management.open_vlans.get(bridge)
        return ranges[0].first if ranges else 300

    def closed_vlan(self, bridge: str) -> int | None:
        """Give a VLAN that is not open on an open bridge, None where all are."""
        ranges = self.environment.management.open_vlans.get(bridge, ())
        closed = set(range(1, 4095)) - {vlan for each in ranges for vlan in range(each.first, each.last + 1)}
        return min(closed) if ranges and closed else None

    @cached_property
    def closed_bridge(self) -> str:
        """Name a bridge that no zone has and that is not open."""
        return next(name for name in (f"vmbr{index}" for index in count()) if name not in self.bridges)

    def own(self, namespace: str, zone: str | None = None) -> list[Row]:
        """Give a namespace's rows, in one zone or in all."""
        return [row for row in self.rows if row.namespace == namespace and zone in (None, row.zone)]

    def foreign(self, namespace: str, zone: str | None = None) -> list[Row]:
        """Give the rows of other tenants."""
        return [row for row in self.rows if row.namespace != namespace and zone in (None, row.zone)]

    def free_vlan(self, zone: str) -> int:
        """Give the highest VLAN that no row of a zone has."""
        taken = {row.vlan for row in self.rows if row.zone == zone}
        return max(set(range(2, 4095)) - taken)

    def location(self, row: Row) -> ProxmoxLocation:
        """Give a row's location."""
        found = self.environment.locations[row.location]
        if not isinstance(found, ProxmoxLocation):
            message = f"{row.location} is no Proxmox VE location"
            raise TypeError(message)
        return found

    def resource_pool(self, tenant: str) -> str:
        """Name the Proxmox VE resource pool of a tenant."""
        return resource_pool(self.stack, tenant)
