"""What an `up` of an environment reads from the management cluster before it registers anything."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from manifests.common import ADMISSION, LABELS
from manifests.crd import NAME as ZONE_CRD
from manifests.generations import KINDS, CustomKind
from manifests.policies.parts import BINDING, POLICY
from operations.api import UnreadableError, collection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from operations.api import Api

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MACHINE, TABLE = "ProxmoxMachine", "ProxmoxNetworkTable"
ADDRESS = CustomKind("ipam.cluster.x-k8s.io", "ipaddresses", {})
READERS = 8
"""Requests at a time."""

Definition = dict[str, Any]


@dataclass(frozen=True)
class LiveRow:
    """A network as the zone in the cluster has it; what that lacks is empty or 0."""

    zone: str
    bridge: str
    name: str
    namespace: str
    vlan: int
    pool: str
    addresses: tuple[str, ...] = ()
    gateway: str = ""
    prefix: int = 0


@dataclass(frozen=True)
class LiveMachine:
    """A ProxmoxMachine: what each of its NICs is on, (name, bridge, VLAN or None)."""

    namespace: str
    name: str
    nics: tuple[tuple[str, str, int | None], ...]


@dataclass(frozen=True)
class LiveAddress:
    """An IPAddress: leased to somebody from the pool of that name."""

    namespace: str
    name: str
    address: str
    pool: str


@dataclass(frozen=True)
class Live:
    """The cluster's CRDs by name (None: not there), zones, machines, addresses; bindings, policies and tables by name.

    `zones` is None where the zones' kind is not there or is not ours to read: nothing to compare with.
    """

    definitions: Mapping[str, Definition | None]
    zones: tuple[Definition, ...] | None = None
    machines: tuple[LiveMachine, ...] = ()
    addresses: tuple[LiveAddress, ...] = ()
    bindings: Mapping[str, Definition] = field(default_factory=dict)
    policies: Mapping[str, Definition] = field(default_factory=dict)
    tables: Mapping[str, Definition] = field(default_factory=dict)

    @property
    def rows(self) -> tuple[LiveRow, ...]:
        """Every row of every zone."""
        return tuple(row for zone in self.zones or () for row in rows_of(zone))


def definition_name(kind: str) -> str:
    """Name the CRD of a kind."""
    return f"{KINDS[kind].plural}.{KINDS[kind].group}"


def ours(body: Mapping[str, Any]) -> bool:
    """Say whether an object carries the program's label."""
    labels = body.get("metadata", {}).get("labels") or {}
    return all(labels.get(key) == value for key, value in LABELS.items())


def served_and_stored(definition: Definition) -> tuple[set[str], str]:
    """Give a CRD's served versions and its storage version."""
    versions = definition["spec"]["versions"]
    return (
        {each["name"] for each in versions if each["served"]},
        next(each["name"] for each in versions if each["storage"]),
    )


def read_live(api: Api, zones: Mapping[str, Any]) -> Live:
    """Read everything; raises UnreadableError where one thing can not be read.

    `zones` are the environment's, by name: of the zones in the cluster those count that are named like one of them or
    carry the program's label.
    """
    names = sorted({*(definition_name(kind) for kind in KINDS), f"{ADDRESS.plural}.{ADDRESS.group}"})
    with ThreadPoolExecutor(READERS) as pool:
        definitions = dict(zip(names, pool.map(lambda name: api.read(f"{DEFINITIONS}/{name}"), names), strict=True))
        bindings = pool.submit(api.items, collection(ADMISSION, BINDING))
        policies = pool.submit(api.items, collection(ADMISSION, POLICY))
        of_rows = pool.submit(_objects, api, definitions[definition_name(TABLE)], KINDS[TABLE])
        found = pool.submit(_objects, api, definitions[ZONE_CRD], KINDS["ProxmoxNetworkZone"])
        machines = pool.submit(_objects, api, definitions[definition_name(MACHINE)], KINDS[MACHINE])
        addresses = pool.submit(_objects, api, definitions[f"{ADDRESS.plural}.{ADDRESS.group}"], ADDRESS)
    tables = found.result()
    return Live(
        definitions,
        None if tables is None else tuple(body for body in tables if ours(body) or body["metadata"]["name"] in zones),
        tuple(machine_of(body) for body in machines.result() or ()),
        tuple(address_of(body) for body in addresses.result() or ()),
        _by_name(bindings.result()),
        _by_name(policies.result()),
        _by_name(of_rows.result()),
    )


def rows_of(zone: Mapping[str, Any]) -> list[LiveRow]:
    """Read a zone object. What a zone of another shape lacks is empty: it matches nothing."""
    spec = zone.get("spec") or {}
    return [
        LiveRow(
            zone=zone["metadata"]["name"],
            bridge=str(spec.get("bridge", "")),
            name=str(row.get("name", "")),
            namespace=str(row.get("namespace", "")),
            vlan=row.get("vlan", 0),
            pool=str(row.get("pool", "")),
            addresses=tuple(row.get("addresses") or ()),
            gateway=str(row.get("gateway", "")),
            prefix=row.get("prefix", 0),
        )
        for row in spec.get("networks") or ()
    ]


def machine_of(body: Mapping[str, Any]) -> LiveMachine:
    """Read a ProxmoxMachine of any version."""
    network = body.get("spec", {}).get("network") or {}
    nics = [
        *([("net0", network["default"])] if network.get("default") else []),
        *((nic.get("name", ""), nic) for nic in network.get("additionalDevices") or ()),
        *((nic.get("name", "net0"), nic) for nic in network.get("networkDevices") or ()),
    ]
    meta = body["metadata"]
    return LiveMachine(
        meta["namespace"], meta["name"], tuple((name, nic.get("bridge", ""), nic.get("vlan")) for name, nic in nics)
    )


def address_of(body: Mapping[str, Any]) -> LiveAddress:
    """Read an IPAddress of any version."""
    meta, spec = body["metadata"], body.get("spec", {})
    return LiveAddress(
        meta["namespace"], meta["name"], spec.get("address", ""), (spec.get("poolRef") or {}).get("name", "")
    )


def _by_name(found: Iterable[Definition] | None) -> dict[str, Definition]:
    return {body["metadata"]["name"]: body for body in found or ()}


def _objects(api: Api, definition: Definition | None, kind: CustomKind) -> list[dict[str, Any]] | None:
    """Give all objects of a kind in its storage version; None where the kind is not there."""
    if definition is None:
        return None
    served, stored = served_and_stored(definition)
    if not served:
        return None
    version = stored if stored in served else max(served)
    found = api.items(f"/apis/{kind.group}/{version}/{kind.plural}")
    if found is None:
        message = f"/apis/{kind.group}/{version}/{kind.plural}: not served, although its definition says so"
        raise UnreadableError(message)
    return found
