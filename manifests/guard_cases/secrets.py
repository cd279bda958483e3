"""Cases of Secrets: a tenant's own identity makes none and changes none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.common import HANDOVER, SERVICE_ACCOUNT, pve_secret
from manifests.guard_cases import names
from manifests.guard_cases.case import Body, Case, Matrix, Request

if TYPE_CHECKING:
    from manifests.guard_cases.world import World

_TYPE = "cluster.x-k8s.io/secret"
_SAYS = "makes no Secret"


def secret_cases(world: World) -> list[Case]:
    """Give the cases for each tenant that has a network."""
    matrix = Matrix(names.SECRETS, world.generation)
    token = {"kubernetes.io/service-account.name": SERVICE_ACCOUNT}
    for namespace in world.tenants:
        location = world.own(namespace)[0].location
        bodies = {
            "a kubeconfig": _body(namespace, f"guardcase-{location}-kubeconfig"),
            "a token of a ServiceAccount": _body(namespace, "guardcase", "kubernetes.io/service-account-token", token),
            "one without a type": _body(namespace, "guardcase", None),
            "credentials of a location": _body(namespace, f"{pve_secret(location)}-2"),
            "a handover": _body(namespace, f"{HANDOVER}-2"),
        }
        for text, body in bodies.items():
            matrix.refuse(
                Request(f"Secret in {namespace}, made by the tenant's own identity: {text}", body, user="tenant"),
                twin=Request(f"Secret in {namespace}, made by an administrator: {text}", body),
                says=_SAYS,
            )
        # The controller is no tenant's identity either.
        old = _body(namespace, None)
        new = {**old, "stringData": {"value": "another"}}
        matrix.refuse(
            Request(f"Secret in {namespace}, changed by the tenant's own identity", new, old=old, user="tenant"),
            twin=Request(f"Secret in {namespace}, changed by capmox", new, old=old, user="controller"),
            says=_SAYS,
        )
    return matrix.all()


def _body(
    namespace: str, name: str | None, kind: str | None = _TYPE, annotations: dict[str, str] | None = None
) -> Body:
    meta = {"namespace": namespace, "name": name, "annotations": annotations}
    body: Body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {key: value for key, value in meta.items() if value},
        "stringData": {"value": "guard case"},
    }
    return body if kind is None else {**body, "type": kind}
