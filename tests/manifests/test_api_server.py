"""The rendered objects in a real API server: accepted strictly, and its policies say what they should."""

from __future__ import annotations

import base64
import copy
import functools
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from lab import cluster as lab_cluster
from lab import crds as lab_crds
from manifests.generations import KINDS
from tests.manifests.examples import of_environment, of_tenant, only

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lab.cluster import Cluster

pytestmark = pytest.mark.lab
Body = dict[str, Any]

ENVIRONMENT = of_environment()
ACME, GLOBEX = of_tenant("acme"), of_tenant("globex")
TEMPLATE, CLUSTER = only(ACME, "ProxmoxMachineTemplate"), only(ACME, "ProxmoxCluster")
ZONE = ENVIRONMENT["ProxmoxNetworkZone/workers"].body
POOL = ENVIRONMENT["InClusterIPPool/tenant-acme/acme-lab"].body
_PLURALS = {"ValidatingAdmissionPolicy": "validatingadmissionpolicies"}


class Api:
    """The API server with the environment in it, and the token of acme's own identity."""

    def __init__(self, cluster: Cluster) -> None:
        """Apply the environment's objects in their order."""
        self.cluster = cluster
        for item in ENVIRONMENT.values():
            body = json.loads(json.dumps(item.body))
            for owner in body["metadata"].get("ownerReferences", ()):
                account = self.read(f"/api/v1/namespaces/{item.namespace}/serviceaccounts/hybrid")
                owner["uid"] = account["metadata"]["uid"]
            # A definition is served a moment after it was made.
            status, said = _until(functools.partial(self.apply, body), lambda answer: answer[0] != 404)
            assert status in (200, 201), said
        secret = "/api/v1/namespaces/tenant-acme/secrets/hybrid-token"
        data = _until(lambda: self.read(secret).get("data", {}), lambda found: "token" in found)
        self.token = base64.b64decode(data["token"]).decode()
        # The bindings of one kind become effective together; the closed bridges' one was made last.
        _until(lambda: self.refusal(template(bridge="vmbr0")), bool)
        _until(lambda: self.refusal(template(vlan=202)), bool)

    def apply(self, body: Body, *, dry_run: bool = False, token: str | None = None) -> tuple[int, Any]:
        """Apply an object as the engine's provider does: server-side, nothing unknown."""
        options = "fieldManager=tests&force=true&fieldValidation=Strict" + ("&dryRun=All" if dry_run else "")
        kind = "application/apply-patch+yaml"
        return self.cluster.request("PATCH", f"{_path(body)}?{options}", body, content_type=kind, token=token)

    def refusal(self, body: Body) -> str:
        """Give the message with which an object is refused at preview, "" where it is not; nothing is kept."""
        status, said = self.apply(body, dry_run=True)
        if status in (200, 201):
            return ""
        assert status == 422, said
        return str(said["message"])

    def read(self, path: str) -> Any:
        """Get an object as the administrator."""
        return self.cluster.request("GET", path)[1]


def _path(body: Body) -> str:
    version, kind = body["apiVersion"], body["kind"]
    plural = KINDS[kind].plural if kind in KINDS else _PLURALS.get(kind, f"{kind.lower()}s")
    meta = body["metadata"]
    below = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
    return f"{'/api' if version == 'v1' else '/apis'}/{version}{below}/{plural}/{meta['name']}"


def _until(ask: Callable[[], Any], done: Callable[[Any], Any], seconds: float = 40) -> Any:
    deadline = time.monotonic() + seconds
    while not done(answer := ask()):
        assert time.monotonic() < deadline, answer
        time.sleep(0.1)
    return answer


def copied(kind: str, name: str, namespace: str = "tenant-acme", **changes: Any) -> Body:
    body = copy.deepcopy(TEMPLATE if kind == "ProxmoxMachineTemplate" else CLUSTER)
    body["metadata"] = {"name": name, "namespace": namespace}
    spec = body["spec"]["template"]["spec"] if kind == "ProxmoxMachineTemplate" else body["spec"]
    spec.update(changes)
    return body


def template(namespace: str = "tenant-acme", **nic: Any) -> Body:
    default = TEMPLATE["spec"]["template"]["spec"]["network"]["default"]
    return copied("ProxmoxMachineTemplate", "x", namespace, network={"default": {**default, **nic}})


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, tools: None, crds: Path | None) -> Iterator[Api]:  # noqa: ARG001 - built first
    folder = tmp_path_factory.mktemp("api-server")
    cluster = lab_cluster.start(folder)
    try:
        lab_crds.load(cluster, crds, lambda _: None)
        lab_crds.namespaces(cluster, ["tenant-acme", "tenant-globex"])
        yield Api(cluster)
    finally:
        lab_cluster.stop(folder)


def test_a_tenants_own_identity_may_make_every_object_of_its_stack(api: Api) -> None:
    for item in ACME.values():
        status, said = api.apply(item.body, token=api.token)
        assert status == 201, said
    for item in GLOBEX.values():
        status, said = api.apply(item.body)
        assert status == 201, said


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/namespaces/tenant-acme/secrets/hybrid-handover", 200),
        ("/api/v1/namespaces/tenant-acme/secrets/pve-lab", 403),
        ("/api/v1/namespaces/tenant-acme/secrets", 403),
        ("/api/v1/namespaces/tenant-globex/secrets/hybrid-handover", 403),
        ("/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworkzones/workers", 200),
        ("/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworkzones", 403),
        ("/apis/ipam.cluster.x-k8s.io/v1alpha2/namespaces/tenant-acme/inclusterippools/acme-lab", 403),
        ("/apis/cluster.x-k8s.io/v1beta1/namespaces/tenant-globex/clusters", 403),
    ],
)
def test_a_tenants_identity_reads_what_it_needs_and_nothing_of_others(api: Api, path: str, status: int) -> None:
    assert api.cluster.request("GET", path, token=api.token)[0] == status


