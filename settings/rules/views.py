"""What rules look at: the sound part of a stack file, and what else stands there by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from settings.environment import HcloudLocation, ProxmoxLocation
from settings.places import dotted
from settings.problems import Problem
from settings.table import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.environment import Environment, Network
    from settings.problems import Severity
    from settings.shape import Examined
    from settings.stack import TenantSettings
    from settings.table import Row
    from settings.tenant import AnyPool, CapiProxmoxPool, Cluster, ProxmoxVmPool, TenantStack


def problem(code: str, place: tuple[str | int, ...], value: Any, why: str, fix: str) -> Problem:
    """Make an error at a place."""
    return Problem(code, dotted(place), value, why, fix)


def warning(code: str, place: tuple[str | int, ...], value: Any, why: str, fix: str) -> Problem:
    """Make a warning at a place."""
    severity: Severity = "warning"
    return Problem(code, dotted(place), value, why, fix, severity)


@dataclass(frozen=True)
class EnvironmentView:
    """An environment with its faulty entries taken out; a name that only stands among those is known, not missing."""

    examined: Examined[Environment]
    environment: Environment

    @cached_property
    def rows(self) -> dict[str, Row]:
        """Every sound row whose tenant and location are sound too."""
        return rows(self.environment)

    @cached_property
    def networks(self) -> list[tuple[str, str, Network]]:
        """Every sound row as it stands: zone, name, network; sorted by name, then zone."""
        found = [
            (zone_name, name, network)
            for zone_name, zone in self.environment.zones.items()
            for name, network in zone.networks.items()
        ]
        return sorted(found, key=lambda item: (item[1], item[0]))

    @cached_property
    def proxmox(self) -> dict[str, ProxmoxLocation]:
        """The sound Proxmox locations, sorted by name."""
        return {k: v for k, v in sorted(self.environment.locations.items()) if isinstance(v, ProxmoxLocation)}

    @cached_property
    def hcloud(self) -> dict[str, HcloudLocation]:
        """The sound Hetzner Cloud locations, sorted by name."""
        return {k: v for k, v in sorted(self.environment.locations.items()) if isinstance(v, HcloudLocation)}

    def rows_named_by(self, tenant: str, location: str | None = None) -> frozenset[str]:
        """Name every row that the file gives a tenant (in one location), the faulty ones too."""
        return frozenset(
            name
            for zone in self.examined.names("zones")
            for name in self.examined.names("zones", zone, "networks")
            if self.examined.raw("zones", zone, "networks", name, "tenant") == tenant
            and location in (None, self.examined.raw("zones", zone, "networks", name, "location"))
        )

    def locations_of(self, tenant: str) -> frozenset[str]:
        """Name every location where the file gives a tenant a place, the faulty ones too."""
        return frozenset(
            name
            for name in self.examined.names("locations")
            if tenant in self.examined.names("locations", name, "tenants") or self._hides_tenants(name)
        )

    def _hides_tenants(self, location: str) -> bool:
        found = self.examined.raw("locations", location)
        return not isinstance(found, dict) or not isinstance(found.get("tenants", {}), dict)


@dataclass(frozen=True)
class TenantView:
    """A tenant's stack with its faulty entries taken out, beside its environment."""

    settings: TenantSettings
    examined: Examined[TenantStack]
    around: EnvironmentView

    @property
    def tenant(self) -> str:
        """The tenant."""
        return self.settings.tenant

    def row_names(self, location: str | None = None) -> frozenset[str]:
        """Name the tenant's rows (in one location), those too that are faulty in the environment."""
        return self.around.rows_named_by(self.tenant, location)

    @cached_property
    def places(self) -> frozenset[str]:
        """Name the locations in which the tenant has a place, the faulty ones too."""
        return self.around.locations_of(self.tenant)

    def type_of(self, location: str) -> object:
        """Say what the environment's file calls a location's type."""
        return self.around.examined.raw("locations", location, "type")

    @property
    def clusters(self) -> Iterator[tuple[str, Cluster]]:
        """Every sound cluster, sorted by name."""
        yield from sorted(self.settings.clusters.items())

    @property
    def pools(self) -> Iterator[tuple[str, str, AnyPool]]:
        """Every sound pool: cluster, name, pool; sorted."""
        for cluster_name, cluster in self.clusters:
            for name, pool in sorted(cluster.pools.items()):
                yield cluster_name, name, pool

    @property
    def proxmox_pools(self) -> Iterator[tuple[str, str, CapiProxmoxPool | ProxmoxVmPool, Row, ProxmoxLocation]]:
        """Every sound Proxmox pool that names a sound row of this tenant, with the row and its location."""
        for cluster, name, pool in self.pools:
            if pool.backend == "hcloud-server":
                continue
            row = self.settings.rows.get(pool.network)
            location = self.around.proxmox.get(row.location) if row else None
            if row and location:
                yield cluster, name, pool, row, location


def pool_place(cluster: str, pool: str, *rest: str | int) -> tuple[str | int, ...]:
    """Give a pool's place in a tenant's file."""
    return ("clusters", cluster, "pools", pool, *rest)
