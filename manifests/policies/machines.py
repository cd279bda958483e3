"""`hybrid-zone-machines`: a NIC on a zone's bridge is one of the networks that the zone gives the namespace.

Bound once per zone. Each binding judges only NICs on its own bridge, in every namespace; what is on no zone's bridge is
the business of `hybrid-closed-bridges`. That a machine has NICs of its own is asked of tenants alone.

In `capi-1.10` a NIC is its VLAN together with its address pool. In `capi-1.12` the first NIC always has an address of
its ProxmoxCluster's own range (`hybrid-cluster-ranges`), and a pool beside it would give it a second one: there it is
its VLAN alone, without a pool. Further NICs name their network's pool, or capmox never starts the machine; the
environment makes no such pools there, since they would lease the addresses of a cluster's range once more.

Proxmox VE calls VLAN 205 of vmbr1 `vmbr1v205` where the bridge knows no VLANs, and Linux calls it `vmbr1.205`: bridges
of such names are ways around the table, closed in every namespace.
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
    texts,
    validation,
)

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Environment, Generation

NAME = "hybrid-zone-machines"


def _own(generation: Generation) -> str:
    """Write whether the NIC `i` is the network `n`."""
    refs = REFS[generation]
    pools = f"({refs}).all(r, {IS_POOL} && r.name == n.pool)"
    vlan = "i.nic.?vlan.orValue(0) == n.vlan"
    if generation == CAPI_1_12:
        return f"{vlan} && (i.name == 'net0' ? size({refs}) == 0 : (size({refs}) > 0 && {pools}))"
    return f"{vlan} && has(i.nic.ipv4PoolRef) && {pools}"


def variables(environment: Environment) -> Variables:
    """Give the policy's variables: the tenants' namespaces are written into it."""
    generation = environment.management.generation
    refs = REFS[generation]
    allowed = "VLAN ' + string(n.vlan) + ' with InClusterIPPool ' + n.pool"
    if generation == CAPI_1_12:
        allowed = "VLAN ' + string(n.vlan) + ' (net0 without a pool, others with InClusterIPPool ' + n.pool + ')'"
    return {
        **nics(generation),
        "aliases": (
            "variables.nics.filter(i, i.nic.?bridge.orValue('').matches('^' + params.spec.bridge + '[v.][0-9]+$'))"
        ),
        "tenant": f"request.namespace in {texts(tenant_namespaces(environment))}",
        "mine": "params.spec.networks.filter(n, n['namespace'] == request.namespace)",
        "foreign": (
            "variables.nics.filter(i, i.nic.?bridge.orValue('') == params.spec.bridge"
            f" && !variables.mine.exists(n, {_own(generation)}))"
        ),
        "found": (
            "variables.foreign.map(i, i.name + ' asks for VLAN '"
            " + (has(i.nic.vlan) ? string(i.nic.vlan) : 'none') + ' with address pool '"
            f" + (size({refs}) == 0 ? 'none' : ({refs}).map(r, r.kind + ' ' + r.name).join(' and ')))"
        ),
        "allowed": f"variables.mine.map(n, '{allowed})",
    }


def validations(generation: Generation) -> list[dict[str, str]]:
    """Give the policy's rules."""
    return [
        validation("params != null", "The zone's table is missing."),
        validation(
            f"!variables.changed || !variables.tenant || {network_set(generation)}", network_missing(generation)
        ),
        validation(
            "!variables.changed || variables.nics.all(i, i.nic.?bridge.orValue('') != '')",
            "Every NIC must name its bridge.",
        ),
        validation(
            "!variables.changed || size(variables.aliases) == 0",
            "A NIC names a VLAN of a zone's bridge as if it were a bridge of its own.",
            "'Namespace ' + request.namespace + ': NIC '"
            " + variables.aliases.map(i, i.name + ' (\"' + i.nic.bridge + '\")').join(', ')"
            " + ' names a VLAN of ' + params.spec.bridge + ' as if it were a bridge; write the bridge and its VLAN'",
        ),
        validation(
            "!variables.changed || size(variables.foreign) == 0",
            "A NIC is on a network that the platform did not give this namespace.",
            "'Namespace ' + request.namespace + ', bridge ' + params.spec.bridge + ': NIC '"
            " + variables.found.join('; NIC ') + '; allowed there: ' + " + listed("variables.allowed"),
        ),
    ]


def machines(environment: Environment, after: tuple[str, ...]) -> Manifest:
    """Give the policy for an environment."""
    generation = environment.management.generation
    content = Content(variables(environment), validations(generation), "ProxmoxNetworkZone")
    return policy(NAME, Rule.of(generation, *MACHINES), content, after)
