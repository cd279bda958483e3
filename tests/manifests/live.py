"""A real API server with the upstream CRDs of a generation and an environment's objects in it."""

from __future__ import annotations

import base64
import copy
import functools
import json
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab import cluster as lab_cluster
from lab import crds as lab_crds
from manifests.generations import KINDS
from manifests.isolation import policies
from manifests.policies.parts import JUDGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lab.cluster import Cluster
    from manifests.manifest import Manifest
    from settings.environment import Generation

Body = dict[str, Any]

UPSTREAM = Path(__file__).resolve().parents[3] / "shared" / "crds"
CAPMOX = "system:serviceaccount:capmox-system:capmox-controller-manager"
CAPI = "system:serviceaccount:capi-system:capi-manager"
CHARTS = "system:serviceaccount:cozy-fluxcd:flux"
STRANGER = "system:serviceaccount:platform:someone"
OK = (200, 201)
_MORE_PLURALS = {"ValidatingAdmissionPolicy": "validatingadmissionpolicies", "IPAddress": "ipaddresses"}


class Api:
    """The API server with an environment in it."""

    def __init__(self, cluster: Cluster, environment: Mapping[str, Manifest], generation: Generation) -> None:
        """Apply the environment's objects in their order."""
        self.cluster = cluster
        self.environment = environment
        self.generation = generation
        for item in environment.values():
            body = json.loads(json.dumps(item.body))
            for owner in body["metadata"].get("ownerReferences", ()):
                account = self.read(f"/api/v1/namespaces/{item.namespace}/serviceaccounts/hybrid")
                owner["uid"] = account["metadata"]["uid"]
            # A definition is served a moment after it was made.
            status, said = until(functools.partial(self.apply, body), lambda answer: answer[0] != 404)
            assert status in OK, said
        self.apply(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": "test-users"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
                "subjects": [
                    {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}
                    for user in (CAPMOX, CAPI, CHARTS, STRANGER)
                ],
            }
        )

    def give_tenants_secrets(self) -> None:
        """Let every ServiceAccount write Secrets: a tenant's own Role gives it no right to, so no policy was asked."""
        rbac = "rbac.authorization.k8s.io"
        frame = {"apiVersion": f"{rbac}/v1", "metadata": {"name": "test-secrets"}}
        rules = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "get", "patch", "update"]}]
        bound = {
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "test-secrets"},
            "subjects": [
                {"kind": "ServiceAccount", "name": "hybrid", "namespace": item.namespace}
                for item in self.environment.values()
                if item.kind == "ServiceAccount"
            ],
        }
        for body in (
            {**frame, "kind": "ClusterRole", "rules": rules},
            {**frame, "kind": "ClusterRoleBinding", **bound},
        ):
            status, said = self.apply(body)
            assert status in OK, said

    def token(self, namespace: str) -> str:
        """Give the token of a tenant's own identity."""
        secret = f"/api/v1/namespaces/{namespace}/secrets/hybrid-token"
        data = until(lambda: self.read(secret).get("data", {}), lambda found: "token" in found)
        return base64.b64decode(data["token"]).decode()

    def apply(
        self,
        body: Body,
        *,
        dry_run: bool = False,
        token: str | None = None,
        as_user: str | None = None,
    ) -> tuple[int, Any]:
        """Apply an object as the engine's provider does: server-side, nothing unknown."""
        options = "fieldManager=tests&force=true&fieldValidation=Strict" + ("&dryRun=All" if dry_run else "")
        kind = "application/apply-patch+yaml"
        path = f"{path_of(body)}?{options}"
        return self.cluster.request("PATCH", path, body, content_type=kind, token=token, as_user=as_user)

    def refusal(self, body: Body, as_user: str | None = None) -> str:
        """Give the message with which an object is refused at preview, "" where it is not; nothing is kept."""
        if body["kind"] == "InClusterIPPool":
            body = copy.deepcopy(body)
            body["metadata"].setdefault("annotations", {})[JUDGE] = "yes"
        status, said = self.apply(body, dry_run=True, as_user=as_user)
        if status in OK:
            return ""
        assert status == 422, said
        return str(said["message"])

    def change(self, body: Body, patch: Body, as_user: str | None = None, subresource: str = "") -> str:
        """Patch an object as a controller does; give the message of a refusal, "" where it passes."""
        path = f"{path_of(body)}{subresource}"
        kind = "application/merge-patch+json"
        status, said = self.cluster.request("PATCH", path, patch, content_type=kind, as_user=as_user)
        if status == 200:
            return ""
        assert status == 422, said
        return str(said["message"])

    def make(self, body: Body, as_user: str | None = None) -> Body:
        """Create an object; it must not be there yet."""
        status, said = self.cluster.request("POST", path_of(body).rpartition("/")[0], body, as_user=as_user)
        assert status == 201, said
        return dict(said)

    def delete(self, body: Body, as_user: str | None = None) -> int:
        """Ask for an object's deletion; give the status."""
        return self.cluster.request("DELETE", path_of(body), as_user=as_user)[0]

    def there(self, body: Body) -> bool:
        """Say whether an object is there."""
        return self.cluster.request("GET", path_of(body))[0] == 200

    def read(self, path: str) -> Any:
        """Get an object as the administrator."""
        return self.cluster.request("GET", path)[1]


def path_of(body: Body) -> str:
    """Give the address of an object."""
    version, kind = body["apiVersion"], body["kind"]
    plural = KINDS[kind].plural if kind in KINDS else _MORE_PLURALS.get(kind, f"{kind.lower()}s")
    meta = body["metadata"]
    below = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
    return f"{'/api' if version == 'v1' else '/apis'}/{version}{below}/{plural}/{meta['name']}"


def until(ask: Callable[[], Any], done: Callable[[Any], Any], seconds: float = 40) -> Any:
    """Ask until the answer will do; give it."""
    deadline = time.monotonic() + seconds
    while not done(answer := ask()):
        assert time.monotonic() < deadline, answer
        time.sleep(0.1)
    return answer


def effective(api: Api, refused: Mapping[str, tuple[Body, str | None]]) -> None:
    """Wait until each policy refuses something; `refused` gives by policy an object and who sends it."""
    assert set(refused) == set(policies(api.generation))
    for policy, (body, user) in refused.items():
        until(functools.partial(api.refusal, body, user), functools.partial(_speaks, policy))


def _speaks(policy: str, said: str) -> bool:
    return f"'{policy}'" in said


@contextmanager
def api_server(
    folder: Path, crds: Path | None, environment: Mapping[str, Manifest], generation: Generation
) -> Iterator[Api]:
    """Run an API server for a while."""
    cluster = lab_cluster.start(folder)
    try:
        lab_crds.load(cluster, crds, lambda _: None)
        namespaces = {item.namespace for item in environment.values() if item.namespace}
        lab_crds.namespaces(cluster, sorted({*namespaces, "platform"}))
        yield Api(cluster, environment, generation)
    finally:
        lab_cluster.stop(folder)
