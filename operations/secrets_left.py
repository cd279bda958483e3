"""Secrets in tenants' namespaces that carry a right and that the program did not make.

A kubeconfig that a tenant wrote is code that Cluster API executes, a token that a tenant asked for is somebody's right.
Admission refuses both today; this looks for those that were there before. Only metadata is read, never what is in one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from manifests.identity import token_secret
from operations.api import UnreadableError
from operations.managers import PROGRAM, managers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from operations.api import Api
    from settings.stack import EnvironmentSettings

_TOKENS = "type=kubernetes.io/service-account-token"
_KUBECONFIG = "-kubeconfig"
_OWNER = "KamajiControlPlane"
_WHAT = "kubeconfigs and tokens of unknown origin"

Line = tuple[str, Literal["ok", "WRONG", "not checked"], str]


def secrets(api: Api, settings: EnvironmentSettings) -> Iterator[Line]:
    """List them by namespace: WRONG where a program's stack wrote one, else a person must say whose it is.

    A kubeconfig that belongs to a hosted control plane, and that no stack wrote, is the platform's. The names of field
    managers are what a writer calls itself: a tenant that wrote by hand could have taken any.
    """
    for tenant in sorted(settings.environment.tenants):
        namespace = settings.environment.tenants[tenant].namespace
        try:
            yield from _of(api, namespace, token_secret(settings.environment, tenant))
        except UnreadableError as error:
            yield f"{namespace}: {_WHAT}", "not checked", str(error)


def _of(api: Api, namespace: str, own: str) -> Iterator[Line]:
    path = f"/api/v1/namespaces/{namespace}/secrets"
    every = api.items(path, metadata_only=True) or ()
    tokens = {item["metadata"]["name"] for item in api.items(path, fields=_TOKENS, metadata_only=True) or ()}
    found = 0
    for item in every:
        meta = item["metadata"]
        name = meta["name"]
        token = name in tokens and name != own
        kubeconfig = name.endswith(_KUBECONFIG) and not _platforms(meta)
        if not token and not kubeconfig:
            continue
        found += 1
        kind = "a ServiceAccount's token" if token else "a kubeconfig that no hosted control plane owns"
        written = ", ".join(managers(item)) or "unknown"
        since = meta.get("creationTimestamp", "an unknown time")
        by_stack = any(_stacks(manager) for manager in managers(item))
        detail = f"{kind}, there since {since}, written by {written}: " + (
            "tenants' stacks write none today; delete it" if by_stack else "find out whose it is; delete a tenant's"
        )
        yield f"Secret {namespace}/{name}", "WRONG" if by_stack else "not checked", detail
    if not found:
        yield f"{namespace}: no {_WHAT}", "ok", ""


def _platforms(meta: Mapping[str, Any]) -> bool:
    owned = any(owner.get("kind") == _OWNER for owner in meta.get("ownerReferences") or ())
    return owned and not any(_stacks(manager) for manager in managers({"metadata": meta}))


def _stacks(manager: str) -> bool:
    return manager.startswith(PROGRAM)
