"""The pack's own reading of its config: which stack is whose, and who owns which VLAN."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tenant_isolation.endpoints import normal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KINDS = ("environment", "tenant")
LOCATION_TYPES = ("proxmox", "hcloud")
MAX_VLAN = 4094

_TEXT = {"type": "string", "minLength": 1}
SCHEMA: dict[str, dict[str, Any]] = {
    "stacks": {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {
            "type": "object",
            "required": ["kind"],
            "properties": {"kind": {"enum": list(KINDS)}, "tenant": _TEXT, "namespace": _TEXT},
        },
    },
    "locations": {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "required": ["type"],
            "properties": {"type": {"enum": list(LOCATION_TYPES)}, "endpoint": _TEXT},
        },
    },
    "networks": {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name", "bridge", "vlan", "tenant", "namespace", "location"],
            "properties": {
                **dict.fromkeys(("name", "zone", "bridge", "tenant", "namespace", "location"), _TEXT),
                "vlan": {"type": "integer", "minimum": 1, "maximum": MAX_VLAN},
            },
        },
    },
}
"""JSON Schema of the config; the engine checks it before it runs anything."""


class ConfigError(Exception):
    """The config is missing or says two things at once; the text says what."""


@dataclass(frozen=True)
class Row:
    """One network: this VLAN, on this bridge, in this location, is this tenant's."""

    name: str
    bridge: str
    vlan: int
    tenant: str
    namespace: str
    location: str

    def __str__(self) -> str:
        """Give the row as messages show it."""
        return f"{self.bridge} VLAN {self.vlan} ({self.name})"


@dataclass(frozen=True)
class Stack:
    """A stack of the map. An environment has no tenant and no namespace (both are empty)."""

    name: str
    tenant: str = ""
    namespace: str = ""

    @property
    def is_tenant(self) -> bool:
        """Tell a tenant's stack from an environment's."""
        return bool(self.tenant)


@dataclass(frozen=True)
class Table:
    """The map and the rows. `endpoints` is location by normal form of its Proxmox VE endpoint."""

    stacks: dict[str, Stack]
    endpoints: dict[str, str]
    rows: tuple[Row, ...]
    _by_tenant: dict[str, list[Row]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Sort the rows by tenant, once."""
        by_tenant: dict[str, list[Row]] = {}
        for row in self.rows:
            by_tenant.setdefault(row.tenant, []).append(row)
        object.__setattr__(self, "_by_tenant", by_tenant)

    def rows_of(self, stack: Stack, location: str | None = None) -> list[Row]:
        """Give a tenant's rows, in one location or everywhere."""
        rows = self._by_tenant.get(stack.tenant, [])
        return [row for row in rows if location in (None, row.location)]


def table(config: Mapping[str, Any]) -> Table:
    """Read the config; raise `ConfigError` where it is missing, misshapen, or gives one thing to two tenants."""
    for key in SCHEMA:
        if config.get(key) is None:
            message = f"it has no `{key}`"
            raise ConfigError(message)
    try:
        stacks = {name: _stack(name, entry) for name, entry in config["stacks"].items()}
        endpoints = _endpoints(config["locations"])
        rows = tuple(_row(entry) for entry in config["networks"])
        proxmox = {name for name, entry in config["locations"].items() if entry["type"] == "proxmox"}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"it is not as `make policy-config` writes it ({type(error).__name__}: {error})"
        raise ConfigError(message) from error
    _check_rows(rows, proxmox)
    _check_tenants([*((s.tenant, s.namespace) for s in stacks.values() if s.is_tenant), *_tenants(rows)])
    return Table(stacks, endpoints, rows)


def _stack(name: str, entry: Mapping[str, Any]) -> Stack:
    if entry["kind"] == "environment":
        return Stack(name)
    if entry["kind"] != "tenant":
        message = f"stack {name} is neither an environment nor a tenant"
        raise ValueError(message)
    return Stack(name, _text(entry["tenant"]), _text(entry["namespace"]))


def _endpoints(locations: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, entry in locations.items():
        if entry["type"] != "proxmox":
            continue
        endpoint = normal(entry["endpoint"])
        if endpoint is None:
            message = f"location {name} has no endpoint that can be read"
            raise ValueError(message)
        if endpoint in found:
            message = f"locations {found[endpoint]} and {name} have one endpoint"
            raise ValueError(message)
        found[endpoint] = name
    return found


def _row(entry: Mapping[str, Any]) -> Row:
    vlan = whole_number(entry["vlan"])
    if vlan is None or not 1 <= vlan <= MAX_VLAN:
        message = f"network {entry['name']} has no VLAN"
        raise ValueError(message)
    texts = {key: _text(entry[key]) for key in ("name", "bridge", "tenant", "namespace", "location")}
    return Row(vlan=vlan, **texts)


def _check_rows(rows: Iterable[Row], proxmox: set[str]) -> None:
    # Over all locations: a Kubernetes object names none, so one bridge and VLAN must be one network.
    owners: dict[tuple[str, int], str] = {}
    names: set[str] = set()
    for row in rows:
        place = (row.bridge, row.vlan)
        if row.location not in proxmox:
            message = f"network {row.name} is in {row.location}, which is no Proxmox VE location of it"
        elif row.name in names:
            message = f"two networks are called {row.name}"
        elif place in owners:
            message = f"networks {owners[place]} and {row.name} are both {row.bridge} VLAN {row.vlan}"
        else:
            owners[place] = row.name
            names.add(row.name)
            continue
        raise ConfigError(message)


def _tenants(rows: Iterable[Row]) -> list[tuple[str, str]]:
    return [(row.tenant, row.namespace) for row in rows]


def _check_tenants(pairs: Iterable[tuple[str, str]]) -> None:
    namespaces: dict[str, str] = {}
    tenants: dict[str, str] = {}
    for tenant, namespace in pairs:
        if namespaces.setdefault(tenant, namespace) != namespace or tenants.setdefault(namespace, tenant) != tenant:
            message = f"tenant {tenant} and namespace {namespace} do not belong to each other alone"
            raise ConfigError(message)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        message = f"{value!r} is not a text"
        raise ValueError(message)
    return value


def whole_number(value: object) -> int | None:
    """Give a number that is whole as int (numbers come from the engine as floats), or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not value.is_integer():
        return None
    return int(value)
