"""What controllers write passes the guard, in both generations.

The bodies are rebuilt from the references of what capmox, Cluster API, the IPAM provider and Kamaji's provider were
seen to write; no controller runs here.
"""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any

import pytest

from tests.manifests.live import CAPI, CAPMOX, CHARTS, STRANGER, Api, path_of, until
from tests.manifests.shapes import IPAM, Nic, Shapes

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.lab, pytest.mark.shared]
Body = dict[str, Any]

UID = "11111111-1111-4111-8111-111111111111"
MACHINE_FINALIZER = "proxmoxmachine.infrastructure.cluster.x-k8s.io"
CLUSTER_FINALIZER = "proxmoxcluster.infrastructure.cluster.x-k8s.io"
SECRET_FINALIZER = "proxmoxcluster.infrastructure.cluster.x-k8s.io/secret"


@pytest.fixture
def api(guarded: Api) -> Api:
    return guarded


@pytest.fixture
def shapes(api: Api) -> Shapes:
    return Shapes(api.generation)


def owner(api: Api, kind: str, name: str, *, controller: bool = True) -> Body:
    """Refer to an owner, which is made if it is not there: the garbage collector takes what an absent one owns."""
    shapes = Shapes(api.generation)
    made: dict[str, Callable[[], Body]] = {
        "Cluster": shapes.capi_cluster,
        "Machine": functools.partial(shapes.workers, "Machine"),
        "MachineSet": functools.partial(shapes.workers, "MachineSet"),
        "ProxmoxCluster": shapes.cluster,
    }
    body = made[kind]()
    body["metadata"]["name"] = name
    there = api.read(path_of(body)) if api.there(body) else api.make(body)
    found = {"apiVersion": body["apiVersion"], "kind": kind, "name": name, "uid": there["metadata"]["uid"]}
    return {**found, "controller": True, "blockOwnerDeletion": True} if controller else found


def cloned(api: Api, shapes: Shapes, name: str) -> Body:
    """Rebuild the ProxmoxMachine that Cluster API clones from the tenant's template."""
    body = shapes.machine(Nic(), Nic(vlan=301), name=name)
    body["metadata"] = {
        "name": name,
        "namespace": "tenant-acme",
        "labels": {"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/deployment-name": "prod-lab"},
        "annotations": {
            "cluster.x-k8s.io/cloned-from-name": "prod-lab-12345678",
            "cluster.x-k8s.io/cloned-from-groupkind": "ProxmoxMachineTemplate.infrastructure.cluster.x-k8s.io",
        },
        "ownerReferences": [owner(api, "MachineSet", "prod-lab-x", controller=False)],
    }
    if shapes.latest:
        # capmox' mutating webhook has been there first.
        body["spec"]["network"]["networkDevices"][0] |= {"defaultIPv4": True, "defaultIPv6": True}
    return body


def status_of(shapes: Shapes) -> Body:
    """Rebuild the status that capmox writes of a machine that runs."""
    addresses = [{"type": "InternalIP", "address": "10.201.0.20"}]
    if shapes.latest:
        return {"status": {"initialization": {"provisioned": True}, "vmStatus": "ready", "addresses": addresses}}
    return {"status": {"ready": True, "vmStatus": "ready", "proxmoxNode": "pve1", "addresses": addresses}}


