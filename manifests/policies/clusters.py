"""`hybrid-clusters`: a tenant's ProxmoxCluster hands out no addresses itself and uses the tenant's own credentials.

In `capi-1.10` its own address range must be the sentinel: the gateway alone, from which nothing can be leased. So a
machine that names no network's pool gets no address and never starts. The rule looks only at the object, not at a zone:
a namespace may have networks in several zones. In `capi-1.12` the range is `hybrid-cluster-ranges`' business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.common import proxmox_locations, pve_secret, tenant_namespaces
from manifests.generations import CAPI_1_10
from manifests.policies.parts import CLUSTERS, SPEC, Content, Rule, Variables, listed, policy, texts, validation

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Environment, Generation

NAME = "hybrid-clusters"

RANGE_CHANGED = (
    "oldObject == null || variables.spec.?ipv4Config != variables.old.?ipv4Config"
    " || variables.spec.?ipv6Config != variables.old.?ipv6Config"
)


def variables(environment: Environment) -> Variables:
    """Give the policy's variables: the tenants' namespaces and the names of their Secrets are written into it."""
    secrets = [pve_secret(location) for location in proxmox_locations(environment)]
    sentinel: Variables = {
        "configs": "[?variables.spec.?ipv4Config] + [?variables.spec.?ipv6Config]",
        "rangeChanged": RANGE_CHANGED,
    }
    return {
        **SPEC,
        "tenants": texts(tenant_namespaces(environment)),
        "tenant": "request.namespace in variables.tenants",
        "secrets": texts(secrets),
        **(sentinel if environment.management.generation == CAPI_1_10 else {}),
        "partsChanged": (
            "oldObject == null || variables.spec.?cloneSpec != variables.old.?cloneSpec"
            " || variables.spec.?zoneConfig != variables.old.?zoneConfig"
        ),
        "secretChanged": "oldObject == null || variables.spec.?credentialsRef != variables.old.?credentialsRef",
        "secret": "variables.spec.?credentialsRef.?name.orValue('')",
        "secretNamespace": "variables.spec.?credentialsRef.?namespace.orValue(request.namespace)",
    }


_REFERENCE = (
    "(has(variables.spec.credentialsRef) ? 'credentialsRef names Secret ' + variables.secretNamespace + '/'"
    " + variables.secret : 'credentialsRef is missing') + '; '"
)

_SENTINEL = validation(
    "!variables.tenant || !variables.rangeChanged || (size(variables.configs) > 0"
    " && variables.configs.all(c, c.?gateway.orValue('') != '' && c.addresses == [c.gateway]))",
    "ipv4Config.addresses must hold the gateway and nothing else: addresses come from the networks' own pools.",
)


def validations(generation: Generation) -> list[dict[str, str]]:
    """Give the policy's rules."""
    return [
        *([_SENTINEL] if generation == CAPI_1_10 else []),
        validation(
            "!variables.tenant || !variables.partsChanged || (!has(variables.spec.cloneSpec)"
            " && size(variables.spec.?zoneConfig.orValue([])) == 0)",
            "cloneSpec and zoneConfig are closed: NICs and ranges in them would be judged by nobody.",
        ),
        validation(
            "!variables.secretChanged || variables.secretNamespace == request.namespace"
            " || !(variables.secretNamespace in variables.tenants)",
            "credentialsRef must stay in the object's own namespace.",
            _REFERENCE + " + 'that namespace belongs to another tenant'",
        ),
        validation(
            "!variables.tenant || !variables.secretChanged || (variables.secretNamespace == request.namespace"
            " && variables.secret in variables.secrets)",
            "credentialsRef must name one of the namespace's own Secrets for a location.",
            _REFERENCE + " + 'allowed in namespace ' + request.namespace + ': ' + " + listed("variables.secrets"),
        ),
    ]


def clusters(environment: Environment, after: tuple[str, ...]) -> Manifest:
    """Give the policy for an environment."""
    generation = environment.management.generation
    content = Content(variables(environment), validations(generation))
    return policy(NAME, Rule.of(generation, *CLUSTERS), content, after)
