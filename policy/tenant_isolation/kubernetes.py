"""Kubernetes objects in a tenant's stack, whatever registered them: a typed class, CustomResource, a Patch, YAML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tenant_isolation.nics import WHY_KNOWN, Nic, row_for
from tenant_isolation.reading import ABSENT, UNKNOWN, Missing, read
from tenant_isolation.verdicts import Place, shown, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenant_isolation.table import Row
    from tenant_isolation.verdicts import Case

PREFIX = "kubernetes:"
PROVIDER = "pulumi:providers:kubernetes"
POOL_GROUP = "ipam.cluster.x-k8s.io"
POOL_KIND = "InClusterIPPool"
HANDOVER = "hybrid-handover"

RENDERED = {
    ("cluster.x-k8s.io", "Cluster"),
    ("cluster.x-k8s.io", "MachineDeployment"),
    ("cluster.x-k8s.io", "MachineHealthCheck"),
    ("controlplane.cluster.x-k8s.io", "KamajiControlPlane"),
    ("infrastructure.cluster.x-k8s.io", "ProxmoxCluster"),
    ("infrastructure.cluster.x-k8s.io", "ProxmoxMachine"),
    ("infrastructure.cluster.x-k8s.io", "ProxmoxMachineTemplate"),
    ("bootstrap.cluster.x-k8s.io", "TalosConfigTemplate"),
}
"""(group, kind) of what the program makes for a tenant, and the machines made from it. All are namespaced."""

SPEC_OF = {"ProxmoxMachine": ("spec",), "ProxmoxMachineTemplate": ("spec", "template", "spec")}
"""Where the machine's own spec is, in the kinds that carry NICs."""
VERSIONS = ("v1alpha1", "v1alpha2")
"""Versions of those kinds whose fields the pack knows."""
LISTS = ("additionalDevices", "networkDevices")
NETWORK_FIELDS = ("default", *LISTS, "vrfs", "zone")
NIC_FIELDS = words(
    """bridge vlan ipv4PoolRef ipv6PoolRef ipPoolRef name model mtu linkMtu queues dnsServers routes routingPolicy
    defaultIPv4 defaultIPv6"""
)
FREE_TEXT = ("TalosConfigTemplate",)
"""Kinds whose spec is the machine's own configuration, where `namespace` means the tenant cluster's namespaces."""


@dataclass(frozen=True)
class Kind:
    """What a type token says an object is."""

    group: str
    version: str
    name: str

    @property
    def api_version(self) -> str:
        """Give what the object's `apiVersion` must then be."""
        return f"{self.group}/{self.version}" if self.group else self.version


def kind_of(token: str) -> Kind | None:
    """Read `kubernetes:<group>/<version>:<Kind>` or `…:<Kind>Patch`; None for anything else (charts, YAML files)."""
    parts = token.split(":")
    if len(parts) != 3 or parts[1].count("/") != 1:  # noqa: PLR2004 - package, module, name
        return None
    group, version = parts[1].split("/")
    return Kind("" if group == "core" else group, version, parts[2].removesuffix("Patch"))


def object_problems(case: Case) -> list[str]:
    """Judge one object: a kind that the program renders, in the tenant's namespace, its NICs rows of the tenant."""
    resource = case.resource
    kind = kind_of(resource.type)
    if kind is None or (kind.group, kind.name) not in RENDERED:
        return [_refusal(case, kind)]
    problems = _identity_problems(case, kind)
    spec = read(resource.props, "spec")
    if kind.name not in FREE_TEXT:
        problems += [
            f"{path} is {shown(value)}: everything that it refers to must lie in namespace {case.stack.namespace}."
            for path, value in _foreign(spec, "spec", case.stack.namespace)
        ]
    if read(spec, "cloneSpec") is not ABSENT:
        problems.append("spec.cloneSpec can carry NICs of machines. Leave it out: machines come from templates.")
    return problems + _machine_problems(case, kind) if kind.name in SPEC_OF else problems


def _refusal(case: Case, kind: Kind | None) -> str:
    if kind == Kind("", "v1", "Secret"):
        return (
            f"A tenant's stack makes no Secrets; {HANDOVER} is written by the environment and only read here. "
            "(A read comes by here in `pulumi policy analyze` alone.)"
        )
    what = f"{kind.name} ({kind.api_version})" if kind else case.resource.type
    return f"A tenant's stack makes no {what}. If the platform is to make it, it belongs in the environment's stack."


def _identity_problems(case: Case, kind: Kind) -> list[str]:
    props, provider = case.resource.props, case.resource.provider
    problems = []
    if provider is None or provider.type != PROVIDER or provider.is_default:
        problems.append("It has no explicit Kubernetes provider, so it would be made as whoever runs it. Give it one.")
    for field, wanted in (("apiVersion", kind.api_version), ("kind", kind.name)):
        found = read(props, field)
        if found != wanted:
            problems.append(f"Its {field} is {shown(found)}, but it is registered as {kind.api_version} {kind.name}.")
    namespace = read(props, "metadata", "namespace")
    if namespace != case.stack.namespace:
        problems.append(
            f"Its namespace is {shown(namespace)}. Stack {case.stack.name} has namespace {case.stack.namespace}: write "
            f"metadata.namespace: {case.stack.namespace}."
        )
    return problems