def test_a_machine_rebuilt_from_create_to_delete_passes(api: Api, shapes: Shapes) -> None:
    machine = cloned(api, shapes, "prod-lab-x-1")
    api.make(machine, CAPI)
    owners = [owner(api, "Machine", "prod-lab-x-1")]
    provider = {"spec": {"providerID": f"proxmox://{UID}"}}
    writes: list[tuple[str | None, Body, str]] = [
        (CAPI, {"metadata": {"ownerReferences": owners}}, ""),
        (CAPMOX, {"metadata": {"finalizers": [MACHINE_FINALIZER]}}, ""),
        (CAPMOX, {"spec": {"virtualMachineID": 2000}}, ""),
        (CAPMOX, provider, ""),
        (CAPMOX, status_of(shapes), "/status"),
        (CAPI, {"metadata": {"annotations": {"cluster.x-k8s.io/paused": "true"}}}, ""),
        (CAPI, {"metadata": {"annotations": {"cluster.x-k8s.io/paused": None}}}, ""),
    ]
    for user, patch, subresource in writes:
        assert api.change(machine, patch, user, subresource) == "", patch
    written = api.read(path_of(machine))["spec"]
    assert (written["virtualMachineID"], written["providerID"]) == (2000, f"proxmox://{UID}")
    assert api.delete(machine, CAPI) == 200
    assert api.change(machine, {"metadata": {"finalizers": None}}, CAPMOX) == ""
    assert not api.there(machine)


def test_a_machine_whose_row_is_gone_is_deleted_as_rebuilt_to_the_end(api: Api, shapes: Shapes) -> None:
    machine = cloned(api, shapes, "prod-lab-x-2")
    api.make(machine, CAPI)
    assert api.change(machine, {"metadata": {"finalizers": [MACHINE_FINALIZER]}}, CAPMOX) == ""
    zone = api.environment["ProxmoxNetworkZone/workers"].body
    smaller = copy.deepcopy(zone)
    smaller["spec"]["networks"] = [row for row in zone["spec"]["networks"] if row["namespace"] != "tenant-acme"]
    assert api.apply(smaller)[0] == 200
    try:
        until(lambda: api.refusal(cloned(api, shapes, "prod-lab-x-3"), CAPI), bool)
        assert api.change(machine, {"spec": {"virtualMachineID": 2001}}, CAPMOX) == ""
        assert api.change(machine, status_of(shapes), CAPMOX, "/status") == ""
        assert api.delete(machine, CAPI) == 200
        assert api.change(machine, {"metadata": {"finalizers": None}}, CAPMOX) == ""
        assert not api.there(machine)
    finally:
        assert api.apply(zone)[0] == 200
        until(lambda: api.refusal(cloned(api, shapes, "prod-lab-x-3"), CAPI), lambda said: not said)


def test_a_template_rebuilt_with_its_owner_passes(api: Api, shapes: Shapes) -> None:
    template = shapes.template(Nic(), Nic(vlan=301))
    api.make(template)
    owners = [owner(api, "Cluster", "owner", controller=False)]
    assert api.change(template, {"metadata": {"ownerReferences": owners}}, CAPI) == ""
    assert api.delete(template, CAPI) == 200


def test_a_cluster_rebuilt_from_create_to_delete_passes_with_the_pool_that_capmox_copies(
    api: Api, shapes: Shapes
) -> None:
    cluster = shapes.cluster()
    cluster["metadata"]["name"] = "prod"
    api.make(cluster)
    status = {"initialization": {"provisioned": True}} if shapes.latest else {"ready": True}
    writes: list[tuple[str | None, Body, str]] = [
        (CAPI, {"metadata": {"ownerReferences": [owner(api, "Cluster", "owner")]}}, ""),
        (CAPI, {"metadata": {"labels": {"cluster.x-k8s.io/cluster-name": "prod"}}}, ""),
        (STRANGER, {"spec": {"controlPlaneEndpoint": {"host": "203.0.113.10", "port": 6443}}}, ""),
        (CAPMOX, {"metadata": {"finalizers": [CLUSTER_FINALIZER]}}, ""),
        (CAPMOX, {"status": status}, "/status"),
    ]
    for user, patch, subresource in writes:
        assert api.change(cluster, patch, user, subresource) == "", patch
    config = cluster["spec"]["ipv4Config"]
    pool = shapes.pool("prod-v4-icip", addresses=config["addresses"])
    metric = "ipam.capmox.cluster.x-k8s.io/gateway-metric" if shapes.latest else "metric"
    pool["metadata"]["annotations"] = {metric: "100"}
    pool["metadata"]["ownerReferences"] = [owner(api, "ProxmoxCluster", "prod")]
    if shapes.latest:
        pool["spec"]["addressReuseGracePeriodSeconds"] = 60
    api.make(pool, CAPMOX)
    # capmox writes the pool again on every reconcile.
    assert api.change(pool, {"spec": pool["spec"]}, CAPMOX) == ""
    assert api.change(pool, {"metadata": {"finalizers": ["ipam.cluster.x-k8s.io/ProtectPool"]}}, STRANGER) == ""
    for body in (pool, cluster):
        assert api.delete(body, CAPMOX) == 200
        assert api.change(body, {"metadata": {"finalizers": None}}, CAPMOX) == ""


