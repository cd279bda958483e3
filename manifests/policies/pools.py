"""`hybrid-pools`: an InClusterIPPool with the name of a network has exactly that network's addresses.

Bound once per zone; a binding judges only pools that its own zone names. A dry run is not judged: it changes nothing,
and in a preview of a changed row the zone in the cluster is still the old one, so the pool's own change would be
refused by it. (A dry run whose object asks for it by the annotation `JUDGE` is judged, so that an audit can look.) In a
real run the zone is written first; the API server judges by its watch of zones, which was up to a few milliseconds
behind (seen).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.policies.parts import PREVIEWED, Content, Rule, Variables, policy, validation

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Generation

NAME = "hybrid-pools"

CONDITIONS = ({"name": "not-a-preview", "expression": PREVIEWED},)

PLAIN = (
    "object.spec.all(k, k in ['addresses', 'prefix', 'gateway', 'addressReuseGracePeriodSeconds']"
    " || (k == 'allocateReservedIPAddresses' && !object.spec[k]))"
)
"""Whether nothing in a pool makes its addresses others than those it lists."""

VARIABLES: Variables = {
    "changed": "oldObject == null || object.spec != oldObject.spec",
    "rows": (
        "params.spec.networks.filter(n, n['namespace'] == request.namespace"
        " && n.pool == object.metadata.?name.orValue(''))"
    ),
    "plain": PLAIN,
}

VALIDATIONS = [
    validation("params != null", "The zone's table is missing."),
    validation(
        "!variables.changed || variables.rows.all(n, object.spec.?addresses.orValue([]) == n.addresses"
        " && object.spec.?prefix.orValue(0) == n.prefix && object.spec.?gateway.orValue('') == n.gateway"
        " && variables.plain)",
        "The pool differs from the network of its name.",
        "'Namespace ' + request.namespace + ': pool ' + object.metadata.?name.orValue('') + ' must have '"
        " + variables.rows.map(n, 'addresses ' + n.addresses.join(', ') + ', gateway ' + n.gateway"
        " + ', prefix ' + string(n.prefix)).join(' and ') + ' and nothing else'",
    ),
]


def pools(generation: Generation, after: tuple[str, ...]) -> Manifest:
    """Give the policy."""
    content = Content(VARIABLES, VALIDATIONS, "ProxmoxNetworkZone", CONDITIONS)
    return policy(NAME, Rule.of(generation, "InClusterIPPool"), content, after)