def _foreign(value: Any, path: str, own: str) -> Iterator[tuple[str, Any]]:
    """Find every field that names another namespace, or a reference that could and is not known yet.

    References to pools can not: they are judged with their NIC.
    """
    if value is UNKNOWN and (path == "spec" or (path.endswith("Ref") and not path.endswith("PoolRef"))):
        yield path, value
    elif isinstance(value, dict):
        for key, part in value.items():
            below = f"{path}.{key}"
            if (key == "namespace" or key.endswith("Namespace")) and part != own:
                yield below, part
            else:
                yield from _foreign(part, below, own)
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from _foreign(part, f"{path}[{i}]", own)


def _machine_problems(case: Case, kind: Kind) -> list[str]:
    place = Place(case.stack.name, f"bridges of namespace {case.stack.namespace}", case.table.rows_of(case.stack))
    if kind.version not in VERSIONS:
        return [f"Version {kind.version} of {kind.name} is not known to this pack, so its NICs can not be judged."]
    at = ".".join((*SPEC_OF[kind.name], "network"))
    network = read(case.resource.props, *SPEC_OF[kind.name], "network")
    if network is UNKNOWN:
        return [f"{at} is not known yet. {WHY_KNOWN} {place.offer('vlan')}"]
    if network is ABSENT:
        return [f"It has no {at}, so its machines would keep the NICs of the VM template. {place.offer('vlan')}"]
    if not isinstance(network, dict):
        return [f"{at} is not a set of fields. {place.offer('vlan')}"]
    problems = [
        f"{at}.{shown(field)} is not known to this pack. Leave it out."
        for field in sorted(network)
        if field not in NETWORK_FIELDS
    ]
    problems += [
        f"{at}.{field} is {shown(network[field])}, not a list of NICs. {place.offer('vlan')}"
        for field in LISTS
        if not isinstance(network.get(field, []), list)
    ]
    if not _has_first(kind, network):
        needed = "network.default" if kind.version == "v1alpha1" else "network.networkDevices with net0"
        problems.append(
            f"It has no {needed}, so its machines would keep the first NIC of the VM template. {place.offer('vlan')}"
        )
    for nic in _nics(network):
        row, found = row_for(nic, place)
        problems += found
        if row is not None:
            problems += _pool_problems(nic, row, needed=kind.version == "v1alpha1")
    return problems


def _nics(network: dict[str, Any]) -> list[Nic]:
    """Give every NIC of a network, in the fields of either version."""
    found = [("default", network["default"])] if "default" in network else []
    for field in LISTS:
        devices = network.get(field)
        found += [(f"{field}[{i}]", value) for i, value in enumerate(devices)] if isinstance(devices, list) else []
    return [Nic(f"NIC {i} (network.{field})", value, "vlan", NIC_FIELDS) for i, (field, value) in enumerate(found, 1)]


def _has_first(kind: Kind, network: dict[str, Any]) -> bool:
    if kind.version == "v1alpha1":
        return read(network, "default") is not ABSENT
    devices = read(network, "networkDevices")
    return isinstance(devices, list) and any(read(nic, "name") in ("net0", ABSENT) for nic in devices)


def _pool_problems(nic: Nic, row: Row, *, needed: bool) -> list[str]:
    """Judge the address pools of a NIC that is on a row of the tenant: each must be that row's own."""
    single = [(field, read(nic.value, field)) for field in ("ipv4PoolRef", "ipv6PoolRef")]
    several = read(nic.value, "ipPoolRef")
    refs = [(field, ref) for field, ref in single if ref is not ABSENT]
    if isinstance(several, list):
        refs += [(f"ipPoolRef[{i}]", ref) for i, ref in enumerate(several)]
    elif several is not ABSENT:
        refs.append(("ipPoolRef", several))
    problems = []
    if needed and single[0][1] is ABSENT:
        problems.append(f"{nic.label} has no ipv4PoolRef. Write the pool of its network: {row.name}.")
    for field, ref in refs:
        name = read(ref, "name") if not isinstance(ref, Missing) else ref
        group, kind = read(ref, "apiGroup"), read(ref, "kind")
        if name is UNKNOWN or UNKNOWN in (group, kind):
            problems.append(f"{nic.label}: the pool of {field} is not known yet. {WHY_KNOWN}")
        elif (group, kind) != (POOL_GROUP, POOL_KIND):
            problems.append(f"{nic.label}: {field} must be a {POOL_KIND} of {POOL_GROUP}, not {shown(kind)}.")
        elif name != row.name:
            problems.append(f"{nic.label}: {field} takes addresses from pool {shown(name)}. Write {row.name}.")
    return problems
