from __future__ import annotations

import pytest

from tests.manifests.examples import of_tenant, only

PROXMOX = "ProxmoxCluster/tenant-acme/prod"
KAMAJI = "KamajiControlPlane/tenant-acme/prod"
CLUSTER = "Cluster/tenant-acme/prod"


def test_the_proxmox_cluster_is_the_sentinel_in_the_home_location() -> None:
    body = of_tenant("acme")[PROXMOX].body
    assert body["apiVersion"] == "infrastructure.cluster.x-k8s.io/v1alpha1"
    assert body["spec"] == {
        "externalManagedControlPlane": True,
        "allowedNodes": ["pve1", "pve2"],
        "dnsServers": ["10.201.0.1"],
        "ipv4Config": {"addresses": ["10.201.0.1"], "gateway": "10.201.0.1", "prefix": 24, "metric": 100},
        "credentialsRef": {"name": "pve-lab", "namespace": "tenant-acme"},
    }


def test_no_endpoint_is_written_where_kamaji_fills_it() -> None:
    found = of_tenant("acme")
    assert "controlPlaneEndpoint" not in found[PROXMOX].body["spec"]
    assert "controlPlaneEndpoint" not in found[CLUSTER].body["spec"]


def test_a_location_with_name_servers_of_its_own_hands_them_out() -> None:
    found = of_tenant("acme", around={"locations.lab.dnsServers": ["10.0.0.53", "10.0.0.54"]})
    assert found[PROXMOX].body["spec"]["dnsServers"] == ["10.0.0.53", "10.0.0.54"]


def test_the_control_plane_is_reached_by_workers_at_the_declared_address() -> None:
    body = of_tenant("acme")[KAMAJI].body
    assert body["apiVersion"] == "controlplane.cluster.x-k8s.io/v1alpha1"
    assert body["metadata"]["annotations"] == {"kamaji.clastix.io/kubeconfig-secret-key": "super-admin.svc"}
    assert body["spec"] == {
        "replicas": 2,
        "version": "v1.35.6",
        "addons": {"konnectivity": {"server": {"port": 8132}}},
        "kubelet": {"cgroupfs": "systemd", "preferredAddressTypes": ["InternalIP", "ExternalIP"]},
        "network": {
            "serviceType": "LoadBalancer",
            "serviceAddress": "203.0.113.10",
            "advertiseAddress": "203.0.113.10",
            "certSANs": ["203.0.113.10", "prod.tenant-acme.svc", "prod.tenant-acme.svc.cluster.local"],
        },
    }


def test_trustd_is_exposed_only_where_the_platform_can() -> None:
    found = of_tenant("acme", around={"management.kamajiServicePorts": True})
    assert found[KAMAJI].body["spec"]["network"]["additionalServicePorts"] == [
        {"name": "talos-trustd", "port": 50001, "targetPort": 50001, "protocol": "TCP"}
    ]


def test_the_cluster_joins_both_and_goes_before_them() -> None:
    found = of_tenant("acme")
    assert found[CLUSTER].body["spec"] == {
        "clusterNetwork": {"pods": {"cidrBlocks": ["10.243.0.0/16"]}, "services": {"cidrBlocks": ["10.95.0.0/16"]}},
        "controlPlaneRef": {
            "apiVersion": "controlplane.cluster.x-k8s.io/v1alpha1",
            "kind": "KamajiControlPlane",
            "name": "prod",
        },
        "infrastructureRef": {
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1",
            "kind": "ProxmoxCluster",
            "name": "prod",
        },
    }
    assert found[CLUSTER].after == (PROXMOX, KAMAJI)


def test_the_environment_decides_pod_and_service_networks() -> None:
    around = {"management.podCidr": "10.10.0.0/16", "management.serviceCidr": "10.11.0.0/16"}
    network = of_tenant("acme", around=around)[CLUSTER].body["spec"]["clusterNetwork"]
    assert network == {"pods": {"cidrBlocks": ["10.10.0.0/16"]}, "services": {"cidrBlocks": ["10.11.0.0/16"]}}


def test_a_cluster_without_cluster_api_pools_has_the_same_three_objects() -> None:
    assert sorted(item.kind for item in of_tenant("globex").values()) == [
        "Cluster",
        "KamajiControlPlane",
        "ProxmoxCluster",
    ]


SECOND = {
    "tenant": "acme",
    "location": "lab",
    "vlan": 203,
    "cidr": "10.203.0.0/24",
    "gateway": "10.203.0.254",
    "range": "10.203.0.20-10.203.0.199",
}


def test_a_cluster_names_its_network_where_the_tenant_has_several() -> None:
    around = {"zones.workers.networks.acme-two": SECOND}
    found = of_tenant("acme", {"clusters.prod.network": "acme-two"}, around)
    assert only(found, "ProxmoxCluster")["spec"]["ipv4Config"]["addresses"] == ["10.203.0.254"]
    with pytest.raises(ValueError, match="which of 2 networks in lab"):
        of_tenant("acme", around=around)


NEWER = {"management.generation": "capi-1.12"}
WITHOUT_CAPI_POOLS = {"clusters.prod.pools.lab": None}


def test_the_newer_generations_cluster_hands_out_the_last_range_of_its_home_network() -> None:
    ranges = ["10.201.0.20-10.201.0.99", "10.201.0.120-10.201.0.199"]
    around = {**NEWER, "zones.workers.networks.acme-lab.range": ranges}
    body = only(of_tenant("acme", WITHOUT_CAPI_POOLS, around), "ProxmoxCluster")
    assert body["apiVersion"] == "infrastructure.cluster.x-k8s.io/v1alpha2"
    assert body["spec"]["ipv4Config"] == {
        "addresses": ["10.201.0.120-10.201.0.199"],
        "gateway": "10.201.0.1",
        "prefix": 24,
        "metric": 100,
    }


def test_the_newer_generations_references_name_a_group_and_no_version() -> None:
    spec = only(of_tenant("acme", WITHOUT_CAPI_POOLS, NEWER), "Cluster")["spec"]
    assert spec["controlPlaneRef"] == {
        "apiGroup": "controlplane.cluster.x-k8s.io",
        "kind": "KamajiControlPlane",
        "name": "prod",
    }
    assert spec["infrastructureRef"]["apiGroup"] == "infrastructure.cluster.x-k8s.io"
