"""`hybrid-cluster-ranges`, only in `capi-1.12`: a tenant's ProxmoxCluster hands out one range of one own network.

There capmox always takes the first NIC's address from the cluster's own range. The policy's one parameter holds all
rows: with one binding per zone, the cluster of a tenant with networks in two zones would be refused by the other zone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.common import tenant_namespaces
from manifests.generations import CAPI_1_12
from manifests.policies.clusters import RANGE_CHANGED
from manifests.policies.parts import CLUSTERS, SPEC, Content, Rule, Variables, listed, policy, texts, validation

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Environment

NAME = "hybrid-cluster-ranges"


def variables(environment: Environment) -> Variables:
    """Give the policy's variables."""
    return {
        **SPEC,
        "tenant": f"request.namespace in {texts(tenant_namespaces(environment))}",
        "rangeChanged": RANGE_CHANGED,
        "mine": "params.spec.networks.filter(n, n['namespace'] == request.namespace)",
        "own": (
            "[?variables.spec.?ipv4Config].exists(c, variables.mine.exists(n, n.gateway == c.?gateway.orValue('')"
            " && n.prefix == c.?prefix.orValue(0) && n.addresses.exists(a, c.?addresses.orValue([]) == [a])))"
        ),
        "asked": (
            "[?variables.spec.?ipv4Config].map(c, c.?addresses.orValue([]).join(', ') + ', gateway '"
            " + c.?gateway.orValue('none') + ', prefix ' + string(c.?prefix.orValue(0))).join('')"
        ),
        "allowed": (
            "variables.mine.map(n, n.addresses.join(' or ') + ' with gateway ' + n.gateway"
            " + ' and prefix ' + string(n.prefix))"
        ),
    }


VALIDATIONS = [
    validation("params != null", "The table of networks is missing."),
    validation(
        "!variables.tenant || !variables.rangeChanged || !has(variables.spec.ipv6Config)",
        "ipv6Config is closed: no network of a zone has IPv6 addresses.",
    ),
    validation(
        "!variables.tenant || !variables.rangeChanged || variables.own",
        "ipv4Config must be exactly one range of one of the namespace's networks, with its gateway and prefix.",
        "'Namespace ' + request.namespace + ': ipv4Config must be exactly one range of one network, not '"
        " + (variables.asked == '' ? 'nothing' : variables.asked) + '; allowed: ' + " + listed("variables.allowed"),
    ),
]


def cluster_ranges(environment: Environment, after: tuple[str, ...]) -> Manifest:
    """Give the policy for an environment of generation `capi-1.12`."""
    content = Content(variables(environment), VALIDATIONS, "ProxmoxNetworkTable")
    return policy(NAME, Rule.of(CAPI_1_12, *CLUSTERS), content, after)
