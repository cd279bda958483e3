"""The pack's own reading of its config: which stack is whose, and what a tenant has in each location."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

REALM = "pve"
"""Where the accounts of tenants are on Proxmox VE; each is called like its tenant's resource pool."""


@dataclass(frozen=True)
class Row:
    """One network: this VLAN, on this bridge, in this location, is this tenant's."""

    name: str
    bridge: str
    vlan: int
    tenant: str
    namespace: str
    location: str
    addresses: tuple[str, ...]
    gateway: str
    prefix: int

    def __str__(self) -> str:
        """Give the row as messages show it."""
        return f"{self.bridge} VLAN {self.vlan} ({self.name})"


@dataclass(frozen=True)
class OpenBridge:
    """A bridge that is open to tenants' namespaces; `vlans` are first and last of each range, none means every VLAN."""

    bridge: str
    vlans: tuple[tuple[int, int], ...] = ()

    def has(self, vlan: int) -> bool:
        """Say whether a VLAN of it is open."""
        return not self.vlans or any(first <= vlan <= last for first, last in self.vlans)

    def __str__(self) -> str:
        """Give it as messages show it."""
        ranges = ", ".join(f"{first}-{last}" for first, last in self.vlans)
        return f"{self.bridge} (open, VLAN {ranges or 'any'})"


@dataclass(frozen=True)
class Stack:
    """A stack of the map. An environment has no tenant and no namespace (both are empty).

    `context` is the one context of a kubeconfig through which the stack may speak to the management cluster.
    """

    name: str
    context: str
    tenant: str = ""
    namespace: str = ""

    @property
    def is_tenant(self) -> bool:
        """Tell a tenant's stack from an environment's."""
        return bool(self.tenant)


@dataclass(frozen=True)
class Template:
    """A VM template; `tags` in lower case, as Proxmox VE compares them."""

    id: int
    node: str
    tags: frozenset[str]


@dataclass(frozen=True)
class Holding:
    """What one tenant has in one Proxmox VE location."""

    location: str
    tenant: str
    pool: str
    first_id: int
    last_id: int
    iso_storage: str


@dataclass(frozen=True)
class Proxmox:
    """A Proxmox VE location; `endpoint` in its normal form, `tenants` by name."""

    name: str
    endpoint: str
    nodes: frozenset[str]
    storage: str
    templates: tuple[Template, ...]
    template_pool: str
    tenants: dict[str, Holding]


@dataclass(frozen=True)
class Hcloud:
    """A Hetzner Cloud location: its region, and each tenant's network and subnet there (CIDRs)."""

    name: str
    region: str
    tenants: dict[str, tuple[str, str]]


@dataclass(frozen=True)
class Table:
    """Everything that the config says."""

    stacks: dict[str, Stack]
    proxmox: tuple[Proxmox, ...]
    hcloud: tuple[Hcloud, ...]
    rows: tuple[Row, ...]
    open_bridges: tuple[OpenBridge, ...] = ()
    _by_tenant: dict[str, list[Row]] = field(init=False, repr=False)
    _by_endpoint: dict[str, Proxmox] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Sort the rows by tenant and the locations by endpoint, once."""
        by_tenant: dict[str, list[Row]] = {}
        for row in self.rows:
            by_tenant.setdefault(row.tenant, []).append(row)
        object.__setattr__(self, "_by_tenant", by_tenant)
        object.__setattr__(self, "_by_endpoint", {place.endpoint: place for place in self.proxmox})

    def rows_of(self, stack: Stack, location: str | None = None) -> list[Row]:
        """Give a tenant's rows, in one location or everywhere."""
        rows = self._by_tenant.get(stack.tenant, [])
        return [row for row in rows if location in (None, row.location)]

    def at(self, endpoint: str) -> Proxmox | None:
        """Give the location of an endpoint in normal form."""
        return self._by_endpoint.get(endpoint)

    def proxmox_of(self, stack: Stack) -> list[Proxmox]:
        """Give the Proxmox VE locations that a stack may speak to: a tenant's own, an environment's all."""
        return [place for place in self.proxmox if not stack.is_tenant or stack.tenant in place.tenants]

    def hcloud_of(self, stack: Stack) -> list[Hcloud]:
        """Give the Hetzner Cloud locations of a tenant."""
        return [place for place in self.hcloud if stack.tenant in place.tenants]

    @property
    def tenants(self) -> list[Stack]:
        """Give the tenants' stacks."""
        return [stack for stack in self.stacks.values() if stack.is_tenant]

    @property
    def namespaces(self) -> set[str]:
        """Give the tenants' namespaces."""
        return {stack.namespace for stack in self.tenants}

    def bridges(self, location: str) -> set[str]:
        """Give the bridges that the platform hands out in a location: those of its rows, and the open ones."""
        return {row.bridge for row in self.rows if row.location == location} | {
            item.bridge for item in self.open_bridges
        }


def listed_rows(rows: Iterable[Row], most: int) -> str:
    """Give rows for a message, the first of many."""
    found = list(rows)
    names = ", ".join(map(str, found[:most]))
    return f"{names} and {len(found) - most} more" if len(found) > most else names
