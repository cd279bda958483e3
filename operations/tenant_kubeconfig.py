"""The kubeconfig with which a tenant's stack works: its own ServiceAccount's token and nothing else."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kubernetes import client, config
from urllib3.exceptions import HTTPError

from manifests.identity import token_secret

if TYPE_CHECKING:
    from pathlib import Path

    from settings.environment import Environment
    from settings.stack import TenantSettings

TIMEOUT = 10
"""Seconds."""


class NotYetError(RuntimeError):
    """The tenant's token is not there."""


@dataclass(frozen=True)
class Tenant:
    """What must be known of a tenant to write its kubeconfig: its stack, its Secret, and the admin's context."""

    stack: str
    namespace: str
    secret: str
    admin_context: str


def tenant_of(settings: TenantSettings) -> Tenant:
    """Take it from a tenant's settings."""
    return tenant_in(settings.environment, settings.stack)


def tenant_in(environment: Environment, stack: str) -> Tenant:
    """Take it from the environment, for a tenant's stack of it."""
    name = stack.partition("-")[2]
    namespace = environment.tenants[name].namespace
    return Tenant(stack, namespace, token_secret(environment, name), environment.management.context)


def tenant_kubeconfig(tenant: Tenant, admin: Path | None = None) -> dict[str, Any]:
    """Read the tenant's token with the admin's rights and put it into a kubeconfig with one context, the stack's name.

    The admin's kubeconfig is `admin` or `KUBECONFIG`'s. Raises `NotYetError` where there is no way to the cluster, or
    where the environment has not made the token.
    """
    environment = tenant.stack.partition("-")[0]
    try:
        connection = config.new_client_from_config(  # type: ignore[no-untyped-call]  # the client ships without types
            str(admin) if admin else None, tenant.admin_context
        )
        api = client.CoreV1Api(connection)
        secret = api.read_namespaced_secret(tenant.secret, tenant.namespace, _request_timeout=TIMEOUT)
    except config.ConfigException:
        message = f"no admin's kubeconfig with a context {tenant.admin_context}: set KUBECONFIG to it"
        raise NotYetError(message) from None
    except client.ApiException as error:
        message = f"Secret {tenant.namespace}/{tenant.secret}: {error.reason}; run `pulumi up -s {environment}` first"
        raise NotYetError(message) from None
    except (HTTPError, OSError):
        message = f"the API server of context {tenant.admin_context} does not answer; in the lab, `make lab` starts it"
        raise NotYetError(message) from None
    data = secret.data or {}
    if "token" not in data:
        message = f"Secret {tenant.namespace}/{tenant.secret} has no token yet: kube-controller-manager writes it"
        raise NotYetError(message)
    server = api.api_client.configuration.host
    cluster = (
        {"server": server, "certificate-authority-data": data["ca.crt"]} if "ca.crt" in data else {"server": server}
    )
    name = tenant.stack
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": {"token": base64.b64decode(data["token"]).decode()}}],
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": name, "namespace": tenant.namespace}},
        ],
        "current-context": name,
    }
