"""The promise, read as plainly as it is written: what a request breaks of it. Written from the words, not from the CEL.

It takes the environment as the stack file has it and shares no code with what renders the policies.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tests.guard.offline import Request

Body = dict[str, Any]
JUDGE = "hybrid.cozystack.io/judge"
"""The annotation with which a dry run asks to be judged."""

_BRIDGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,14}")
_DEVICES = {f"net{index}" for index in range(32)}
_POOL = ("ipam.cluster.x-k8s.io", "InClusterIPPool")
_RESERVED = "allocateReservedIPAddresses"
_HARMLESS = (_RESERVED, "addressReuseGracePeriodSeconds")
_WRITTEN = {
    "replicas",
    "version",
    "controlPlaneEndpoint",
    "addons.konnectivity.server.port",
    "kubelet.cgroupfs",
    "kubelet.preferredAddressTypes",
    "network.serviceType",
    "network.serviceAddress",
    "network.advertiseAddress",
    "network.certSANs",
}
"""What a KamajiControlPlane of the program has, and its endpoint, which Kamaji's provider writes."""

_FILLED = {
    "registry": "registry.k8s.io",
    "addons.konnectivity.server.image": "registry.k8s.io/kas-network-proxy/proxy-server",
    "addons.konnectivity.agent.image": "registry.k8s.io/kas-network-proxy/proxy-agent",
    "addons.konnectivity.agent.mode": "DaemonSet",
    "addons.konnectivity.agent.hostNetwork": False,
    "addons.konnectivity.agent.tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}],
}
"""What the API server fills in by the definition's defaults."""


_REFERRING = ("Cluster", "Machine", "MachineDeployment", "MachineHealthCheck", "MachinePool", "MachineSet")
"""Cluster API's own kinds, which refer to others by name."""

_OF_THE_PROGRAM = {
    ("bootstrap.cluster.x-k8s.io", "TalosConfigTemplate"),
    ("controlplane.cluster.x-k8s.io", "KamajiControlPlane"),
    ("infrastructure.cluster.x-k8s.io", "ProxmoxCluster"),
    ("infrastructure.cluster.x-k8s.io", "ProxmoxMachineTemplate"),
}
"""To what the program's objects refer."""


@dataclass(frozen=True)
class Row:
    """A network of the table."""

    name: str
    zone: str
    bridge: str
    namespace: str
    location: str
    vlan: int
    addresses: list[str]
    gateway: str
    prefix: int


@dataclass(frozen=True)
class Place:
    """What a tenant has in a Proxmox location."""

    namespace: str
    location: str
    pool: str
    storage: str
    tags: frozenset[str]
    template: int
    node: str


@dataclass(frozen=True)
class Nic:
    """A NIC of either generation; `refs` are its address pools, as (group, kind, name), `ipv4` says that one is given.

    (In the newer generation a reference has no family of its own.)
    """

    name: str
    bridge: str | None
    vlan: int | None
    refs: list[tuple[str, str, str]]
    ipv4: bool


class Broken(NamedTuple):
    """Something that a request breaks; a refusal has all of `words` in one message."""

    why: str
    words: tuple[str, ...] = ()


