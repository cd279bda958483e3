from __future__ import annotations

from typing import Any

import pytest

from manifests.pool import PoolManifests, pool
from tests.manifests.examples import Changes, of_tenant, tenant

POOL = "clusters.prod.pools.lab"
CLUSTER = "Cluster/tenant-acme/prod"


def lab(changes: Changes | None = None, around: Changes | None = None) -> PoolManifests:
    return pool(tenant("acme", changes, around), "prod", "lab")


def machine(found: PoolManifests) -> dict[str, Any]:
    spec: dict[str, Any] = found.templates["ProxmoxMachineTemplate"].body["spec"]["template"]["spec"]
    return spec


def names(found: PoolManifests) -> dict[str, str]:
    return {kind: item.body["metadata"]["name"] for kind, item in found.templates.items()}


def test_the_machine_template_has_the_pools_size_and_the_rows_network() -> None:
    assert machine(lab()) == {
        "templateSelector": {"matchTags": ["talos", "v1.13.6"]},
        "full": True,
        "storage": "ceph-vm",
        "pool": "lab-acme",
        "vmIDRange": {"start": 2000, "end": 2019},
        "tags": ["hybrid", "lab-acme", "prod-lab"],
        "numSockets": 1,
        "numCores": 4,
        "memoryMiB": 8192,
        "disks": {"bootVolume": {"disk": "scsi0", "sizeGb": 40}},
        "checks": {"skipCloudInitStatus": True, "skipQemuGuestAgent": True},
        "metadataSettings": {"providerIDInjection": True},
        "network": {
            "default": {
                "bridge": "vmbr1",
                "vlan": 201,
                "model": "virtio",
                "ipv4PoolRef": {
                    "apiGroup": "ipam.cluster.x-k8s.io",
                    "kind": "InClusterIPPool",
                    "name": "acme-lab",
                },
            }
        },
    }


def test_the_mtu_is_set_where_the_uplink_needs_a_smaller_one() -> None:
    found = lab(around={"locations.lab.uplink": {"vswitch": 4001, "mtu": 1400}})
    assert machine(found)["network"]["default"]["mtu"] == 1396


def test_a_pool_on_another_network_than_its_cluster_brings_that_networks_name_server() -> None:
    row = {
        "tenant": "acme",
        "location": "lab",
        "vlan": 203,
        "cidr": "10.203.0.0/24",
        "gateway": "10.203.0.1",
        "range": "10.203.0.20-10.203.0.199",
    }
    found = lab(
        {f"{POOL}.network": "acme-two", "clusters.prod.network": "acme-lab"}, {"zones.workers.networks.acme-two": row}
    )
    nic = machine(found)["network"]["default"]
    assert (nic["vlan"], nic["dnsServers"], nic["ipv4PoolRef"]["name"]) == (203, ["10.203.0.1"], "acme-two")


def test_the_talos_template_passes_a_whole_configuration_through() -> None:
    spec = lab().templates["TalosConfigTemplate"].body["spec"]["template"]["spec"]
    assert set(spec) == {"generateType", "talosVersion", "data"}
    assert (spec["generateType"], spec["talosVersion"]) == ("none", "v1.13")
    assert spec["data"].startswith("version: v1alpha1\n")


def test_the_deployment_names_both_templates_of_the_same_pool() -> None:
    found = lab()
    spec = found.deployment.body["spec"]["template"]["spec"]
    assert spec["infrastructureRef"]["name"] == names(found)["ProxmoxMachineTemplate"]
    assert spec["bootstrap"]["configRef"]["name"] == names(found)["TalosConfigTemplate"]
    for name in names(found).values():
        prefix, _, suffix = name.rpartition("-")
        assert prefix == "prod-lab"
        assert len(suffix) == 8
        int(suffix, 16)


def test_the_deployment_rolls_as_the_pool_says_and_drains_within_a_limit() -> None:
    spec = lab({f"{POOL}.rollout": {"surge": 2, "unavailable": 1}}).deployment.body["spec"]
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 1}}
    assert spec["clusterName"] == spec["template"]["spec"]["clusterName"] == "prod"
    assert spec["template"]["spec"]["version"] == "v1.35.6"
    assert spec["template"]["spec"]["nodeDrainTimeout"] == "10m"
    selector = {"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/deployment-name": "prod-lab"}
    assert spec["selector"] == {"matchLabels": selector}
    assert spec["template"]["metadata"]["labels"] == {
        **selector,
        "node.cluster.x-k8s.io/location": "lab",
        "node.cluster.x-k8s.io/pool": "lab",
    }


def test_an_autoscaled_pool_has_no_replicas_and_says_what_a_node_offers() -> None:
    body = lab(
        {f"{POOL}.labels": {"tier": "db"}, f"{POOL}.taints": ["tier=db:NoSchedule", "spot:NoExecute"]}
    ).deployment
    assert "replicas" not in body.body["spec"]
    assert body.body["metadata"]["annotations"] == {
        "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": "1",
        "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "5",
        "capacity.cluster-autoscaler.kubernetes.io/cpu": "3600m",
        "capacity.cluster-autoscaler.kubernetes.io/memory": "6800Mi",
        "capacity.cluster-autoscaler.kubernetes.io/ephemeral-disk": "34099Mi",
        "capacity.cluster-autoscaler.kubernetes.io/labels": (
            "node.cluster.x-k8s.io/location=lab,node.cluster.x-k8s.io/pool=lab,"
            "tier=db,topology.kubernetes.io/region=lab"
        ),
        "capacity.cluster-autoscaler.kubernetes.io/taints": "spot=:NoExecute,tier=db:NoSchedule",
    }


