from __future__ import annotations

import copy
from typing import Any

import pytest

from lab.conversion import ConversionError, convert
from lab.conversion.convert import PARKED

Body = dict[str, Any]
GROUP = "infrastructure.cluster.x-k8s.io"
OLD, NEW = f"{GROUP}/v1alpha1", f"{GROUP}/v1alpha2"


def ref(name: str) -> Body:
    return {"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": name}


def machine(version: str, network: Body | None, **spec: Any) -> Body:
    body: Body = {"apiVersion": version, "kind": "ProxmoxMachine", "metadata": {"name": "x"}, "spec": spec}
    if network is not None:
        body["spec"]["network"] = network
    return body


def test_the_default_nic_becomes_the_first_with_both_flags_and_its_pools_in_one_list() -> None:
    old = machine(
        OLD,
        {
            "default": {"bridge": "vmbr1", "vlan": 201, "ipv4PoolRef": ref("four"), "ipv6PoolRef": ref("inet6")},
            "additionalDevices": [{"name": "net1", "bridge": "vmbr1", "vlan": 301, "ipv4PoolRef": ref("other")}],
        },
    )
    before = copy.deepcopy(old)
    new = convert(old, NEW)
    assert old == before
    first = {"name": "net0", "bridge": "vmbr1", "vlan": 201, "defaultIPv4": True, "defaultIPv6": True}
    assert new["spec"]["network"]["networkDevices"] == [
        {**first, "ipPoolRef": [ref("four"), ref("inet6")]},
        {"name": "net1", "bridge": "vmbr1", "vlan": 301, "ipPoolRef": [ref("other")]},
    ]
    assert convert(new, OLD)["spec"] == old["spec"]


def test_a_machine_without_a_network_gets_a_nic_on_the_default_bridge() -> None:
    (nic,) = convert(machine(OLD, None), NEW)["spec"]["network"]["networkDevices"]
    assert (nic["name"], nic["bridge"], "vlan" in nic) == ("net0", "vmbr0", False)


def test_a_target_becomes_the_only_allowed_node() -> None:
    spec = convert(machine(OLD, None, target="pve1"), NEW)["spec"]
    assert spec["allowedNodes"] == ["pve1"]
    assert "target" not in spec


def test_the_older_version_hides_pools_and_the_annotation_brings_them_back() -> None:
    nic = {"name": "net0", "bridge": "vmbr1", "vlan": 201, "ipPoolRef": [ref("a"), ref("b")], "queues": 2}
    new = machine(NEW, {"networkDevices": [nic], "zone": "z"})
    old = convert(new, OLD)
    assert old["spec"]["network"]["default"] == {"bridge": "vmbr1", "vlan": 201, "ipv4PoolRef": ref("a")}
    back = convert(old, NEW)
    assert back["spec"]["network"]["networkDevices"][0]["ipPoolRef"] == [ref("a"), ref("b")]
    assert back["spec"]["network"]["zone"] == "z"
    assert PARKED not in back["metadata"]["annotations"]
    old["spec"]["network"]["default"]["ipv4PoolRef"] = ref("c")
    assert convert(old, NEW)["spec"]["network"]["networkDevices"][0]["ipPoolRef"] == [ref("c")]


def test_a_clusters_clone_spec_is_dropped_and_its_zones_are_parked() -> None:
    cluster = {"kind": "ProxmoxCluster", "metadata": {"name": "x"}}
    old = {**cluster, "apiVersion": OLD, "spec": {"cloneSpec": {"machineSpec": {}}, "dnsServers": ["10.0.0.1"]}}
    assert convert(old, NEW)["spec"] == {"dnsServers": ["10.0.0.1"]}
    new = {**cluster, "apiVersion": NEW, "spec": {"zoneConfig": [{"zone": "a"}]}}
    down = convert(new, OLD)
    assert down["spec"] == {}
    assert convert(down, NEW)["spec"] == new["spec"]
    del down["metadata"]["annotations"]
    assert convert(down, NEW)["spec"] == {}


def test_what_is_none_of_capmox_is_refused() -> None:
    with pytest.raises(ConversionError, match="Cluster can not be converted"):
        convert({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": {}}, NEW)
    assert convert(machine(OLD, None), OLD) == machine(OLD, None)


def test_a_cluster_refers_by_group_in_the_newer_version_and_by_version_and_namespace_in_the_older() -> None:
    ref = {"apiVersion": OLD, "kind": "ProxmoxCluster", "name": "prod", "namespace": "n"}
    old = {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Cluster",
        "metadata": {"name": "prod", "namespace": "n"},
        "spec": {"infrastructureRef": ref, "clusterNetwork": {"pods": {"cidrBlocks": ["10.0.0.0/8"]}}},
    }
    new = convert(old, "cluster.x-k8s.io/v1beta2")
    assert new["spec"]["infrastructureRef"] == {"apiGroup": GROUP, "kind": "ProxmoxCluster", "name": "prod"}
    assert convert(new, "cluster.x-k8s.io/v1beta1") == old
    with pytest.raises(ConversionError):
        convert(old, f"{GROUP}/v1alpha2")
