"""`hybrid-pool-names`: a tenant's namespace has no address pools but its networks' and those that capmox makes.

capmox copies a ProxmoxCluster's range into `<ProxmoxCluster>-v4-icip` (and `-v6-icip`): in `capi-1.10` that is the
sentinel, the gateway alone; in `capi-1.12` one range of one of the namespace's networks. A pool with the name of a
network is `hybrid-pools`' business. As there, a preview is not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.common import tenant_namespaces
from manifests.generations import CAPI_1_12
from manifests.policies.parts import Content, Rule, Variables, listed, policy, texts, validation
from manifests.policies.pools import CONDITIONS, PLAIN

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Environment, Generation

NAME = "hybrid-pool-names"

_SENTINEL = "object.spec.?gateway.orValue('') != '' && object.spec.?addresses.orValue([]) == [object.spec.gateway]"
_RANGE = (
    "variables.mine.exists(n, n.gateway == object.spec.?gateway.orValue('')"
    " && n.prefix == object.spec.?prefix.orValue(0)"
    " && n.addresses.exists(a, object.spec.?addresses.orValue([]) == [a]))"
)


def variables(environment: Environment) -> Variables:
    """Give the policy's variables."""
    latest = environment.management.generation == CAPI_1_12
    return {
        "changed": "oldObject == null || object.spec != oldObject.spec",
        "tenant": f"request.namespace in {texts(tenant_namespaces(environment))}",
        "judged": "variables.tenant && variables.changed",
        "mine": "params.spec.networks.filter(n, n['namespace'] == request.namespace)",
        "name": "object.metadata.?name.orValue('')",
        # A ProxmoxCluster's name stands before it, so it can not be the whole name.
        "ofCluster": f"variables.name.matches('^.+-v{'4' if latest else '[46]'}-icip$')",
        "given": f"({PLAIN}) && ({_RANGE if latest else _SENTINEL})",
        "allowed": "variables.mine.map(n, n.name)",
    }


def validations(generation: Generation) -> list[dict[str, str]]:
    """Give the policy's rules."""
    content = (
        "A cluster's own pool must be exactly one range of one of the namespace's networks."
        if generation == CAPI_1_12
        else "A cluster's own pool must hold the gateway and nothing else."
    )
    return [
        validation("params != null", "The table of networks is missing."),
        validation(
            "!variables.judged || variables.ofCluster || variables.mine.exists(n, n.name == variables.name)",
            "The platform gave this namespace no network of the pool's name.",
            "'Namespace ' + request.namespace + ': no network is named ' + variables.name + '; allowed: ' + "
            + listed("variables.allowed")
            + " + ', and what capmox makes for a ProxmoxCluster'",
        ),
        validation("!variables.judged || !variables.ofCluster || variables.given", content),
    ]


def pool_names(environment: Environment, after: tuple[str, ...]) -> Manifest:
    """Give the policy for an environment."""
    generation = environment.management.generation
    content = Content(variables(environment), validations(generation), "ProxmoxNetworkTable", CONDITIONS)
    return policy(NAME, Rule.of(generation, "InClusterIPPool"), content, after)
