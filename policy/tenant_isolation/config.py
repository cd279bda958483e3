"""Reading the config into the table; whatever is missing, misshapen, or gives one thing to two tenants is an error."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tenant_isolation.endpoints import normal
from tenant_isolation.reading import whole_number
from tenant_isolation.schema import MAX_VLAN, REQUIRED
from tenant_isolation.table import Hcloud, Holding, OpenBridge, Proxmox, Row, Stack, Table, Template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class ConfigError(Exception):
    """The config is missing or says two things at once; the text says what."""


def table(config: Mapping[str, Any]) -> Table:
    """Read the config; raise `ConfigError` where it can not be judged by."""
    for key in REQUIRED:
        if config.get(key) is None:
            message = f"it has no `{key}`"
            raise ConfigError(message)
    try:
        found = Table(
            stacks={name: _stack(name, entry) for name, entry in config["stacks"].items()},
            proxmox=tuple(_of_type(config["locations"], "proxmox", _proxmox)),
            hcloud=tuple(_of_type(config["locations"], "hcloud", _hcloud)),
            rows=tuple(_row(entry) for entry in config["networks"]),
            open_bridges=tuple(_open_bridge(entry) for entry in config.get("openBridges") or ()),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"it is not as `make policy-config` writes it ({type(error).__name__}: {error})"
        raise ConfigError(message) from error
    for fault in (*_location_faults(found), *_row_faults(found), *_tenant_faults(found)):
        raise ConfigError(fault)
    return found


def _stack(name: str, entry: Mapping[str, Any]) -> Stack:
    if entry["kind"] == "environment":
        return Stack(name, _text(entry["context"]))
    if entry["kind"] != "tenant":
        message = f"stack {name} is neither an environment nor a tenant"
        raise ValueError(message)
    return Stack(name, name, _text(entry["tenant"]), _text(entry["namespace"]))


def _of_type(
    locations: Mapping[str, Mapping[str, Any]], type_: str, read: Callable[[str, Mapping[str, Any]], Any]
) -> list[Any]:
    return [read(name, entry) for name, entry in locations.items() if entry["type"] == type_]


def _proxmox(name: str, entry: Mapping[str, Any]) -> Proxmox:
    endpoint = normal(entry["endpoint"])
    if endpoint is None:
        message = f"location {name} has no endpoint that can be read"
        raise ValueError(message)
    return Proxmox(
        name,
        endpoint,
        frozenset(map(_text, entry["nodes"])),
        _text(entry["storage"]),
        tuple(_template(item) for item in entry["templates"]),
        _text(entry["templatePool"]),
        {tenant: _holding(name, tenant, item) for tenant, item in entry["tenants"].items()},
    )


def _template(entry: Mapping[str, Any]) -> Template:
    return Template(_number(entry["id"]), _text(entry["node"]), frozenset(_text(tag).lower() for tag in entry["tags"]))


def _holding(location: str, tenant: str, entry: Mapping[str, Any]) -> Holding:
    first, last = _range(entry["vmIds"])
    return Holding(location, tenant, _text(entry["pool"]), first, last, _text(entry["isoStorage"]))


def _hcloud(name: str, entry: Mapping[str, Any]) -> Hcloud:
    tenants = {tenant: (_text(item["cidr"]), _text(item["subnet"])) for tenant, item in entry["tenants"].items()}
    return Hcloud(name, _text(entry["region"]), tenants)


def _row(entry: Mapping[str, Any]) -> Row:
    texts = {key: _text(entry[key]) for key in ("name", "bridge", "tenant", "namespace", "location", "gateway")}
    vlan = whole_number(entry["vlan"])
    if vlan is None or not 1 <= vlan <= MAX_VLAN:
        message = f"network {entry['name']} has no VLAN"
        raise ValueError(message)
    addresses = tuple(map(_text, entry["addresses"]))
    return Row(vlan=vlan, addresses=addresses, prefix=_number(entry["prefix"]), **texts)


def _open_bridge(entry: Mapping[str, Any]) -> OpenBridge:
    return OpenBridge(_text(entry["bridge"]), tuple(_range(item) for item in entry.get("vlans") or ()))


def _location_faults(found: Table) -> Iterable[str]:
    known: dict[str, str] = {}
    for place in found.proxmox:
        if place.endpoint in known:
            yield f"locations {known[place.endpoint]} and {place.name} have one endpoint"
        known[place.endpoint] = place.name
        yield from _shared(place)


def _shared(place: Proxmox) -> Iterable[str]:
    """Say what two tenants of a location would share: an ISO storage, a resource pool, VM ids.

    Each may delete what is in its ISO storage and its pool, so neither is that of all disks or of the templates.
    """
    holdings = sorted(place.tenants.values(), key=lambda item: item.first_id)
    for what, values in (
        ("ISO storage", [place.storage, *(item.iso_storage for item in holdings)]),
        ("resource pool", [place.template_pool, *(item.pool for item in holdings)]),
    ):
        if len(set(values)) < len(values):
            yield f"location {place.name} gives one {what} twice"
    for one, other in pairwise(holdings):
        if other.first_id <= one.last_id:
            yield f"tenants {one.tenant} and {other.tenant} of location {place.name} share VM ids"
    ids = {template.id for template in place.templates}
    for holding in holdings:
        if any(holding.first_id <= number <= holding.last_id for number in ids):
            yield f"a template of location {place.name} has a VM id of tenant {holding.tenant}"


def _row_faults(found: Table) -> Iterable[str]:
    # Over all locations: a Kubernetes object names none, so one bridge and VLAN must be one network.
    owners: dict[tuple[str, int], str] = {}
    names: set[str] = set()
    proxmox = {place.name: place for place in found.proxmox}
    opened = {item.bridge for item in found.open_bridges}
    for row in found.rows:
        place = (row.bridge, row.vlan)
        if row.location not in proxmox:
            yield f"network {row.name} is in {row.location}, which is no Proxmox VE location of it"
        elif row.tenant not in proxmox[row.location].tenants:
            yield f"network {row.name} is in {row.location}, where its tenant {row.tenant} has nothing"
        elif row.name in names:
            yield f"two networks are called {row.name}"
        elif place in owners:
            yield f"networks {owners[place]} and {row.name} are both {row.bridge} VLAN {row.vlan}"
        elif row.bridge in opened:
            yield f"bridge {row.bridge} is open, but network {row.name} is on it"
        owners[place] = row.name
        names.add(row.name)


def _tenant_faults(found: Table) -> Iterable[str]:
    namespaces: dict[str, str] = {}
    tenants: dict[str, str] = {}
    pairs = [(stack.tenant, stack.namespace) for stack in found.stacks.values() if stack.is_tenant]
    for tenant, namespace in (*pairs, *((row.tenant, row.namespace) for row in found.rows)):
        if namespaces.setdefault(tenant, namespace) != namespace or tenants.setdefault(namespace, tenant) != tenant:
            yield f"tenant {tenant} and namespace {namespace} do not belong to each other alone"


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        message = f"{value!r} is not a text"
        raise ValueError(message)
    return value


def _number(value: object) -> int:
    number = whole_number(value)
    if number is None:
        message = f"{value!r} is not a whole number"
        raise ValueError(message)
    return number


def _range(value: Sequence[object]) -> tuple[int, int]:
    first, last = (_number(item) for item in value)
    if first > last:
        message = f"{first} to {last} is no range"
        raise ValueError(message)
    return first, last
