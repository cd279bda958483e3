"""Cases of Secrets: a tenant's own identity makes those of its stack, which RBAC can not bind to names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.common import HANDOVER, SERVICE_ACCOUNT, own_secrets, pve_secret
from manifests.guard_cases import names
from manifests.guard_cases.case import Body, Case, Matrix, Request

if TYPE_CHECKING:
    from manifests.guard_cases.world import World

_TYPE = "cluster.x-k8s.io/secret"


def secret_cases(world: World) -> list[Case]:
    """Give the cases for each tenant that has a network and whose stack makes a Secret."""
    matrix = Matrix(names.SECRETS, world.generation)
    for namespace, tenant in world.tenants.items():
        allowed = own_secrets(world.environment, tenant)
        if not allowed:
            continue
        where = f"Secret in {namespace}, made by the tenant's own identity"
        first = allowed[0]
        twin = Request(f"{where}: {first}", _body(namespace, first), user="tenant")
        token = {"kubernetes.io/service-account.name": SERVICE_ACCOUNT}
        wrong = {
            "a token of a ServiceAccount": _body(namespace, first, "kubernetes.io/service-account-token", token),
            f"{first} without a type": _body(namespace, first, None),
            "a name of its choice": _body(namespace, "guardcase"),
            "credentials of a location": _body(namespace, pve_secret(world.own(namespace)[0].location)),
            "a handover": _body(namespace, f"{HANDOVER}-2"),
            "the kubeconfig of a cluster that is not its own": _body(namespace, "guardcase-kubeconfig"),
        }
        for text, body in wrong.items():
            matrix.refuse(Request(f"{where}: {text}", body, user="tenant"), twin=twin, says=body["metadata"]["name"])
        free = Request(
            f"Secret in {namespace}, made by an administrator: a name of its choice", _body(namespace, "guardcase")
        )
        again = Request(f"{where}: a name of an administrator's choice", _body(namespace, "guardcase"), user="tenant")
        matrix.refuse(again, twin=free, says="guardcase")
    return matrix.all()


def _body(namespace: str, name: str, kind: str | None = _TYPE, annotations: dict[str, str] | None = None) -> Body:
    body: Body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"namespace": namespace, "name": name, **({"annotations": annotations} if annotations else {})},
        "stringData": {"value": "guard case"},
    }
    return body if kind is None else {**body, "type": kind}