class Promise:
    """What the platform promises with one environment."""

    def __init__(self, environment: Body, stack: str = "lab") -> None:
        """Read the table of the environment whose stack has that name."""
        management = environment["management"]
        self.newer = management["generation"] == "capi-1.12"
        controllers = management["controllers"]
        self.capmox, self.charts = controllers["capmox"], controllers["charts"]
        self.written = _WRITTEN | (
            {"network.additionalServicePorts"} if management.get("kamajiServicePorts") else set()
        )
        self.tenants = {tenant["namespace"] for tenant in environment["tenants"].values()}
        self.zones = {name: zone["bridge"] for name, zone in environment["zones"].items()}
        self.open = set(management.get("openBridges", []))
        self.open_vlans = {
            bridge: [_span(item) for item in spans] for bridge, spans in management.get("openVlans", {}).items()
        }
        self.secrets = {f"pve-{name}" for name, place in environment["locations"].items() if place["type"] == "proxmox"}
        self.rows = [
            Row(
                name,
                zone_name,
                zone["bridge"],
                environment["tenants"][row["tenant"]]["namespace"],
                row["location"],
                row["vlan"],
                [row["range"]] if isinstance(row["range"], str) else list(row["range"]),
                row["gateway"],
                ipaddress.ip_network(row["cidr"]).prefixlen,
            )
            for zone_name, zone in environment["zones"].items()
            for name, row in zone["networks"].items()
        ]
        proxmox = {name: place for name, place in environment["locations"].items() if place["type"] == "proxmox"}
        self.places = [
            Place(
                environment["tenants"][tenant]["namespace"],
                name,
                f"{stack}-{tenant}",
                location["storage"]["name"],
                frozenset(tag.lower() for tag in location["template"]["tags"]),
                location["template"]["id"],
                location["template"]["node"],
            )
            for name, location in proxmox.items()
            for tenant in location["tenants"]
        ]
        self.clusters = {tenant["namespace"]: set(tenant["clusters"]) for tenant in environment["tenants"].values()}

    def broken(self, request: Request) -> list[Broken]:
        """Say what a request would break; nothing where it passes."""
        namespace, body, old = request.namespace, request.body, request.old
        kind = body["kind"]
        if kind in ("ProxmoxMachine", "ProxmoxMachineTemplate"):
            spec, before = _spec(body), old and _spec(old)
            said = self._network(namespace, spec, before)
            if namespace in self.tenants:
                said += self._body(namespace, spec, before) + self._identity(request, spec, before)
            return said
        if kind in ("ProxmoxCluster", "ProxmoxClusterTemplate"):
            return self._cluster(namespace, _spec(body), old and _spec(old))
        if kind == "InClusterIPPool":
            # A preview of a changed table is not held against the table of before, unless it asks for that.
            judged = not request.dry_run or JUDGE in body["metadata"].get("annotations", {})
            return self._pool(namespace, body, old) if judged else []
        if kind in _REFERRING:
            return self._references(request)
        if kind in ("KamajiControlPlane", "Scale"):
            return self._plane(request)
        if kind == "Secret":
            return [Broken("a tenant's own Secret", ("makes no Secret",))] * self._is_tenant(request.user)
        message = f"nothing is promised of {kind}"
        raise ValueError(message)

    def _network(self, namespace: str, spec: Body, old: Body | None) -> list[Broken]:
        if old is not None and spec.get("network") == old.get("network"):
            return []  # nothing that is judged has changed
        found = nics(spec)
        said = [item for nic in found for item in self._nic(namespace, nic)]
        first = "net0" in [nic.name for nic in found] if self.newer else "default" in (spec.get("network") or {})
        if not self.newer and [nic.name for nic in found].count("net0") > 1:
            said.append(Broken("a second net0"))
        if not first and namespace in self.tenants:
            said.append(Broken("the first NIC is the template's"))
        return said

    def _nic(self, namespace: str, nic: Nic) -> list[Broken]:
        said = []
        if nic.name not in _DEVICES:
            said.append(Broken(f"{nic.name} is no device"))
        if not _BRIDGE.fullmatch(nic.bridge or ""):
            said.append(Broken(f"{nic.name} is on no bridge", ("Not the name of a bridge: NIC ", _shown(nic))))
        if nic.bridge in self.zones.values():
            if not any(self._is_on(nic, row) for row in self.rows if row.namespace == namespace):
                said.append(Broken(f"{nic.name} is on no network of {namespace}", self._asked(nic, namespace)))
        elif namespace in self.tenants and nic.bridge not in self.open:
            said.append(
                Broken(
                    f"{nic.name}: {nic.bridge} is not open",
                    (
                        f"Namespace {namespace}: NIC ",
                        _shown(nic),
                        f"not open to tenants; allowed: {self._bridges()}",
                    ),
                )
            )
        said += self._vlan(namespace, nic)
        if namespace in self.tenants and any(ref[:2] != _POOL for ref in nic.refs):
            said.append(
                Broken("a pool of all namespaces", (f"Namespace {namespace}: NIC ", _shown(nic), "its address from"))
            )
        return said

    def _vlan(self, namespace: str, nic: Nic) -> list[Broken]:
        """Say whether a NIC is on no VLAN that is open, or names a VLAN of a zone as if it were a bridge."""
        said, words = [], (f"Namespace {namespace}: NIC ", _shown(nic))
        if namespace in self.tenants and nic.bridge in self.open:
            spans = self.open_vlans.get(nic.bridge, [range(1, 4095)])
            if nic.vlan is None or not any(nic.vlan in span for span in spans):
                said.append(Broken(f"{nic.name} is on no open VLAN", (*words, f"open: {self._open()}")))
        for bridge in self.zones.values():
            name = nic.bridge or ""
            rest = name.removeprefix(bridge)
            if rest not in (name, "") and rest[0] in "v." and rest[1:].isdigit():
                said.append(Broken(f"{nic.name} names a VLAN as a bridge", (*words, f"a VLAN of {bridge} as if")))
        return said

    def _is_on(self, nic: Nic, row: Row) -> bool:
        if nic.bridge != row.bridge or nic.vlan != row.vlan:
            return False
        if self.newer and nic.name == "net0":
            return nic.refs == []
        return nic.ipv4 and all(ref == (*_POOL, row.name) for ref in nic.refs)

    def _asked(self, nic: Nic, namespace: str) -> tuple[str, ...]:
        """Give what a refusal says of a NIC on a zone's bridge."""
        pools = " and ".join(f"{kind} {name}" for _, kind, name in nic.refs)
        allowed = [
            f"VLAN {row.vlan} (net0 without a pool, others with InClusterIPPool {row.name})"
            if self.newer
            else f"VLAN {row.vlan} with InClusterIPPool {row.name}"
            for row in sorted(self.rows, key=lambda row: row.vlan)
            if (row.namespace, row.bridge) == (namespace, nic.bridge)
        ]
        return (
            f"Namespace {namespace}, bridge {nic.bridge}: NIC ",
            f"NIC {nic.name} asks for VLAN {nic.vlan or 'none'} with address pool {pools or 'none'};",
            f"allowed there: {_listed(allowed)}",
        )

    def _bridges(self) -> str:
        return _listed(sorted({*self.zones.values(), *self.open}))

    def _open(self) -> str:
        """Say what is open, as a refusal does."""
        vlans = {
            bridge: ", ".join(str(span[0]) if len(span) == 1 else f"{span[0]}-{span[-1]}" for span in spans)
            for bridge, spans in self.open_vlans.items()
        }
        return "; ".join(f"{bridge} with VLAN {vlans.get(bridge, '1-4094')}" for bridge in sorted(self.open))

    def _made_of(self, namespace: str, spec: Body) -> tuple[str, ...]:
        """Give what a refusal says of pool, storage and template."""
        allowed = [
            f"{place.location} (pool {place.pool}, storage {place.storage}, template with exactly the tags "
            for place in self.places
            if place.namespace == namespace
        ]
        template = f"{spec.get('templateID', 0)} of node {spec.get('sourceNode', 'none')}"
        if "templateSelector" in spec:
            template = f"with tags {' '.join(spec['templateSelector'].get('matchTags', []))}"
        asked = f"pool {spec.get('pool', 'none')}, storage {spec.get('storage', 'none')}, template {template} are not"
        return (f"Namespace {namespace}: {asked}", *(allowed or ["allowed: none"]))

    def _range(self, namespace: str, spec: Body) -> tuple[str, ...]:
        """Give what a refusal says of a cluster's range, in the generation that has ranges of its own."""
        if not self.newer or "ipv6Config" in spec:
            return ()
        config = spec.get("ipv4Config")
        asked = "nothing"
        if config:
            gateway = config.get("gateway", "none")
            asked = f"{', '.join(config.get('addresses', []))}, gateway {gateway}, prefix {config.get('prefix', 0)}"
        allowed = [
            f"{' or '.join(row.addresses)} with gateway {row.gateway} and prefix {row.prefix}"
            for row in self.rows
            if row.namespace == namespace
        ]
        return (f"Namespace {namespace}: ipv4Config ", f", not {asked}; allowed: ", *(allowed or ["allowed: none"]))

    def _body(self, namespace: str, spec: Body, old: Body | None) -> list[Broken]:
        judged = ("pool", "storage", "templateSelector", "templateID", "sourceNode")
        if old is not None and all(spec.get(field) == old.get(field) for field in judged):
            return []
        for place in self.places:
            if namespace == place.namespace and (spec.get("pool"), spec.get("storage")) == (place.pool, place.storage):
                selector = spec.get("templateSelector")
                if selector is None:
                    if (spec.get("templateID"), spec.get("sourceNode")) == (place.template, place.node):
                        return []
                elif selector.get("matchPolicy", "exact") == "exact":
                    tags = selector.get("matchTags", [])
                    if len(tags) == len(place.tags) and {tag.lower() for tag in tags} == place.tags:
                        return []
        return [Broken("pool, storage and template are of no location of the tenant", self._made_of(namespace, spec))]

    def _identity(self, request: Request, spec: Body, old: Body | None) -> list[Broken]:
        before = old or {}
        said = []
        template = request.body["kind"].endswith("Template")
        if any(spec.get(field) != before.get(field) for field in ("providerID", "virtualMachineID")) and (
            old is None or template or request.user != self.capmox
        ):
            said.append(Broken("an id that capmox did not set"))
        if old is not None and not template and spec.get("network") != old.get("network"):
            said.append(Broken("a network that changes"))
        if spec.get("snapName") not in (None, before.get("snapName")):
            said.append(Broken("a snapshot", ("spec.snapName",)))
        return said

    def _cluster(self, namespace: str, spec: Body, old: Body | None) -> list[Broken]:
        said = []
        tenant = namespace in self.tenants

        def changed(*fields: str) -> bool:
            return old is None or any(spec.get(field) != old.get(field) for field in fields)

        if tenant and changed("ipv4Config", "ipv6Config"):
            given = [spec[name] for name in ("ipv4Config", "ipv6Config") if name in spec]
            if not given or not all(self._may_have(namespace, config, spec) for config in given):
                said.append(Broken("a range that is not the tenant's", self._range(namespace, spec)))
        if tenant and changed("cloneSpec", "zoneConfig") and ("cloneSpec" in spec or spec.get("zoneConfig")):
            said.append(Broken("cloneSpec or zoneConfig"))
        if changed("credentialsRef"):
            ref = spec.get("credentialsRef", {})
            place = ref.get("namespace", namespace)
            named = (
                f"names Secret {place}/{ref.get('name', '')}; "
                if "credentialsRef" in spec
                else "credentialsRef is missing; "
            )
            if place != namespace and place in self.tenants:
                said.append(Broken("a tenant's credentials", (named, "belongs to another tenant")))
            if tenant and (place != namespace or ref.get("name") not in self.secrets):
                allowed = f"allowed in namespace {namespace}: {_listed(sorted(self.secrets))}"
                said.append(Broken("not the tenant's credentials", (named, allowed)))
        return said

    def _may_have(self, namespace: str, config: Body, spec: Body) -> bool:
        gateway = config.get("gateway")
        if not self.newer:
            return bool(gateway) and config.get("addresses") == [gateway]
        return "ipv6Config" not in spec and any(
            [one] == config.get("addresses") and row.gateway == gateway and row.prefix == config.get("prefix")
            for row in self.rows
            if row.namespace == namespace
            for one in row.addresses
        )

    def _pool(self, namespace: str, body: Body, old: Body | None) -> list[Broken]:
        spec, name = body["spec"], body["metadata"]["name"]
        if old is not None and spec == old["spec"]:
            return []
        own = sorted((row for row in self.rows if row.namespace == namespace), key=lambda row: row.name)
        # Nothing that makes its addresses others than those it lists.
        plain = set(spec) <= {"addresses", "gateway", "prefix", *_HARMLESS} and not spec.get(_RESERVED)
        for row in own:
            if row.name == name:
                is_row = (spec.get("addresses"), spec.get("gateway"), spec.get("prefix")) == (
                    row.addresses,
                    row.gateway,
                    row.prefix,
                )
                words = (
                    f"Namespace {namespace}: pool {name} must have addresses {', '.join(row.addresses)},",
                    f" gateway {row.gateway}, prefix {row.prefix}",
                )
                return [] if is_row and plain else [Broken(f"not the network {name}", words)]
        if namespace not in self.tenants:
            return []
        if not re.fullmatch(r".+-v4-icip" if self.newer else r".+-v[46]-icip", name):
            allowed = _listed([row.name for row in own])
            return [Broken("no network of that name", (f"no network is named {name}; allowed: {allowed}, and",))]
        return [] if plain and self._may_have(namespace, spec, {}) else [Broken("not what capmox may make")]

    def _closed(self, new: Body, old: Body, path: str) -> list[Broken]:
        """Name the fields of a control plane that the program does not write."""
        said = []
        for key, value in new.items():
            place = f"{path}{key}"
            if place in self.written or value == old.get(key):
                continue
            if place in _FILLED:
                if value != _FILLED[place]:
                    said.append(Broken(f"{place} is another than what is filled in", (f"spec.{place}",)))
            elif any(known.startswith(f"{place}.") for known in (*self.written, *_FILLED)):
                said += self._closed(value, old.get(key, {}), f"{place}.")
            else:
                said.append(Broken(f"{place} is closed", (f"spec.{place}",)))
        return said

    def _plane(self, request: Request) -> list[Broken]:
        """Say what is closed in a control plane, and what is wrong with its size, version and name."""
        if request.namespace not in self.tenants or request.user == self.charts:
            return []
        spec, old = request.body["spec"], request.old["spec"] if request.old else {}
        said = self._closed(spec, old, "")
        for field, right in (("replicas", r"[1-5]"), ("version", r"v\d+\.\d+\.\d+")):
            # A Scale has no number where it asks for none.
            given = spec.get(field, 0 if request.body["kind"] == "Scale" and field in old else None)
            if given not in (None, old.get(field)) and not re.fullmatch(right, str(given), re.ASCII):
                said.append(Broken(f"{field} is out of bounds", (f"spec.{field} (",)))
        name, own = request.body["metadata"]["name"], self.clusters.get(request.namespace, set())
        if request.old is None and self._is_tenant(request.user) and name not in own:
            allowed = _listed(sorted(f"{request.namespace}/{each}" for each in own))
            said.append(Broken("no cluster's name", (f"{request.namespace}/{name}; allowed: {allowed}",)))
        return said

    def _references(self, request: Request) -> list[Broken]:
        """Say which references leave the namespace, and what a tenant's own identity may not name."""
        spec, old = request.body["spec"], request.old["spec"] if request.old else {}
        known, here, said = dict(references(old)), request.namespace, []
        for place, ref in references(spec):
            if known.get(place) == ref:
                continue
            words = f"{place} names {ref.get('kind', '')} {ref.get('namespace', here)}/{ref.get('name', '')}"
            if here in self.tenants and ref.get("namespace", "") not in ("", here):
                said.append(Broken(f"{place} leaves the namespace", (f"Namespace {here}: ", words, "stays in its own")))
            group = ref.get("apiGroup", "") if self.newer else ref.get("apiVersion", "").partition("/")[0]
            if self._is_tenant(request.user) and (group, ref.get("kind")) not in _OF_THE_PROGRAM:
                said.append(Broken(f"{place} is not the program's", (words, "a tenant refers only to")))
        named, before = _named_secrets(spec), _named_secrets(old)
        if self._is_tenant(request.user) and named and named != before:
            said.append(Broken("a Secret of bootstrap data", ("dataSecretName must be absent",)))
        return said

    def _is_tenant(self, user: str) -> bool:
        return user in {f"system:serviceaccount:{namespace}:hybrid" for namespace in self.tenants}


