"""The lab's control plane, started for real."""

from __future__ import annotations

import base64
import os
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes import client, config

from lab import cluster as lab_cluster
from lab import crds
from lab.cluster.process import command_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.cluster import Cluster

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cluster")
    yield folder
    lab_cluster.stop(folder)


@pytest.fixture
def cluster(state: Path) -> Cluster:
    return lab_cluster.start(state)


def until(done: Callable[[], Any], seconds: float = 30) -> Any:
    deadline = time.monotonic() + seconds
    while not (answer := done()):
        assert time.monotonic() < deadline, f"{done} is still not so after {seconds} s"
        time.sleep(0.1)
    return answer


def processes(folder: Path) -> list[int]:
    """Every process of this machine whose command line names the folder."""
    found = [int(file.name) for file in Path("/proc").iterdir() if file.name.isdigit()]
    return [pid for pid in found if str(folder) in command_line(pid) and pid != os.getpid()]


def apply(cluster: Cluster, path: str, body: dict[str, Any], **options: Any) -> dict[str, Any]:
    status, answer = cluster.request("POST", path, body, **options)
    assert status == 201, answer
    return dict(answer)


def test_the_api_server_has_its_version_and_listens_on_loopback_only(cluster: Cluster) -> None:
    assert cluster.server.startswith("https://127.0.0.1:")
    assert cluster.request("GET", "/version")[1]["gitVersion"] == "v1.36.3"
    groups = cluster.request("GET", "/apis/admissionregistration.k8s.io/v1")[1]["resources"]
    assert "validatingadmissionpolicies" in [each["name"] for each in groups]


def test_starting_again_returns_the_running_one_and_running_finds_it(cluster: Cluster, state: Path) -> None:
    before = sorted(processes(state))
    assert len(before) == 3
    assert lab_cluster.start(state) == cluster
    assert lab_cluster.start(state, cluster.port) == cluster
    assert lab_cluster.running(state) == cluster
    assert sorted(processes(state)) == before


def test_only_a_known_token_is_let_in(cluster: Cluster) -> None:
    assert cluster.request("GET", "/api/v1/namespaces", token="unknown")[0] == 401
    assert cluster.request("GET", "/api/v1/namespaces")[0] == 200


def test_a_kubeconfig_works_with_the_kubernetes_client(cluster: Cluster) -> None:
    written = cluster.kubeconfig("lab")
    assert [each["name"] for each in written["contexts"]] == [written["current-context"]] == ["lab"]
    connect: Callable[..., client.ApiClient] = config.new_client_from_config_dict
    with connect(written, context="lab") as api:
        assert client.CoreV1Api(api).read_namespace("kube-system").to_dict()["status"]["phase"] == "Active"
    assert cluster.kubeconfig("lab-acme", "other")["users"] == [{"name": "lab-acme", "user": {"token": "other"}}]


