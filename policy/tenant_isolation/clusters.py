"""ProxmoxCluster: whose credentials it uses, on which nodes, and which addresses it gives out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenant_isolation.reading import ABSENT, read, whole_number
from tenant_isolation.verdicts import listed, shown, strange, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenant_isolation.kinds import Kind
    from tenant_isolation.verdicts import Case

SECRET = "pve-"  # noqa: S105 - how the environment names a location's Secret
CLOSED = ("cloneSpec", "zoneConfig")
FIELDS = words(
    """allowedNodes cloneSpec controlPlaneEndpoint credentialsRef dnsServers externalManagedControlPlane ipv4Config
    ipv6Config schedulerHints zoneConfig"""
)
CONFIG_FIELDS = words("addresses gateway prefix metric")
VERSIONS = ("v1alpha1", "v1alpha2")


def cluster_problems(case: Case, kind: Kind) -> list[str]:
    """Judge a ProxmoxCluster."""
    if kind.version not in VERSIONS:
        return [f"Version {kind.version} of {kind.name} is not known to this pack."]
    spec = read(case.resource.props, "spec")
    if not isinstance(spec, dict):
        return ["It has no spec."]
    problems = strange(spec, FIELDS, "spec has fields")
    problems += [
        f"spec.{field} can carry NICs of machines. Leave it out: machines come from templates."
        for field in CLOSED
        if read(spec, field) not in (ABSENT, [])
    ]
    return [*problems, *_credential_problems(case, spec), *_range_problems(case, kind, spec)]


def _credential_problems(case: Case, spec: dict[str, Any]) -> Iterator[str]:
    """Judge the Secret and the nodes of its location; its namespace is judged like every reference's."""
    places = {f"{SECRET}{place.name}": place for place in case.table.proxmox_of(case.stack)}
    ref = read(spec, "credentialsRef")
    name = read(ref, "name") if isinstance(ref, dict) else ref
    place = places.get(name) if isinstance(ref, dict) and isinstance(name, str) else None
    if place is None:
        own = listed(places) or "it has none"
        yield f"spec.credentialsRef.name is {shown(name)}. Write one of the tenant's: {own}."
        return
    nodes = read(spec, "allowedNodes")
    if not isinstance(nodes, list) or not nodes or any(node not in sorted(place.nodes) for node in nodes):
        yield f"spec.allowedNodes must be nodes of {place.name}: {listed(place.nodes)}."


def _range_problems(case: Case, kind: Kind, spec: dict[str, Any]) -> Iterator[str]:
    given = {field: read(spec, field) for field in ("ipv4Config", "ipv6Config")}
    given = {field: config for field, config in given.items() if config is not ABSENT}
    if not given:
        yield "It has no spec.ipv4Config, so its machines could take any address."
    for field, config in given.items():
        if not isinstance(config, dict):
            yield f"spec.{field} is {shown(config)}, not a set of fields."
            continue
        yield from strange(config, CONFIG_FIELDS, f"spec.{field} has fields")
        if kind.version == "v1alpha1":
            gateway = read(config, "gateway")
            if not isinstance(gateway, str) or not gateway or read(config, "addresses") != [gateway]:
                yield f"spec.{field}.addresses must be its gateway alone: addresses come from the networks' pools."
        elif field != "ipv4Config" or not _is_of_a_row(case, config):
            ranges = " or ".join(
                f"[{address}] with gateway {row.gateway} and prefix {row.prefix}"
                for row in case.table.rows_of(case.stack)
                for address in row.addresses
            )
            yield f"spec.{field} is no range of the tenant. Write ipv4Config.addresses: {ranges or 'it has none'}."


def _is_of_a_row(case: Case, config: dict[str, Any]) -> bool:
    return any(
        read(config, "addresses") == [address]
        and read(config, "gateway") == row.gateway
        and whole_number(read(config, "prefix")) == row.prefix
        for row in case.table.rows_of(case.stack)
        for address in row.addresses
    )
