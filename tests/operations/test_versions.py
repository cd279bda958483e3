"""What is written when a tenant's objects are taken over into another generation."""

from __future__ import annotations

from typing import Any

import pytest

from operations.api import OK, Answer, UnreadableError
from operations.versions import NotMovedError, move, not_moved
from tests.manifests.examples import Changes, tenant
from tests.operations.fakes import FakeApi

LATER: Changes = {"management.generation": "capi-1.12"}
SETTINGS = tenant("globex", around=LATER)
GROUP = "infrastructure.cluster.x-k8s.io"
PATH = f"/apis/{GROUP}/v1alpha2/namespaces/tenant-globex/proxmoxclusters/prod"
SPEC = {"allowedNodes": ["pve1"], "ipv4Config": {"addresses": ["10.202.0.1"]}}


class Cluster(FakeApi):
    """Answers every patch."""

    def __init__(self, *entries: tuple[str, str, str], answer: Answer | None = None) -> None:
        """Hold a ProxmoxCluster written by managers: name, operation, version."""
        fields: dict[str, Any] = {"f:spec": {f"f:{name}": {} for name in SPEC}}
        managed = [
            {"manager": manager, "operation": operation, "apiVersion": f"{GROUP}/{version}", "fieldsV1": fields}
            for manager, operation, version in entries
        ]
        meta = {
            "name": "prod",
            "namespace": "tenant-globex",
            "labels": {"a": "b"},
            "uid": "u",
            "managedFields": managed,
        }
        spec = {**SPEC, "controlPlaneEndpoint": {"host": "h", "port": 1}}
        live = {"apiVersion": f"{GROUP}/v1alpha2", "kind": "ProxmoxCluster", "metadata": meta, "spec": spec}
        super().__init__({PATH: live})
        self.answer = answer or Answer(OK, {})

    def request(self, method: str, path: str, *more: Any, **how: Any) -> Answer:
        """Answer as a FakeApi, but for patches."""
        answer = super().request(method, path, *more, **how)
        return self.answer if method == "PATCH" else answer


PROGRAM = "pulumi-kubernetes-1a2b"


def test_an_object_of_the_generation_before_is_written_as_it_is_under_the_programs_own_manager() -> None:
    api = Cluster((PROGRAM, "Apply", "v1alpha1"), ("manager", "Update", "v1alpha2"))
    assert move(api, SETTINGS) == [f"ProxmoxCluster tenant-globex/prod: from {GROUP}/v1alpha1 to {GROUP}/v1alpha2"]
    ((path, sent),) = [(path, sent) for method, path, sent in api.asked if method == "PATCH"]
    assert path == PATH
    assert sent["query"] == {"fieldManager": PROGRAM, "force": "true"}
    assert sent["body"] == {
        "apiVersion": f"{GROUP}/v1alpha2",
        "kind": "ProxmoxCluster",
        "metadata": {"name": "prod", "namespace": "tenant-globex", "labels": {"a": "b"}},
        "spec": SPEC,
    }


@pytest.mark.parametrize(
    "entries", [[(PROGRAM, "Apply", "v1alpha2")], [("kubectl", "Apply", "v1alpha1")], [(PROGRAM, "Update", "v1alpha1")]]
)
def test_what_is_moved_already_or_not_the_programs_is_left_alone(entries: list[tuple[str, str, str]]) -> None:
    api = Cluster(*entries)
    assert move(api, SETTINGS) == []
    assert not_moved(api, SETTINGS) is None
    assert {method for method, _, _ in api.asked} == {"GET"}


def test_a_cluster_that_is_not_there_yet_needs_no_move() -> None:
    assert not_moved(FakeApi(), SETTINGS) is None


def test_an_up_before_the_move_is_told_which_command_to_run() -> None:
    said = not_moved(Cluster((PROGRAM, "Apply", "v1alpha1")), SETTINGS)
    assert said is not None
    assert "ProxmoxCluster tenant-globex/prod" in said
    assert "run `make move-versions STACK=lab-globex` first" in said


def test_a_cluster_that_can_not_be_asked_is_left_to_the_provider() -> None:
    assert not_moved(FakeApi({PATH: UnreadableError("down")}), SETTINGS) is None


def test_a_refused_move_says_what_the_server_said() -> None:
    refused = Answer(422, {"message": "no"})
    with pytest.raises(NotMovedError, match="ProxmoxCluster tenant-globex/prod: HTTP 422: no"):
        move(Cluster((PROGRAM, "Apply", "v1alpha1"), answer=refused), SETTINGS)