def test_a_restart_on_another_port_keeps_objects_and_the_tokens_of_service_accounts(
    cluster: Cluster, state: Path
) -> None:
    crds.namespaces(cluster, ["kept"])
    apply(cluster, "/api/v1/namespaces/kept/configmaps", {"metadata": {"name": "note"}, "data": {"text": "kept"}})
    apply(cluster, "/api/v1/namespaces/kept/serviceaccounts", {"metadata": {"name": "robot"}})
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = apply(cluster, "/api/v1/namespaces/kept/serviceaccounts/robot/token", request)["status"]["token"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    moved = lab_cluster.start(state, port)

    assert moved.port == port != cluster.port
    assert (moved.ca, moved.admin_token) == (cluster.ca, cluster.admin_token)
    assert moved.request("GET", "/api/v1/namespaces/kept/configmaps/note")[1]["data"] == {"text": "kept"}
    assert moved.request("GET", "/api/v1/namespaces/kept/configmaps", token=token)[0] == 403  # known, without rights
    assert len(processes(state)) == 3
    lab_cluster.stop(state)
    assert lab_cluster.start(state) == moved  # without a wish the port stays


def test_foreground_deletion_finishes_and_takes_the_dependents_along(cluster: Cluster) -> None:
    crds.namespaces(cluster, ["collected"])
    path = "/api/v1/namespaces/collected/configmaps"
    owner = apply(cluster, path, {"metadata": {"name": "owner"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    owned = {"metadata": {"name": "owned", "ownerReferences": [reference | {"blockOwnerDeletion": True}]}}
    apply(cluster, path, owned)
    foreground = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground"}
    status, answer = cluster.request("DELETE", f"{path}/owner", foreground)
    assert status == 200
    assert answer["metadata"]["finalizers"] == ["foregroundDeletion"]
    until(lambda: cluster.request("GET", f"{path}/owner")[0] == 404)
    assert cluster.request("GET", f"{path}/owned")[0] == 404


def test_a_deleted_namespace_goes_away_and_can_be_made_again(cluster: Cluster) -> None:
    crds.namespaces(cluster, ["passing", "passing"])
    apply(cluster, "/api/v1/namespaces/passing/configmaps", {"metadata": {"name": "note"}})
    assert cluster.request("DELETE", "/api/v1/namespaces/passing")[0] == 200
    crds.namespaces(cluster, ["passing"])
    status, answer = cluster.request("GET", "/api/v1/namespaces/passing")
    assert (status, answer["status"]["phase"]) == (200, "Active")
    assert cluster.request("GET", "/api/v1/namespaces/passing/configmaps/note")[0] == 404


def test_a_token_secret_of_a_service_account_is_filled_and_its_token_is_taken(cluster: Cluster) -> None:
    crds.namespaces(cluster, ["identity"])
    apply(cluster, "/api/v1/namespaces/identity/serviceaccounts", {"metadata": {"name": "robot"}})
    annotations = {"kubernetes.io/service-account.name": "robot"}
    secret = {
        "metadata": {"name": "robot-token", "annotations": annotations},
        "type": "kubernetes.io/service-account-token",
    }
    apply(cluster, "/api/v1/namespaces/identity/secrets", secret)
    data = until(lambda: cluster.request("GET", "/api/v1/namespaces/identity/secrets/robot-token")[1].get("data"))
    assert base64.b64decode(data["ca.crt"]) == cluster.ca
    token = base64.b64decode(data["token"]).decode()
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    whoami = apply(cluster, "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, token=token)
    assert whoami["status"]["userInfo"]["username"] == "system:serviceaccount:identity:robot"


def test_a_server_that_died_is_noticed_and_started_again(cluster: Cluster, state: Path) -> None:
    os.kill(int((state / "kube-controller-manager.pid").read_text()), 9)
    until(lambda: lab_cluster.running(state) is None)
    again = lab_cluster.start(state)
    assert again == cluster
    assert len(processes(state)) == 3


def test_a_taken_port_is_refused_in_words_and_nothing_stays_running(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(lab_cluster.ClusterError, match=f"port {cluster.port} of 127.0.0.1 is taken"):
        lab_cluster.start(tmp_path, cluster.port)
    assert processes(tmp_path) == []


def test_a_server_that_ends_while_starting_shows_the_end_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "etcd").mkdir()
    (tmp_path / "etcd" / "member").write_text("this should be a folder")
    with pytest.raises(lab_cluster.ClusterError, match=r"(?s)etcd ended while starting.*\n  .*cannot access member"):
        lab_cluster.start(tmp_path)
    assert processes(tmp_path) == []
    assert lab_cluster.running(tmp_path) is None


def test_stop_leaves_no_process_and_can_be_repeated(cluster: Cluster, state: Path) -> None:
    assert len(processes(state)) == 3
    lab_cluster.stop(state)
    assert processes(state) == []
    assert lab_cluster.running(state) is None
    with pytest.raises(OSError, match="refused"):
        cluster.request("GET", "/readyz")
    lab_cluster.stop(state)
    lab_cluster.stop(state / "never-made")
    assert not (state / "never-made").exists()
