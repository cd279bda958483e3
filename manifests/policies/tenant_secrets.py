"""`hybrid-tenant-secrets`: a tenant's own identity makes no Secret and changes none.

Its Role gives it no right to; this holds whatever right is added to it. Cluster API would execute what a kubeconfig
says (`exec`, `tokenFile`), a Secret of type `kubernetes.io/service-account-token` would be a token of any
ServiceAccount of the namespace, and one named like a Secret of the platform would be read in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.common import identities
from manifests.policies.parts import Content, Rule, policy, texts, validation

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Environment

NAME = "hybrid-tenant-secrets"

VALIDATIONS = [validation("false", "A tenant's own identity makes no Secret and changes none.")]


def tenant_secrets(environment: Environment, after: tuple[str, ...]) -> Manifest:
    """Give the policy for an environment."""
    conditions = (
        {"name": "tenants-only", "expression": f"request.userInfo.username in {texts(identities(environment))}"},
    )
    content = Content({}, VALIDATIONS, conditions=conditions)
    return policy(NAME, Rule("", "v1", ("secrets",)), content, after)