def test_a_tenant_can_not_change_what_the_platform_owns(api: Api) -> None:
    for body in (ZONE, POOL, ENVIRONMENT["ValidatingAdmissionPolicyBinding/hybrid-clusters"].body):
        assert api.apply(body, token=api.token)[0] == 403


def test_another_tenants_vlan_is_refused_at_preview_by_the_zones_policy(api: Api) -> None:
    said = api.refusal(template("tenant-globex"))
    assert "'hybrid-zone-machines' with binding 'hybrid-zone-machines-workers'" in said
    assert (
        "Namespace tenant-globex, bridge vmbr1: NIC net0 asks for VLAN 201 with address pool InClusterIPPool acme-lab;"
        " allowed there: VLAN 202 with InClusterIPPool globex-lab" in said
    )
    assert api.refusal(template()) == ""


def test_other_bridges_and_what_is_no_bridge_are_refused(api: Api) -> None:
    assert "not open to tenants; allowed: vmbr1" in api.refusal(template(bridge="vmbr0"))
    assert 'Not the name of a bridge: NIC net0 ("vmbr1,tag=202")' in api.refusal(template(bridge="vmbr1,tag=202"))
    assert api.refusal(template("default", bridge="vmbr0")) == ""


def test_a_cluster_with_a_range_or_with_others_credentials_is_refused(api: Api) -> None:
    wide = {**CLUSTER["spec"]["ipv4Config"], "addresses": ["10.201.0.20-10.201.0.30"]}
    assert "must hold the gateway and nothing else" in api.refusal(copied("ProxmoxCluster", "x", ipv4Config=wide))
    foreign = {"name": "pve-lab", "namespace": "tenant-globex"}
    assert "belongs to another tenant" in api.refusal(copied("ProxmoxCluster", "x", credentialsRef=foreign))
    assert "belongs to another tenant" in api.refusal(copied("ProxmoxCluster", "x", "default"))


def test_a_rows_range_can_be_changed_by_the_platform_and_its_preview_passes(api: Api) -> None:
    zone, pool = copy.deepcopy(ZONE), copy.deepcopy(POOL)
    pool["spec"]["addresses"] = zone["spec"]["networks"][0]["addresses"] = ["10.201.0.20-10.201.0.210"]
    assert api.refusal(pool) == ""
    assert "must have addresses 10.201.0.20-10.201.0.199" in str(api.apply(pool)[1])
    assert api.apply(zone)[0] == 200
    _until(lambda: api.apply(pool)[0], lambda status: status == 200, seconds=5)
    assert api.apply(ZONE)[0] == 200
    _until(lambda: api.apply(POOL)[0], lambda status: status == 200, seconds=5)


def test_a_zone_gives_a_vlan_to_one_network_only(api: Api) -> None:
    twice = copy.deepcopy(ZONE)
    twice["spec"]["networks"].append({**twice["spec"]["networks"][0], "name": "other", "namespace": "tenant-globex"})
    status, said = api.apply(twice, dry_run=True)
    assert status >= 400
    assert "duplicate" in said["message"]


@pytest.mark.parametrize(("field", "value"), [("vlan", 1), ("vlan", 4095), ("gateway", "x"), ("addresses", [])])
def test_a_zone_out_of_bounds_is_refused(api: Api, field: str, value: object) -> None:
    wrong = copy.deepcopy(ZONE)
    wrong["spec"]["networks"][0][field] = value
    assert field in api.refusal(wrong)


@pytest.mark.parametrize(
    "changes",
    [
        {"tenants": {}, "zones": {}, "locations": {}},
        {"management.guard": "audit", "zones.workers.mode": "audit"},
        {"management.openBridges": ["vmbr9"]},
    ],
)
def test_policies_of_other_environments_compile(api: Api, changes: dict[str, Any]) -> None:
    for item in of_environment(changes).values():
        if item.kind.startswith("ValidatingAdmission"):
            assert api.refusal(item.body) == "", item.name


def test_the_largest_zone_and_ten_nics_stay_within_the_servers_cost_limits(api: Api) -> None:
    largest = copy.deepcopy(ZONE)
    row = largest["spec"]["networks"][0]
    largest["spec"]["networks"] += [{**row, "name": f"n{vlan}", "vlan": vlan} for vlan in range(1000, 1509)]
    assert len(largest["spec"]["networks"]) == 512
    nic = TEMPLATE["spec"]["template"]["spec"]["network"]["default"]
    devices = [{"name": f"net{index}", **nic} for index in range(1, 10)]
    own = copied("ProxmoxMachineTemplate", "x", network={"default": nic, "additionalDevices": devices})
    foreign = copy.deepcopy(own)
    foreign["spec"]["template"]["spec"]["network"]["additionalDevices"][8]["vlan"] = 202
    assert api.apply(largest)[0] == 200
    try:
        # Naming all 511 allowed networks is more than a message may hold: the fixed text takes its place.
        said = _until(lambda: api.refusal(foreign), lambda text: "did not give this namespace" in text)
        assert "hybrid-zone-machines" in said
        assert api.refusal(own) == ""
    finally:
        assert api.apply(ZONE)[0] == 200
