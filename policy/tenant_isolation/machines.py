"""Machines that Cluster API makes on Proxmox VE: their NICs, and what they are made of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tenant_isolation.nics import WHY_KNOWN, Nic, network_of
from tenant_isolation.reading import ABSENT, UNKNOWN, Missing, read, whole_number
from tenant_isolation.table import OpenBridge, Row
from tenant_isolation.verdicts import Offer, listed, shown, strange, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenant_isolation.kinds import Kind
    from tenant_isolation.table import Holding, Proxmox
    from tenant_isolation.verdicts import Case

INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"
MACHINE = (INFRASTRUCTURE, "ProxmoxMachine")
TEMPLATE = (INFRASTRUCTURE, "ProxmoxMachineTemplate")
POOL = ("ipam.cluster.x-k8s.io", "InClusterIPPool")

SPEC_OF = {"ProxmoxMachine": ("spec",), "ProxmoxMachineTemplate": ("spec", "template", "spec")}
"""Where the machine's own spec is."""
VERSIONS = ("v1alpha1", "v1alpha2")
"""Versions of those kinds whose fields the pack knows."""
JUDGED_FIELDS = words("network pool storage templateSelector templateID sourceNode vmIDRange allowedNodes target")
REFUSED_FIELDS = {
    "snapName": "it would be cloned from a snapshot instead of the template",
    "virtualMachineID": "capmox sets it, for the machine that it has made",
    "providerID": "capmox sets it, for the machine that it has made",
}
OTHER_FIELDS = words(
    "checks description disks format full memoryMiB metadataSettings numCores numSockets tags",
)
LISTS = ("additionalDevices", "networkDevices")
NETWORK_FIELDS = ("default", *LISTS, "vrfs", "zone")
NIC_FIELDS = words(
    """bridge vlan ipv4PoolRef ipv6PoolRef ipPoolRef name model mtu linkMtu queues dnsServers routes routingPolicy
    defaultIPv4 defaultIPv6"""
)
DEVICE = re.compile(r"net([0-9]|[12][0-9]|3[01])")


def machine_problems(case: Case, kind: Kind) -> list[str]:
    """Judge a ProxmoxMachine or its template."""
    if kind.version not in VERSIONS:
        return [f"Version {kind.version} of {kind.name} is not known to this pack, so its NICs can not be judged."]
    path = SPEC_OF[kind.name]
    spec = read(case.resource.props, *path)
    at = ".".join(path)
    problems = []
    if isinstance(spec, dict):
        problems += strange(spec, JUDGED_FIELDS | OTHER_FIELDS | REFUSED_FIELDS.keys(), f"{at} has fields")
        problems += [
            f"It sets {at}.{name}: {why}. Leave it out."
            for name, why in REFUSED_FIELDS.items()
            if read(spec, name) is not ABSENT
        ]
    found, said = _network_problems(case, kind, spec, at)
    return [*problems, *said, *_body_problems(case, spec, at, {row.location for row in found})]


def _network_problems(case: Case, kind: Kind, spec: Any, at: str) -> tuple[list[Row], list[str]]:
    offer = Offer(
        case.stack.name,
        f"bridges of namespace {case.stack.namespace}",
        case.table.rows_of(case.stack),
        case.table.open_bridges,
    )
    network = read(spec, "network") if isinstance(spec, dict) else spec
    if network is UNKNOWN:
        return [], [f"{at}.network is not known yet. {WHY_KNOWN} {offer.says('vlan')}"]
    if network is ABSENT:
        return [], [
            f"It has no {at}.network, so its machines would keep the NICs of the VM template. {offer.says('vlan')}"
        ]
    if not isinstance(network, dict):
        return [], [f"{at}.network is not a set of fields. {offer.says('vlan')}"]
    problems = [
        f"{at}.network.{shown(field)} is not known to this pack. Leave it out."
        for field in sorted(network)
        if field not in NETWORK_FIELDS
    ]
    problems += [
        f"{at}.network.{field} is {shown(network[field])}, not a list of NICs. {offer.says('vlan')}"
        for field in LISTS
        if not isinstance(network.get(field, []), list)
    ]
    if not _has_first(kind, network):
        needed = "network.default" if kind.version == "v1alpha1" else "network.networkDevices with net0"
        problems.append(
            f"It has no {needed}, so its machines would keep the first NIC of the VM template. {offer.says('vlan')}"
        )
    rows = []
    for name, nic in _nics(network):
        asked, said = network_of(nic, offer)
        problems += said
        problems += _device_problems(nic, name, first_named="default" in network)
        if isinstance(asked, Row):
            rows.append(asked)
            problems += _row_pool_problems(nic, asked, name, kind)
        elif isinstance(asked, OpenBridge):
            problems += [text for _, _, text in _pools(nic) if text]
    return rows, problems


def _nics(network: dict[str, Any]) -> list[tuple[Any, Nic]]:
    """Give every NIC of a network with its device's name, in the fields of either version."""
    found: list[tuple[str, Any, Any]] = [("default", "net0", network["default"])] if "default" in network else []
    for field in LISTS:
        devices = network.get(field)
        for i, value in enumerate(devices if isinstance(devices, list) else ()):
            usual = "net0" if field == "networkDevices" else ABSENT
            name = value.get("name", usual) if isinstance(value, dict) else usual
            found.append((f"{field}[{i}]", name, value))
    return [
        (name, Nic(f"NIC {i} (network.{field})", value, "vlan", NIC_FIELDS))
        for i, (field, name, value) in enumerate(found, 1)
    ]


