"""`hybrid-closed-bridges`: machines of tenants stand on no bridge but those of zones and those declared open.

On an open bridge too a tenant's NIC names its VLAN, one of those that are open there: Proxmox VE makes an untagged NIC
on a VLAN-aware bridge a trunk of all of them.

No NIC of a tenant, on whatever bridge, takes addresses from a pool that serves all namespaces.

For every namespace it also refuses bridge and device names that are more than a name: capmox joins them into the
configuration that it sends to Proxmox VE, so "vmbr1,tag=205" would be a NIC on VLAN 205 (seen with capmox 0.7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.common import tenant_namespaces
from manifests.generations import CAPI_1_12
from manifests.policies.parts import (
    IS_POOL,
    MACHINES,
    REFS,
    Content,
    Rule,
    Variables,
    listed,
    network_missing,
    network_set,
    nics,
    policy,
    text,
    texts,
    validation,
)

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Environment, Generation

NAME = "hybrid-closed-bridges"

_NAMES = ".map(i, i.name + ' (\"' + i.nic.?bridge.orValue('') + '\")').join(', ')"


def bridges_of(environment: Environment) -> list[str]:
    """Name the bridges on which a tenant's NICs may be, sorted."""
    return sorted({zone.bridge for zone in environment.zones.values()} | set(environment.management.open_bridges))


def _open(environment: Environment) -> str:
    """Write whether the NIC `i`, which names bridge and VLAN, is on a VLAN of an open bridge that is open."""
    management = environment.management
    parts = []
    for bridge in sorted(set(management.open_bridges)):
        ranges = management.open_vlans.get(bridge, ())
        legal = " || ".join(f"(i.nic.vlan >= {each.first} && i.nic.vlan <= {each.last})" for each in ranges)
        named = f"i.nic.bridge == {text(bridge)}"
        parts.append(f"({named} && ({legal}))" if legal else named)
    return " || ".join(parts)


def _open_texts(environment: Environment) -> list[str]:
    """Say for a person what is open."""
    management = environment.management
    vlans = {
        bridge: ", ".join(str(each.first) if len(each) == 1 else str(each) for each in ranges)
        for bridge, ranges in management.open_vlans.items()
    }
    return [f"{bridge} with VLAN {vlans.get(bridge, '1-4094')}" for bridge in sorted(set(management.open_bridges))]


def variables(environment: Environment) -> Variables:
    """Give the policy's variables: the tenants' namespaces and the bridges are written into it."""
    generation = environment.management.generation
    if generation == CAPI_1_12:
        devices = "variables.nics.map(i, i.name).filter(d, !d.matches('^net([0-9]|[12][0-9]|3[01])$'))"
    else:
        # "net0" is the default NIC's own name: an additional one of that name would be another of the same device.
        devices = (
            "variables.net.?additionalDevices.orValue([]).map(d, d.?name.orValue(''))"
            ".filter(d, !d.matches('^net([1-9]|[12][0-9]|3[01])$'))"
        )
    opened = {
        "opened": texts(_open_texts(environment)),
        "untagged": (
            f"variables.nics.filter(i, i.nic.?bridge.orValue('') in"
            f" {texts(sorted(set(environment.management.open_bridges)))}"
            f" && !(has(i.nic.vlan) && ({_open(environment)})))"
        ),
    }
    return {
        **nics(generation),
        **(opened if environment.management.open_bridges else {}),
        "tenant": f"request.namespace in {texts(tenant_namespaces(environment))}",
        "bridges": texts(bridges_of(environment)),
        "malformed": (
            "variables.nics.filter(i, !i.nic.?bridge.orValue('').matches('^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$'))"
        ),
        "devices": devices,
        "closed": "variables.nics.filter(i, !(i.nic.?bridge.orValue('') in variables.bridges))",
        "shared": f"variables.nics.filter(i, !({REFS[generation]}).all(r, {IS_POOL}))",
    }


_UNTAGGED = validation(
    "!variables.changed || !variables.tenant || size(variables.untagged) == 0",
    "A NIC on an open bridge names no VLAN that is open there.",
    "'Namespace ' + request.namespace + ': NIC ' + variables.untagged"
    ".map(i, i.name + ' (\"' + i.nic.bridge + '\")').join(', ')"
    " + ' names no VLAN that is open on its bridge (without one it would be on all of them); open: '"
    " + variables.opened.join('; ')",
)


def validations(generation: Generation, *, opened: bool) -> list[dict[str, str]]:
    """Give the policy's rules; `opened` says that there is an open bridge."""
    devices = (
        "A NIC is not named net0 to net31."
        if generation == CAPI_1_12
        else "An additional NIC is not named net1 to net31."
    )
    return [
        validation(
            "!variables.changed || size(variables.malformed) == 0",
            "A NIC's bridge is not a bridge's name.",
            "'Not the name of a bridge: NIC ' + variables.malformed" + _NAMES,
        ),
        validation("!variables.changed || size(variables.devices) == 0", devices),
        validation(
            f"!variables.changed || !variables.tenant || {network_set(generation)}",
            network_missing(generation),
        ),
        validation(
            "!variables.changed || !variables.tenant || size(variables.closed) == 0",
            "A NIC is on a bridge that is not open to tenants.",
            "'Namespace ' + request.namespace + ': NIC ' + variables.closed"
            + _NAMES
            + " + ' is on a bridge that is not open to tenants; allowed: ' + "
            + listed("variables.bridges"),
        ),
        *([_UNTAGGED] if opened else []),
        validation(
            "!variables.changed || !variables.tenant || size(variables.shared) == 0",
            "A NIC takes its address from something else than an InClusterIPPool of its own namespace.",
            "'Namespace ' + request.namespace + ': NIC ' + variables.shared"
            + _NAMES
            + " + ' takes its address from something else than an InClusterIPPool of this namespace'",
        ),
    ]


def bridges(environment: Environment, after: tuple[str, ...]) -> Manifest:
    """Give the policy for an environment."""
    generation = environment.management.generation
    content = Content(variables(environment), validations(generation, opened=bool(environment.management.open_bridges)))
    return policy(NAME, Rule.of(generation, *MACHINES), content, after)
