"""`hybrid-pools`: an InClusterIPPool with the name of a network has exactly that network's addresses.

Bound once per zone; a binding judges only pools that its own zone names. A dry run is not judged: it changes nothing,
and in a preview of a changed row the zone in the cluster is still the old one, so the pool's own change would be
refused by it. A dry run whose object asks for it by an annotation is judged, so that an audit can look. In a real run
the zone is written first; the API server judges by its watch of zones, which was up to a few milliseconds behind
(seen).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.policies.parts import Variables, policy, validation

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Generation

NAME = "hybrid-pools"

JUDGE = "hybrid.cozystack.io/judge"
"""An annotation (any value) on an object that asks to be judged in a dry run too."""

CONDITIONS = [
    {
        "name": "not-a-preview",
        "expression": (
            f"!(has(request.dryRun) && request.dryRun) || '{JUDGE}' in object.metadata.?annotations.orValue({{}})"
        ),
    }
]

VARIABLES: Variables = {
    "changed": "oldObject == null || object.spec != oldObject.spec",
    "rows": (
        "params.spec.networks.filter(n, n['namespace'] == request.namespace"
        " && n.pool == object.metadata.?name.orValue(''))"
    ),
}

VALIDATIONS = [
    validation("params != null", "The zone's table is missing."),
    validation(
        "!variables.changed || variables.rows.all(n, object.spec.?addresses.orValue([]) == n.addresses"
        " && object.spec.?prefix.orValue(0) == n.prefix && object.spec.?gateway.orValue('') == n.gateway)",
        "The pool differs from the network of its name.",
        "'Namespace ' + request.namespace + ': pool ' + object.metadata.?name.orValue('') + ' must have '"
        " + variables.rows.map(n, 'addresses ' + n.addresses.join(', ') + ', gateway ' + n.gateway"
        " + ', prefix ' + string(n.prefix)).join(' and ')",
    ),
]


def pools(generation: Generation, after: tuple[str, ...]) -> Manifest:
    """Give the policy."""
    return policy(
        NAME,
        generation,
        kinds=("InClusterIPPool",),
        variables=VARIABLES,
        validations=VALIDATIONS,
        after=after,
        zoned=True,
        conditions=CONDITIONS,
    )
