"""`hybrid-tenant-secrets`: a tenant's own identity makes only the Secrets that its stack makes.

RBAC can not bind `create` to names. A Secret of type `kubernetes.io/service-account-token` would be a token of any
ServiceAccount of the namespace; one named like a Secret of the platform would be read in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.common import SERVICE_ACCOUNT, own_secrets
from manifests.policies.parts import Content, Rule, Variables, listed, policy, texts, validation

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Environment

NAME = "hybrid-tenant-secrets"

TYPE = "cluster.x-k8s.io/secret"
"""The type of a Cluster API cluster's kubeconfig."""


def identities(environment: Environment) -> list[str]:
    """Name the users that the tenants' own identities are, sorted."""
    return sorted(
        f"system:serviceaccount:{tenant.namespace}:{SERVICE_ACCOUNT}" for tenant in environment.tenants.values()
    )


def variables(environment: Environment) -> Variables:
    """Give the policy's variables: the Secrets are written into it, with their namespaces."""
    secrets = [
        f"{tenant.namespace}/{secret}"
        for name, tenant in sorted(environment.tenants.items())
        for secret in own_secrets(environment, name)
    ]
    return {
        "secrets": texts(secrets),
        "mine": "variables.secrets.filter(s, s.startsWith(request.namespace + '/'))",
        "secret": "request.namespace + '/' + object.metadata.?name.orValue('')",
        "type": "object.?type.orValue('Opaque')",
    }


VALIDATIONS = [
    validation(
        f"variables.type == '{TYPE}'",
        f"A tenant makes only Secrets of type {TYPE}.",
        f"'Secret ' + variables.secret + ' is of type ' + variables.type + '; a tenant makes only {TYPE}'",
    ),
    validation(
        "variables.secret in variables.mine",
        "A tenant makes only the Secrets of its own clusters.",
        "'Secret ' + variables.secret + ' is not of a cluster of this namespace; allowed: ' + "
        + listed("variables.mine"),
    ),
]


def tenant_secrets(environment: Environment, after: tuple[str, ...]) -> Manifest:
    """Give the policy for an environment."""
    conditions = (
        {"name": "tenants-only", "expression": f"request.userInfo.username in {texts(identities(environment))}"},
    )
    content = Content(variables(environment), VALIDATIONS, conditions=conditions)
    return policy(NAME, Rule("", "v1", ("secrets",), ("CREATE",)), content, after)