def test_a_pool_of_a_fixed_size_has_replicas_and_no_annotation() -> None:
    deployment = lab({f"{POOL}.scale": None, f"{POOL}.replicas": 3}).deployment.body
    assert deployment["spec"]["replicas"] == 3
    assert "annotations" not in deployment["metadata"]


def test_a_pool_of_no_machines_says_so() -> None:
    deployment = lab({f"{POOL}.scale": None, f"{POOL}.replicas": 0}).deployment.body
    assert deployment["spec"]["replicas"] == 0


def test_the_health_check_has_the_platforms_limits() -> None:
    assert lab().health_check.body["spec"] == {
        "clusterName": "prod",
        "selector": {
            "matchLabels": {"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/deployment-name": "prod-lab"}
        },
        "maxUnhealthy": "50%",
        "nodeStartupTimeout": "20m",
        "unhealthyConditions": [
            {"type": "Ready", "status": "Unknown", "timeout": "5m"},
            {"type": "Ready", "status": "False", "timeout": "10m"},
        ],
    }


def test_pools_go_from_the_health_check_down_to_the_templates() -> None:
    found = lab()
    templates = tuple(item.name for item in found.templates.values())
    assert all(item.after == (CLUSTER,) for item in found.templates.values())
    assert found.deployment.after == (CLUSTER, *templates)
    assert found.health_check.after == (found.deployment.name,)
    assert {item.part for item in found.all} == {"pool/prod-lab"}
    kept = found.deployment.with_after(["Old/one", CLUSTER])
    assert kept.after == (*found.deployment.after, "Old/one")


@pytest.mark.parametrize(
    ("changes", "renamed"),
    [
        ({f"{POOL}.scale": {"min": 2, "max": 9}}, set()),
        ({f"{POOL}.rollout": {"surge": 0, "unavailable": 1}}, set()),
        ({"clusters.prod.kubernetes": "v1.35.7"}, {"TalosConfigTemplate"}),
        ({f"{POOL}.labels": {"tier": "db"}}, {"TalosConfigTemplate"}),
        ({f"{POOL}.taints": ["tier=db:NoSchedule"]}, {"TalosConfigTemplate"}),
        ({"clusters.prod.controlPlane.address": "203.0.113.11"}, {"TalosConfigTemplate"}),
        ({f"{POOL}.vmIds": "2000-2029"}, {"ProxmoxMachineTemplate"}),
        ({f"{POOL}.size.cpu": 8}, {"ProxmoxMachineTemplate", "TalosConfigTemplate"}),
        ({f"{POOL}.size.disk": "50Gi"}, {"ProxmoxMachineTemplate"}),
    ],
)
def test_a_template_is_renamed_exactly_when_its_machines_change(changes: Changes, renamed: set[str]) -> None:
    before, after = names(lab()), names(lab(changes))
    assert {kind for kind in before if before[kind] != after[kind]} == renamed


def test_another_vlan_is_another_machine_template() -> None:
    before, after = names(lab()), names(lab(around={"zones.workers.networks.acme-lab.vlan": 209}))
    assert before["ProxmoxMachineTemplate"] != after["ProxmoxMachineTemplate"]
    assert before["TalosConfigTemplate"] == after["TalosConfigTemplate"]


@pytest.mark.parametrize(
    "around",
    [
        {"locations.lab.nodes.pve3": {"memory": "256Gi"}},
        {"locations.lab.dnsServers": ["10.0.0.53"]},
        {"zones.workers.networks.globex-lab": None},
        {"locations.lab.tenants.globex": None},
    ],
)
def test_what_the_location_or_others_change_rolls_no_machine(around: Changes) -> None:
    assert names(lab()) == names(lab(around=around))


def test_a_label_that_only_cluster_api_can_set_goes_to_the_machine_alone() -> None:
    found = lab({f"{POOL}.labels": {"node-role.kubernetes.io/db": "", "tier": "db"}})
    data = found.templates["TalosConfigTemplate"].body["spec"]["template"]["spec"]["data"]
    labels = found.deployment.body["spec"]["template"]["metadata"]["labels"]
    assert labels["node-role.kubernetes.io/db"] == ""
    assert "tier" not in labels
    assert "node-role.kubernetes.io" not in data
    assert "tier: db" in data


def test_only_cluster_api_pools_of_the_home_location_are_rendered() -> None:
    with pytest.raises(TypeError, match="proxmox-vm"):
        pool(tenant("acme"), "prod", "dc")
    with pytest.raises(ValueError, match="stands in dc"):
        lab({f"{POOL}.network": "acme-dc"})


def test_removing_a_pool_changes_no_other_object() -> None:
    more = {**tenant_pool(), "vmIds": "2020-2029"}
    both = of_tenant("acme", {"clusters.prod.pools.second": more})
    one = of_tenant("acme")
    assert {name: both[name] for name in one} == one
    assert {item.part for name, item in both.items() if name not in one} == {"pool/prod-second"}
    assert len(both) == len(one) + 4


def tenant_pool() -> dict[str, Any]:
    return {
        "backend": "capi-proxmox",
        "network": "acme-lab",
        "vmIds": "2000-2019",
        "size": {"cpu": 4, "memory": "8Gi", "disk": "40Gi"},
        "replicas": 1,
    }
