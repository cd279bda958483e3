"""The kubeconfig with which a tenant's stack works: its own ServiceAccount's token and nothing else."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from kubernetes import client, config

if TYPE_CHECKING:
    from pathlib import Path

    from settings.stack import TenantSettings

TOKEN_SECRET = "hybrid-token"  # noqa: S105 - the object's name


class NotYetError(RuntimeError):
    """The tenant's token is not there."""


def tenant_kubeconfig(settings: TenantSettings, admin: Path | None = None) -> dict[str, Any]:
    """Read the tenant's token with the admin's rights and put it into a kubeconfig with one context, the stack's name.

    The admin's kubeconfig is `admin` or `KUBECONFIG`'s, its context the environment's `management.context`. Raises
    `NotYetError` where the environment has not made the token.
    """
    context = settings.environment.management.context
    connection = config.new_client_from_config(  # type: ignore[no-untyped-call]  # the client ships without types
        str(admin) if admin else None, context
    )
    api = client.CoreV1Api(connection)
    hint = f"run `pulumi up -s {settings.environment_name}` first"
    try:
        secret = api.read_namespaced_secret(TOKEN_SECRET, settings.namespace)
    except client.ApiException as error:
        message = f"Secret {settings.namespace}/{TOKEN_SECRET}: {error.reason}; {hint}"
        raise NotYetError(message) from None
    data = secret.data or {}
    if "token" not in data:
        message = f"Secret {settings.namespace}/{TOKEN_SECRET} has no token yet: kube-controller-manager writes it"
        raise NotYetError(message)
    server = api.api_client.configuration.host
    cluster = (
        {"server": server, "certificate-authority-data": data["ca.crt"]} if "ca.crt" in data else {"server": server}
    )
    name = settings.stack
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": {"token": base64.b64decode(data["token"]).decode()}}],
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": name, "namespace": settings.namespace}},
        ],
        "current-context": name,
    }