def test_addresses_rebuilt_as_claimed_and_leased_pass(api: Api, shapes: Shapes) -> None:
    version = f"{IPAM}/{'v1beta2' if shapes.latest else 'v1beta1'}"
    name = "prod-lab-x-1-net0-00-inet" if shapes.latest else "prod-lab-x-1-net0-inet"
    meta = {"name": name, "namespace": "tenant-acme", "labels": {"cluster.x-k8s.io/cluster-name": "prod"}}
    reference = {"apiGroup": IPAM, "kind": "InClusterIPPool", "name": "prod-v4-icip" if shapes.latest else "acme-lab"}
    claim = {"apiVersion": version, "kind": "IPAddressClaim", "metadata": meta, "spec": {"poolRef": reference}}
    address = {
        "apiVersion": version,
        "kind": "IPAddress",
        "metadata": meta,
        "spec": {
            "address": "10.201.0.20",
            "gateway": "10.201.0.1",
            "prefix": 24,
            "poolRef": reference,
            "claimRef": {"name": name},
        },
    }
    for body in (claim, address):
        api.make(body, CAPMOX)
        assert api.delete(body, CAPMOX) == 200


def test_a_locations_credentials_rebuilt_with_capmox_finalizer_and_owner_pass(api: Api) -> None:
    secret: Body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pve-lab", "namespace": "tenant-acme"}}
    owners = api.read(path_of(secret))["metadata"]["ownerReferences"]
    more = owner(api, "ProxmoxCluster", "owner", controller=False)
    marks: Body = {"metadata": {"finalizers": [SECRET_FINALIZER], "ownerReferences": [*owners, more]}}
    assert api.change(secret, marks, CAPMOX) == ""
    assert api.change(secret, {"metadata": {"finalizers": None, "ownerReferences": owners}}, CAPMOX) == ""


def test_a_control_plane_of_the_platforms_charts_rebuilt_passes_and_its_controllers_go_on(
    api: Api, shapes: Shapes
) -> None:
    chart = shapes.control_plane(
        dataStoreName="tenant-root",
        apiServer={"extraArgs": [], "extraVolumeMounts": [], "resources": {"requests": {"cpu": "1"}}},
        network__serviceType="ClusterIP",
        network__ingress={"hostname": "prod.acme.example:443", "className": "nginx"},
        deployment={"podAdditionalMetadata": {"labels": {"policy.cozystack.io/allow-to-etcd": "true"}}},
    )
    chart["metadata"]["name"] = "kubernetes-prod"
    assert "spec.dataStoreName" in api.refusal(chart, STRANGER)
    api.make(chart, CHARTS)
    endpoint = {"host": "203.0.113.10", "port": 6443}
    writes: list[tuple[str, Body]] = [
        (CAPI, {"metadata": {"ownerReferences": [owner(api, "Cluster", "kubernetes-prod")]}}),
        (STRANGER, {"metadata": {"finalizers": ["kamaji.clastix.io"]}}),
        (STRANGER, {"spec": {"controlPlaneEndpoint": endpoint}}),
        (STRANGER, {"spec": {"replicas": 3}}),
        (CHARTS, {"spec": {"network": {"certSANs": ["10.95.0.7"]}, "dataStoreName": "tenant-root"}}),
    ]
    for user, patch in writes:
        assert api.change(chart, patch, user) == "", patch
    assert "spec.deployment" in api.change(chart, {"spec": {"deployment": {"runtimeClassName": "x"}}}, STRANGER)
    assert api.delete(chart, CHARTS) == 200
    assert api.change(chart, {"metadata": {"finalizers": None}}, STRANGER) == ""


