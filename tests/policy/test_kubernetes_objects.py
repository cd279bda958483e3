"""A tenant's Kubernetes objects, judged by the real analyzer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.policy.analyzer import UNKNOWN, secret
from tests.policy.examples import (
    KUBERNETES,
    default_nic,
    k8s,
    machine,
    network_v1,
    network_v2,
    pool_ref,
    template,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.policy.analyzer import Analyzer

Registered = tuple[str, dict[str, Any]]

OFFER = (
    "Stack lab-globex may use on bridges of namespace tenant-globex: vmbr1 VLAN 202 (globex-lab), "
    "vmbr2 VLAN 212 (globex-storage). Write bridge: vmbr1 and vlan: 202 or another of these."
)
ALLOWED = [
    k8s("Cluster", {"controlPlaneRef": {"name": "prod"}, "infrastructureRef": {"name": "prod"}}, "", "v1beta1"),
    k8s("MachineDeployment", {"clusterName": "prod", "template": {"spec": {}}}, "", "v1beta1"),
    k8s("MachineDeployment", {"clusterName": "prod", "template": {"spec": {}}}, "", "v1beta2"),
    k8s("MachineHealthCheck", {"clusterName": "prod"}, "", "v1beta1"),
    k8s("KamajiControlPlane", {"version": "v1.35.6", "dataStoreName": "default"}, "controlplane"),
    k8s("ProxmoxCluster", {"credentialsRef": {"name": "pve-lab", "namespace": "tenant-globex"}}),
    k8s("TalosConfigTemplate", {"template": {"spec": {"data": UNKNOWN}}}, "bootstrap", "v1alpha3"),
    template(),
    template(version="v1alpha2"),
    machine(),
    machine(version="v1alpha2"),
]


@pytest.mark.parametrize("registered", ALLOWED, ids=lambda item: item[0])
def test_what_the_program_renders_passes(analyzer: Analyzer, registered: Registered) -> None:
    assert analyzer.analyze(*registered, KUBERNETES) == []


@pytest.mark.parametrize("registered", ALLOWED, ids=lambda item: item[0])
@pytest.mark.parametrize(
    ("namespace", "says"),
    [
        ("tenant-acme", "Its namespace is tenant-acme."),
        (None, "Its namespace is none."),
        (UNKNOWN, "Its namespace is one that is not known yet."),
        (secret(UNKNOWN), "Its namespace is one that is not known yet."),
        (["tenant-globex"], "Its namespace is something that is no plain value."),
    ],
)
def test_another_namespace_is_refused(analyzer: Analyzer, registered: Registered, namespace: Any, says: str) -> None:
    token, body = registered
    changed = {**body, "metadata": {**body["metadata"], "namespace": namespace}}
    (message,) = analyzer.analyze(token, changed, KUBERNETES)
    assert says in message
    assert "write metadata.namespace: tenant-globex." in message


def test_metadata_that_is_not_known_is_refused(analyzer: Analyzer) -> None:
    token, body = template()
    (message,) = analyzer.analyze(token, {**body, "metadata": UNKNOWN}, KUBERNETES)
    assert "Its namespace is one that is not known yet." in message


@pytest.mark.parametrize("field", ["apiVersion", "kind"])
def test_an_object_that_is_not_what_it_is_registered_as_is_refused(analyzer: Analyzer, field: str) -> None:
    token, body = template()
    for other in ("v1", UNKNOWN, None):
        (message,) = analyzer.analyze(token, {**body, field: other}, KUBERNETES)
        assert f"Its {field} is " in message
        assert "is registered as infrastructure.cluster.x-k8s.io/v1alpha1 ProxmoxMachineTemplate." in message


@pytest.mark.parametrize(
    "token",
    [
        "kubernetes:core/v1:Secret",
        "kubernetes:core/v1:SecretPatch",
        "kubernetes:core/v1:ConfigMap",
        "kubernetes:core/v1:Namespace",
        "kubernetes:core/v1:List",
        "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding",
        "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
        "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding",
        "kubernetes:proxmox.cozystack.io/v1alpha1:ProxmoxNetworkZone",
        "kubernetes:ipam.cluster.x-k8s.io/v1alpha2:InClusterIPPool",
        "kubernetes:infrastructure.cluster.x-k8s.io/v1alpha1:ProxmoxClusterTemplate",
        "kubernetes:infrastructure.cluster.x-k8s.io/v1alpha1:ProxmoxMachineTemplateList",
        "kubernetes:infrastructure.example.com/v1alpha1:ProxmoxMachineTemplate",
        "kubernetes:helm.sh/v3:Release",
        "kubernetes:yaml:ConfigFile",
        "kubernetes:yaml/v2:ConfigGroup",
        "kubernetes:cluster.x-k8s.io/v1beta1:Cluster:x",
    ],
)
def test_every_other_kind_is_refused(analyzer: Analyzer, token: str) -> None:
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x", "namespace": "tenant-globex"}}
    (message,) = analyzer.analyze(token, body, KUBERNETES)
    assert "A tenant's stack makes no " in message
    assert ("hybrid-handover" in message) == ("Secret" in token)


def test_an_object_without_an_explicit_provider_is_refused(analyzer: Analyzer) -> None:
    for given, name in [(None, "x"), (KUBERNETES, "default"), (KUBERNETES, "default_4_34_2")]:
        (message,) = analyzer.analyze(*template(), given, provider_name=name)
        assert "no explicit Kubernetes provider" in message


@pytest.mark.parametrize("kind", [template, machine])
@pytest.mark.parametrize("suffix", ["", "Patch"])
@pytest.mark.parametrize(
    "network",
    [
        network_v1(),
        network_v1({"name": "net1", **default_nic(212.0, "vmbr2", "globex-storage")}),
        network_v1(default=default_nic(secret(202))),
        network_v1(default={**default_nic(), "mtu": UNKNOWN, "dnsServers": UNKNOWN}),
    ],
)
def test_nics_on_the_tenants_networks_pass(
    analyzer: Analyzer, kind: Callable[[Any], Registered], suffix: str, network: dict[str, Any]
) -> None:
    token, body = kind(network)
    assert analyzer.analyze(f"{token}{suffix}", body, KUBERNETES) == []


REFUSED_V1 = [
    (network_v1(default=default_nic(201)), "NIC 1 (network.default) asks for VLAN 201 on bridge vmbr1."),
    (network_v1({"name": "net1", **default_nic(201)}), "NIC 2 (network.additionalDevices[0]) asks for VLAN 201"),
    (network_v1(default=default_nic(202, "vmbr2")), "asks for VLAN 202 on bridge vmbr2."),
    (network_v1(default=default_nic(None)), "NIC 1 (network.default) has no VLAN"),
    (network_v1(default=default_nic(UNKNOWN)), "the VLAN is not known yet"),
    (network_v1(default=default_nic(bridge=UNKNOWN)), "the bridge is not known yet"),
    (network_v1(default=UNKNOWN), "NIC 1 (network.default) is not known yet"),
    ({**network_v1(), "additionalDevices": UNKNOWN}, "additionalDevices is one that is not known yet, not a list"),
    ({**network_v1(), "networkDevices": [default_nic(201)]}, "NIC 2 (network.networkDevices[0]) asks for"),
    (UNKNOWN, "network is not known yet"),
    ({}, "It has no network.default"),
    ("vmbr1", "network is not a set of fields"),
]


@pytest.mark.parametrize("kind", [template, machine])
@pytest.mark.parametrize("suffix", ["", "Patch"])
@pytest.mark.parametrize(("network", "says"), REFUSED_V1)
def test_other_nics_are_refused_in_v1alpha1(
    analyzer: Analyzer, kind: Callable[[Any], Registered], suffix: str, network: Any, says: str
) -> None:
    token, body = kind(network)
    messages = analyzer.analyze(f"{token}{suffix}", body, KUBERNETES)
    assert len(messages) == 1
    assert says in messages[0]
    assert OFFER in messages[0]
    assert "acme" not in messages[0]


@pytest.mark.parametrize("kind", [template, machine])
@pytest.mark.parametrize(
    ("network", "says"),
    [
        (network_v2({"name": "net0", "bridge": "vmbr1", "vlan": 201}), "asks for VLAN 201 on bridge vmbr1."),
        (network_v2({"bridge": "vmbr1", "vlan": 202}, {"name": "net1", "bridge": "vmbr1", "vlan": 201}), "NIC 2 ("),
        (network_v2({"name": "net0", "vlan": 202}), "asks for VLAN 202 on bridge none."),
        (network_v2({"name": "net1", "bridge": "vmbr1", "vlan": 202}), "It has no network.networkDevices with net0"),
        ({"networkDevices": []}, "It has no network.networkDevices with net0"),
        ({"networkDevices": UNKNOWN}, "networkDevices is one that is not known yet"),
        ({**network_v2(), "default": default_nic(201)}, "NIC 1 (network.default) asks for VLAN 201"),
    ],
)
def test_other_nics_are_refused_in_v1alpha2(
    analyzer: Analyzer, kind: Callable[..., Registered], network: Any, says: str
) -> None:
    messages = analyzer.analyze(*kind(network, version="v1alpha2"), KUBERNETES)
    assert any(says in message and OFFER in message for message in messages)


@pytest.mark.parametrize(("kind", "path"), [(template, "spec.template.spec"), (machine, "spec")])
def test_a_machine_without_network_is_refused(analyzer: Analyzer, kind: Callable[[], Registered], path: str) -> None:
    token, body = kind()
    specs: list[Any] = [None, {}, {"template": {}}, {"template": {"spec": {"numCores": 2}}}]
    for spec in specs:
        messages = analyzer.analyze(token, {**body, "spec": spec}, KUBERNETES)
        assert any(f"It has no {path}.network, so its machines would keep" in message for message in messages)
    assert analyzer.analyze(token, {**body, "spec": UNKNOWN}, KUBERNETES)


def test_fields_and_versions_that_the_pack_does_not_know_are_refused(analyzer: Analyzer) -> None:
    (message,) = analyzer.analyze(*template({**network_v1(), "bonds": []}), KUBERNETES)
    assert "network.bonds is not known to this pack." in message
    (message,) = analyzer.analyze(*template(network_v1(default=default_nic() | {"trunks": "1-9"})), KUBERNETES)
    assert "fields that this pack can not judge: trunks." in message
    (message,) = analyzer.analyze(*template(network_v2(), version="v1alpha3"), KUBERNETES)
    assert "Version v1alpha3 of ProxmoxMachineTemplate is not known to this pack" in message


@pytest.mark.parametrize(
    ("ref", "says"),
    [
        (None, "NIC 1 (network.default) has no ipv4PoolRef. Write the pool of its network: globex-lab."),
        (pool_ref("acme-lab"), "takes addresses from pool acme-lab. Write globex-lab."),
        (pool_ref("globex-storage"), "takes addresses from pool globex-storage."),
        (pool_ref(["globex-lab"]), "takes addresses from pool something that is no plain value."),
        (pool_ref(UNKNOWN), "the pool of ipv4PoolRef is not known yet."),
        (UNKNOWN, "the pool of ipv4PoolRef is not known yet."),
        ({**pool_ref(), "apiGroup": UNKNOWN}, "the pool of ipv4PoolRef is not known yet."),
        ({**pool_ref(), "kind": UNKNOWN}, "the pool of ipv4PoolRef is not known yet."),
        ({**pool_ref(), "kind": "GlobalInClusterIPPool"}, "must be a InClusterIPPool of ipam.cluster.x-k8s.io"),
        ({**pool_ref(), "apiGroup": "example.com"}, "must be a InClusterIPPool of ipam.cluster.x-k8s.io"),
        ({**pool_ref(), "apiGroup": None}, "must be a InClusterIPPool of ipam.cluster.x-k8s.io"),
    ],
)
def test_a_pool_of_another_network_is_refused(analyzer: Analyzer, ref: Any, says: str) -> None:
    registered = template(network_v1(default={**default_nic(), "ipv4PoolRef": ref}))
    messages = analyzer.analyze(*registered, KUBERNETES)
    assert any(says in message for message in messages)


def test_pools_are_judged_in_every_field(analyzer: Analyzer) -> None:
    six = template(network_v1(default={**default_nic(), "ipv6PoolRef": pool_ref("acme-lab")}))
    (message,) = analyzer.analyze(*six, KUBERNETES)
    assert "ipv6PoolRef takes addresses from pool acme-lab." in message
    for refs, expected in [([pool_ref()], 0), ([pool_ref(), pool_ref("acme-lab")], 1), (UNKNOWN, 1)]:
        net0 = {"name": "net0", "bridge": "vmbr1", "vlan": 202, "ipPoolRef": refs}
        assert len(analyzer.analyze(*template(network_v2(net0), "v1alpha2"), KUBERNETES)) == expected


@pytest.mark.parametrize(
    ("kind", "spec", "says"),
    [
        ("ProxmoxCluster", {"credentialsRef": {"name": "pve-lab", "namespace": "tenant-acme"}}, "credentialsRef."),
        ("ProxmoxCluster", {"credentialsRef": {"name": "pve-lab", "namespace": UNKNOWN}}, "credentialsRef.namespace"),
        ("ProxmoxCluster", {"credentialsRef": UNKNOWN}, "spec.credentialsRef is one that is not known yet"),
        ("ProxmoxCluster", UNKNOWN, "spec is one that is not known yet"),
        ("ProxmoxCluster", {"x": [{"secretNamespace": "tenant-acme"}]}, "spec.x[0].secretNamespace is tenant-acme"),
        ("ProxmoxCluster", {"cloneSpec": {"machineSpec": {}}}, "spec.cloneSpec can carry NICs"),
        ("ProxmoxCluster", {"cloneSpec": UNKNOWN}, "spec.cloneSpec can carry NICs"),
    ],
)
def test_references_out_of_the_namespace_are_refused(analyzer: Analyzer, kind: str, spec: Any, says: str) -> None:
    (message,) = analyzer.analyze(*k8s(kind, spec), KUBERNETES)
    assert says in message


def test_a_namespace_inside_a_talos_configuration_is_the_tenants_own_matter(analyzer: Analyzer) -> None:
    spec = {"template": {"spec": {"configPatches": [{"value": {"namespace": "kube-system"}}]}}}
    assert analyzer.analyze(*k8s("TalosConfigTemplate", spec, "bootstrap", "v1alpha3"), KUBERNETES) == []
