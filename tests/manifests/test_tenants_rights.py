"""What a tenant's own identity may do, asked of a real API server with the token that it really has."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from manifests.isolation import policies, zone_bindings
from tests.manifests.examples import of_environment, of_tenant, only
from tests.manifests.live import Api, api_server, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.lab
Body = dict[str, Any]

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ACME, GLOBEX = "/api/v1/namespaces/tenant-acme", "/api/v1/namespaces/tenant-globex"
ZONES = "/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworkzones"
TABLES = "/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworktables"
CLUSTERS = "/apis/cluster.x-k8s.io/v1beta1/namespaces/{}/clusters"
INFRASTRUCTURE = "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/{}"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, tools: None, crds: Path | None) -> Iterator[Api]:  # noqa: ARG001 - built first
    with api_server(tmp_path_factory.mktemp("rights"), crds, of_environment(), "capi-1.10") as server:
        yield server


@pytest.fixture(scope="module")
def token(api: Api) -> str:
    return api.token("tenant-acme")


def status(api: Api, token: str, method: str, path: str) -> int:
    """Give the HTTP status of a request; a body that is no object of any kind is enough to ask for rights."""
    body: Body | None = None if method in ("GET", "DELETE") else {}
    query = "?dryRun=All" if method != "GET" else ""
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    return api.cluster.request(method, path + query, body, token=token, content_type=kind)[0]


@pytest.mark.parametrize(
    "path",
    [
        f"{ZONES}/workers",
        f"{ADMISSION}/validatingadmissionpolicies/hybrid-machines",
        f"{ADMISSION}/validatingadmissionpolicybindings/hybrid-machines",
        f"{ADMISSION}/validatingadmissionpolicybindings/hybrid-zone-machines-workers",
        f"{ACME}/secrets/hybrid-handover",
    ],
)
def test_it_reads_its_zone_the_guard_and_its_handover_by_name_and_changes_none(api: Api, token: str, path: str) -> None:
    assert status(api, token, "GET", path) == 200
    for method in ("PATCH", "PUT", "DELETE"):
        assert status(api, token, method, path) == 403
    assert status(api, token, "GET", path.rpartition("/")[0]) == 403


def test_every_policy_and_binding_of_its_zones_can_be_read(api: Api, token: str) -> None:
    for name in policies("capi-1.10"):
        assert status(api, token, "GET", f"{ADMISSION}/validatingadmissionpolicies/{name}") == 200
    for name in zone_bindings("workers"):
        assert status(api, token, "GET", f"{ADMISSION}/validatingadmissionpolicybindings/{name}") == 200


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "path",
    [
        TABLES,
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        f"{RBAC}/namespaces/tenant-acme/roles",
        f"{RBAC}/namespaces/tenant-acme/rolebindings",
        f"{RBAC}/clusterroles",
        f"{RBAC}/clusterrolebindings",
        f"{ADMISSION}/validatingwebhookconfigurations",
        "/apis/helm.toolkit.fluxcd.io/v2/namespaces/tenant-acme/helmreleases",
        "/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-acme/kuberneteses",
        f"{ACME}/pods",
        f"{ACME}/configmaps",
        f"{ACME}/services",
        f"{ACME}/serviceaccounts",
        "/apis/apps/v1/namespaces/tenant-acme/deployments",
        "/apis/batch/v1/namespaces/tenant-acme/jobs",
        "/apis/ipam.cluster.x-k8s.io/v1alpha2/namespaces/tenant-acme/inclusterippools",
        "/apis/ipam.cluster.x-k8s.io/v1alpha2/globalinclusterippools",
        "/apis/ipam.cluster.x-k8s.io/v1beta1/namespaces/tenant-acme/ipaddressclaims",
        "/apis/cluster.x-k8s.io/v1beta1/namespaces/tenant-acme/machines",
        f"{INFRASTRUCTURE.format('tenant-acme')}/proxmoxmachines",
        f"{INFRASTRUCTURE.format('tenant-acme')}/proxmoxclustertemplates",
        "/api/v1/namespaces",
        "/api/v1/nodes",
        f"{GLOBEX}/secrets",
        CLUSTERS.format("tenant-globex"),
        CLUSTERS.format("platform"),
        f"{INFRASTRUCTURE.format('tenant-globex')}/proxmoxmachinetemplates",
    ],
)
def test_it_has_no_right_to(api: Api, token: str, method: str, path: str) -> None:
    assert status(api, token, method, path) == 403


def test_it_can_not_make_a_token_or_become_someone_else(api: Api, token: str) -> None:
    assert status(api, token, "POST", f"{ACME}/serviceaccounts/hybrid/token") == 403
    answer = api.cluster.request("GET", f"{ACME}/secrets/hybrid-handover", token=token, as_user="admin")
    assert answer[0] == 403


@pytest.mark.parametrize("name", ["pve-lab", "hybrid-token", "prod-ca", "other"])
def test_other_secrets_are_closed_by_name(api: Api, token: str, name: str) -> None:
    for method in ("GET", "PATCH", "DELETE"):
        assert status(api, token, method, f"{ACME}/secrets/{name}") == 403


def test_secrets_are_listed_by_name_only(api: Api, token: str) -> None:
    assert status(api, token, "GET", f"{ACME}/secrets") == 403
    assert status(api, token, "GET", f"{ACME}/secrets?fieldSelector=metadata.name%3Dprod-dc-kubeconfig") == 403
    assert status(api, token, "GET", f"{ACME}/secrets?fieldSelector=metadata.name%3Dprod-kubeconfig") == 200
    assert status(api, token, "GET", f"{ACME}/secrets?fieldSelector=metadata.name%3Dpve-lab") == 403
    assert status(api, token, "GET", f"{ACME}/secrets?fieldSelector=metadata.name%3Dhybrid-handover") == 403


def test_the_home_clusters_kubeconfig_is_only_read(api: Api, token: str) -> None:
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "cluster.x-k8s.io/secret",
        "metadata": {"name": "prod-kubeconfig", "namespace": "tenant-acme"},
    }
    api.make(kubeconfig)
    path = f"{ACME}/secrets/prod-kubeconfig"
    assert status(api, token, "GET", path) == 200
    assert status(api, token, "PATCH", path) == 403
    assert status(api, token, "DELETE", path) == 403
    assert api.delete(kubeconfig) == 200


def test_it_makes_changes_and_deletes_no_secret_not_even_a_further_clusters_kubeconfig(api: Api, token: str) -> None:
    secret: Body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "cluster.x-k8s.io/secret",
        "metadata": {"name": "prod-dc-kubeconfig", "namespace": "tenant-acme"},
        "stringData": {"value": "x"},
    }
    path = f"{ACME}/secrets/prod-dc-kubeconfig"
    assert api.cluster.request("POST", f"{ACME}/secrets", secret, token=token)[0] == 403
    assert api.apply(secret, token=token)[0] == 403
    api.make(secret)
    assert api.apply({**secret, "stringData": {"value": "y"}}, token=token)[0] == 403
    for method in ("GET", "PATCH", "DELETE"):
        assert status(api, token, method, path) == 403
    assert api.delete(secret) == 200


def test_a_location_keeps_its_credentials_when_the_garbage_collector_takes_its_last_cluster(api: Api) -> None:
    cluster = copy.deepcopy(only(of_tenant("acme"), "ProxmoxCluster"))
    cluster["metadata"]["name"] = "last"
    made = api.make(cluster)
    # As capmox does it: an owner that is not the controller, and no block on its deletion.
    owner = {
        "apiVersion": cluster["apiVersion"],
        "kind": "ProxmoxCluster",
        "name": "last",
        "uid": made["metadata"]["uid"],
    }
    alone: Body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "without-the-account", "namespace": "tenant-acme", "ownerReferences": [owner]},
    }
    api.make(alone)
    kept = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pve-lab", "namespace": "tenant-acme"}}
    owners = api.read(f"{ACME}/secrets/pve-lab")["metadata"]["ownerReferences"]
    assert [item["kind"] for item in owners] == ["ServiceAccount"]
    assert api.change(kept, {"metadata": {"ownerReferences": [*owners, owner]}}) == ""
    assert api.delete(cluster) == 200
    # The twin that only the cluster owns goes: the collector has been there. It learns of new kinds every 30 s.
    until(lambda: api.there(alone), lambda there: not there, seconds=120)
    until(
        lambda: api.read(f"{ACME}/secrets/pve-lab")["metadata"]["ownerReferences"],
        lambda found: [item["kind"] for item in found] == ["ServiceAccount"],
        seconds=120,
    )
