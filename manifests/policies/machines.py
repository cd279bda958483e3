"""`hybrid-zone-machines`: a NIC on a zone's bridge is one of the networks that the zone gives the namespace.

Bound once per zone. Each binding judges only NICs on its own bridge; what is on no zone's bridge is the business of
`hybrid-closed-bridges`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.policies.parts import MACHINES, NICS, Variables, listed, policy, validation

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Generation

NAME = "hybrid-zone-machines"

_REFS = "[?i.nic.?ipv4PoolRef] + [?i.nic.?ipv6PoolRef]"

_OWN = (
    "i.nic.?vlan.orValue(0) == n.vlan && has(i.nic.ipv4PoolRef)"
    f" && ({_REFS}).all(r, r.kind == 'InClusterIPPool'"
    " && r.?apiGroup.orValue('') == 'ipam.cluster.x-k8s.io' && r.name == n.pool)"
)

VARIABLES: Variables = {
    **NICS,
    "mine": "params.spec.networks.filter(n, n['namespace'] == request.namespace)",
    "foreign": (
        "variables.nics.filter(i, i.nic.?bridge.orValue('') == params.spec.bridge"
        f" && !variables.mine.exists(n, {_OWN}))"
    ),
    "found": (
        "variables.foreign.map(i, i.name + ' asks for VLAN '"
        " + (has(i.nic.vlan) ? string(i.nic.vlan) : 'none') + ' with address pool '"
        f" + (size({_REFS}) == 0 ? 'none' : ({_REFS}).map(r, r.kind + ' ' + r.name).join(' and ')))"
    ),
    "allowed": "variables.mine.map(n, 'VLAN ' + string(n.vlan) + ' with InClusterIPPool ' + n.pool)",
}

VALIDATIONS = [
    validation("params != null", "The zone's table is missing."),
    validation(
        "!variables.changed || size(variables.nics) > 0",
        "spec.network.default must be set: without it a machine keeps the NICs of its template.",
    ),
    validation(
        "!variables.changed || variables.nics.all(i, i.nic.?bridge.orValue('') != '')",
        "Every NIC must name its bridge.",
    ),
    validation(
        "!variables.changed || size(variables.foreign) == 0",
        "A NIC is on a network that the platform did not give this namespace.",
        "'Namespace ' + request.namespace + ', bridge ' + params.spec.bridge + ': NIC '"
        " + variables.found.join('; NIC ') + '; allowed there: ' + " + listed("variables.allowed"),
    ),
]


def machines(generation: Generation, after: tuple[str, ...]) -> Manifest:
    """Give the policy."""
    return policy(
        NAME,
        generation,
        kinds=MACHINES,
        variables=VARIABLES,
        validations=VALIDATIONS,
        after=after,
        zoned=True,
    )
