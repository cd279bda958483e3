"""The rendered objects in a real API server: accepted strictly, and its policies say what they should."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from tests.manifests.examples import of_environment, of_tenant, only
from tests.manifests.live import Api, api_server, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.lab
Body = dict[str, Any]

ENVIRONMENT = of_environment()
ACME, GLOBEX = of_tenant("acme"), of_tenant("globex")
TEMPLATE, CLUSTER = only(ACME, "ProxmoxMachineTemplate"), only(ACME, "ProxmoxCluster")
ZONE = ENVIRONMENT["ProxmoxNetworkZone/workers"].body
POOL = ENVIRONMENT["InClusterIPPool/tenant-acme/acme-lab"].body


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
    with api_server(tmp_path_factory.mktemp("api-server"), crds, ENVIRONMENT, "capi-1.10") as server:
        # The bindings of one kind become effective together; the closed bridges' one was made last.
        until(lambda: server.refusal(template(bridge="vmbr0")), bool)
        until(lambda: server.refusal(template(vlan=202)), bool)
        yield server


@pytest.fixture(scope="module")
def token(api: Api) -> str:
    return api.token("tenant-acme")


def test_a_tenants_own_identity_may_make_every_object_of_its_stack(api: Api, token: str) -> None:
    for item in ACME.values():
        status, said = api.apply(item.body, token=token)
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
def test_a_tenants_identity_reads_what_it_needs_and_nothing_of_others(
    api: Api, token: str, path: str, status: int
) -> None:
    assert api.cluster.request("GET", path, token=token)[0] == status


def test_a_tenant_can_not_change_what_the_platform_owns(api: Api, token: str) -> None:
    for body in (ZONE, POOL, ENVIRONMENT["ValidatingAdmissionPolicyBinding/hybrid-clusters"].body):
        assert api.apply(body, token=token)[0] == 403


def test_another_tenants_vlan_is_refused_at_preview_by_the_zones_policy(api: Api) -> None:
    # Globex's own in all but the network: of several policies that refuse, the server names any one.
    intruding = template("tenant-globex")
    intruding["spec"]["template"]["spec"]["pool"] = "lab-globex"
    said = api.refusal(intruding)
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
    assert api.apply(pool, dry_run=True)[0] == 200
    assert "must have addresses 10.201.0.20-10.201.0.199" in str(api.apply(pool)[1])
    assert api.apply(zone)[0] == 200
    until(lambda: api.apply(pool)[0], lambda status: status == 200, seconds=5)
    assert api.apply(ZONE)[0] == 200
    until(lambda: api.apply(POOL)[0], lambda status: status == 200, seconds=5)


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
        said = until(lambda: api.refusal(foreign), lambda text: "did not give this namespace" in text)
        assert "hybrid-zone-machines" in said
        assert api.refusal(own) == ""
    finally:
        assert api.apply(ZONE)[0] == 200