def test_what_cluster_api_makes_of_a_deployment_passes_as_rebuilt(api: Api, shapes: Shapes) -> None:
    """A Cluster and MachineDeployment of the tenant, and the MachineSet and Machine that Cluster API makes of them."""
    token = api.token("tenant-acme")
    cluster, deployment = shapes.capi_cluster(), shapes.workers()
    for body in (cluster, deployment):
        status, said = api.apply(body, token=token)
        assert status == 201, said
    # Cluster API writes the namespace into references and the version that the definition names.
    namespace = {} if shapes.latest else {"namespace": "tenant-acme"}
    refs = {field: {**ref, **namespace} for field, ref in cluster["spec"].items()}
    finalizers: Body = {"metadata": {"finalizers": ["cluster.cluster.x-k8s.io"]}}
    endpoint = {"controlPlaneEndpoint": {"host": "203.0.113.10", "port": 6443}}
    for patch in ({"spec": refs}, finalizers, {"spec": endpoint}):
        assert api.change(cluster, patch, CAPI) == ""
    infrastructure = deployment["spec"]["template"]["spec"]["infrastructureRef"]
    of_set = shapes.workers("MachineSet", infrastructureRef={**infrastructure, **namespace})
    config = shapes.reference("TalosConfig", "tenant-acme")
    machine = shapes.workers(
        "Machine",
        bootstrap={"configRef": config},
        infrastructureRef=shapes.reference("ProxmoxMachine", "tenant-acme"),
    )
    for body in (of_set, machine):
        api.make(body, CAPI)
    provider = {"providerID": f"proxmox://{UID}"}
    for patch in (
        {"metadata": {"finalizers": ["machine.cluster.x-k8s.io"]}},
        {"spec": {"bootstrap": {"configRef": config, "dataSecretName": "prod-lab-x-1-bootstrap-data"}}},
        {"spec": provider},
    ):
        assert api.change(machine, patch, CAPI) == ""
    # The tenant's stack writes the same again beside what the controllers have written.
    for body in (cluster, deployment):
        status, said = api.apply(body, token=token)
        assert status == 200, said
    for body in (machine, of_set, deployment, cluster):
        assert api.delete(body) == 200
    for body in (machine, cluster):
        assert api.change(body, {"metadata": {"finalizers": None}}, CAPI) == ""


def test_a_pool_of_the_platforms_charts_rebuilt_passes(api: Api, shapes: Shapes) -> None:
    template = shapes.reference("KubevirtMachineTemplate")
    cluster = shapes.capi_cluster(infrastructureRef=shapes.reference("KubevirtCluster"))
    for body in (cluster, shapes.workers(infrastructureRef=template), shapes.health_check()):
        assert api.refusal(body, CHARTS) == ""


def test_the_programs_own_control_plane_passes_for_the_tenant_and_kamaji_goes_on(api: Api, shapes: Shapes) -> None:
    plane = shapes.control_plane()
    plane["metadata"]["name"] = "prod"
    assert api.refusal(plane) == ""
    status, said = api.apply(plane, token=api.token("tenant-acme"))
    assert status == 201, said
    endpoint = {"host": "203.0.113.10", "port": 6443}
    assert api.change(plane, {"spec": {"controlPlaneEndpoint": endpoint}}, STRANGER) == ""
    assert api.delete(plane) == 200