def references(spec: Any, place: str = "spec") -> list[tuple[str, Body]]:
    """Find every reference below a place: whatever has a kind and stands in a field that ends like one, and a class."""
    if isinstance(spec, list):
        return [found for item in spec for found in references(item, f"{place}.{item.get('name', '')}")]
    if not isinstance(spec, dict):
        return []
    if place.endswith(("Ref", "remediationTemplate")) and not place.endswith("classRef"):
        return [(place, spec)]
    found = [each for key, value in spec.items() for each in references(value, f"{place}.{key}")]
    if place == "spec.topology":
        by = spec.get("classRef", {"name": spec.get("class", ""), "namespace": spec.get("classNamespace", "")})
        empty = {"name": "", "namespace": ""}
        found.append((place, {"kind": "ClusterClass", **empty, **by}))
    return found


def _named_secrets(spec: Body) -> list[str]:
    places = (spec, spec.get("template", {}).get("spec", {}))
    given = [place.get("bootstrap", {}).get("dataSecretName") for place in places]
    return [name for name in given if name is not None]


def nics(spec: Body) -> list[Nic]:
    """Give the NICs of a machine's spec of either generation."""
    network = spec.get("network") or {}
    found = []
    if "default" in network:
        found.append(("net0", network["default"]))
    for field in ("additionalDevices", "networkDevices"):
        found += [(nic.get("name", "net0" if field == "networkDevices" else ""), nic) for nic in network.get(field, [])]
    return [_nic(name, nic) for name, nic in found]


def _nic(name: str, nic: Body) -> Nic:
    refs = [*nic.get("ipPoolRef", []), *(nic[field] for field in ("ipv4PoolRef", "ipv6PoolRef") if field in nic)]
    return Nic(
        name,
        nic.get("bridge"),
        nic.get("vlan"),
        [(ref.get("apiGroup", ""), ref["kind"], ref["name"]) for ref in refs],
        ipv4=bool(nic.get("ipPoolRef")) or "ipv4PoolRef" in nic,
    )


def _span(written: int | str) -> range:
    first, _, last = str(written).partition("-")
    return range(int(first), int(last or first) + 1)


def _shown(nic: Nic) -> str:
    return f'{nic.name} ("{nic.bridge or ""}")'


def _listed(texts: list[str]) -> str:
    return ", ".join(texts) or "none"


def _spec(body: Body) -> Body:
    spec: Body = body["spec"]["template"]["spec"] if body["kind"].endswith("Template") else body["spec"]
    return spec