def _has_first(kind: Kind, network: dict[str, Any]) -> bool:
    if kind.version == "v1alpha1":
        return read(network, "default") is not ABSENT
    devices = read(network, "networkDevices")
    return isinstance(devices, list) and any(
        isinstance(nic, dict) and read(nic, "name") in ("net0", ABSENT) for nic in devices
    )


def _device_problems(nic: Nic, name: Any, *, first_named: bool) -> list[str]:
    if not isinstance(nic.value, dict):
        return []
    if not isinstance(name, str) or not DEVICE.fullmatch(name):
        return [f"{nic.label} is called {shown(name)}. Write net0 to net31."]
    if first_named and name == "net0" and "(network.default)" not in nic.label:
        return [f"{nic.label} is a second net0. Name it net1."]
    return []


def _pools(nic: Nic) -> Iterator[tuple[str, Any, str]]:
    """Give a NIC's references to pools: the field, the pool's name, and what is wrong with the reference itself."""
    refs = [(field, read(nic.value, field)) for field in ("ipv4PoolRef", "ipv6PoolRef")]
    several = read(nic.value, "ipPoolRef")
    if isinstance(several, list):
        refs += [(f"ipPoolRef[{i}]", ref) for i, ref in enumerate(several)]
    else:
        refs.append(("ipPoolRef", several))
    for field, ref in refs:
        if ref is ABSENT:
            continue
        name = read(ref, "name") if not isinstance(ref, Missing) else ref
        group, kind = read(ref, "apiGroup"), read(ref, "kind")
        text = ""
        if name is UNKNOWN or UNKNOWN in (group, kind):
            text = f"{nic.label}: the pool of {field} is not known yet. {WHY_KNOWN}"
        elif (group, kind) != POOL:
            text = f"{nic.label}: {field} must be a {POOL[1]} of {POOL[0]}, not {shown(kind)}."
        yield field, name, text


def _row_pool_problems(nic: Nic, row: Row, name: Any, kind: Kind) -> list[str]:
    """Judge the address pools of a NIC that is on a row of the tenant: each must be that row's own."""
    problems = []
    pools = list(_pools(nic))
    four = [field for field, _, _ in pools if field != "ipv6PoolRef"]
    if kind.version == "v1alpha1" and not four:
        problems.append(f"{nic.label} has no ipv4PoolRef. Write the pool of its network: {row.name}.")
    if kind.version != "v1alpha1":
        if name == "net0" and pools:
            problems.append(f"{nic.label} has a pool of its own, beside its cluster's range. Leave ipPoolRef out.")
        elif name != "net0" and not four:
            problems.append(f"{nic.label} has no ipPoolRef. Write the pool of its network: {row.name}.")
    for field, pool, text in pools:
        if text:
            problems.append(text)
        elif pool != row.name:
            problems.append(f"{nic.label}: {field} takes addresses from pool {shown(pool)}. Write {row.name}.")
    return problems


def _body_problems(case: Case, spec: Any, at: str, networks: set[str]) -> list[str]:
    """Judge what a machine is made of: everything must be of one location, that of its networks, and the tenant's."""
    if not isinstance(spec, dict):
        return []
    if len(networks) > 1:
        return [f"Its NICs are networks of several locations: {listed(networks)}. A machine stands in one."]
    places = [place for place in case.table.proxmox_of(case.stack) if not networks or place.name in networks]
    if not places:
        return [f"Stack {case.stack.name} has no Proxmox VE location: ask the platform for one."]
    verdicts = [_made_of(spec, at, place, place.tenants[case.stack.tenant]) for place in places]
    return min(verdicts, key=len)


def _made_of(spec: dict[str, Any], at: str, place: Proxmox, own: Holding) -> list[str]:
    problems = [
        f"{at}.{field} is {shown(read(spec, field))}. Write {wanted}."
        for field, wanted in (("pool", own.pool), ("storage", place.storage))
        if read(spec, field) != wanted
    ]
    problems += _template_problems(spec, at, place)
    first, last = (whole_number(read(spec, "vmIDRange", end)) for end in ("start", "end"))
    if first is None or last is None or not own.first_id <= first <= last <= own.last_id:
        problems.append(
            f"{at}.vmIDRange does not lie in the ids that the tenant has in {place.name}: {own.first_id} to "
            f"{own.last_id}."
        )
    for field, nodes in (("allowedNodes", read(spec, "allowedNodes")), ("target", [read(spec, "target")])):
        given = nodes if isinstance(nodes, list) else [nodes]
        if not {node if isinstance(node, (str, Missing)) else "?" for node in given} <= {ABSENT, *place.nodes}:
            problems.append(f"{at}.{field} is no node of {place.name}: {listed(place.nodes)}.")
    return problems


def _template_problems(spec: dict[str, Any], at: str, place: Proxmox) -> list[str]:
    selector = read(spec, "templateSelector")
    if selector is ABSENT:
        chosen = (whole_number(read(spec, "templateID")), read(spec, "sourceNode"))
        if chosen in [(template.id, template.node) for template in place.templates]:
            return []
    elif isinstance(selector, dict) and read(selector, "matchPolicy") in (ABSENT, "exact"):
        tags = read(selector, "matchTags")
        texts = [tag.lower() for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
        whole = isinstance(tags, list) and len(texts) == len(tags)
        if whole and any(len(texts) == len(item.tags) and set(texts) == item.tags for item in place.templates):
            return strange(selector, ("matchTags", "matchPolicy"), f"{at}.templateSelector has fields")
    known = " or ".join(f"matchTags: [{listed(template.tags)}]" for template in place.templates)
    return [f"{at} is not cloned from a template of {place.name}. Write templateSelector with {known}."]
