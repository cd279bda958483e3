"""What a tenant's stack and an environment's may make at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.policy.analyzer import UNKNOWN, secret
from tests.policy.examples import FILE, HCLOUD, KUBERNETES, PROXMOX, SERVER, VM, template, vm

if TYPE_CHECKING:
    from tests.policy.analyzer import Analyzer

GUESTS = [
    "proxmoxve:cloned/vm:Vm",
    "proxmoxve:cloned/vmLegacy:VmLegacy",
    "proxmoxve:index/vm:Vm",
    "proxmoxve:index/vm2Legacy:Vm2Legacy",
    "proxmoxve:index/containerLegacy:ContainerLegacy",
    "proxmoxve:VM/virtualMachine:VirtualMachine",
    "proxmoxve:CT/container:Container",
]
NETWORKS = [
    "proxmoxve:network/linux/bridge:Bridge",
    "proxmoxve:network/linux/vlanLegacy:VlanLegacy",
    "proxmoxve:sdn/vnet:Vnet",
    "proxmoxve:sdn/zone/vlan:Vlan",
    "hcloud:index/network:Network",
    "hcloud:index/networkSubnet:NetworkSubnet",
    "hcloud:index/networkRoute:NetworkRoute",
    "hcloud:index/serverNetwork:ServerNetwork",
]
RIGHTS = [
    "proxmoxve:index/acl:Acl",
    "proxmoxve:user/token:Token",
    "proxmoxve:index/roleLegacy:RoleLegacy",
    "proxmoxve:index/poolLegacy:PoolLegacy",
]
OTHERS = [
    "random:index/randomPassword:RandomPassword",
    "pulumi-python:dynamic:Resource",
    "pulumi:providers:random",
    "pulumi:providers:pulumi-python",
    "pulumi:index:Stash",
    "aws:ec2/instance:Instance",
    "",
]


@pytest.mark.parametrize("token", GUESTS + NETWORKS + RIGHTS + OTHERS)
def test_a_tenants_stack_makes_nothing_else(analyzer: Analyzer, token: str) -> None:
    package = HCLOUD if token.startswith("hcloud") else PROXMOX
    (message,) = analyzer.analyze(token, vm(), package)
    assert f"A tenant's stack makes no {token}." in message


@pytest.mark.parametrize("token", NETWORKS + RIGHTS + OTHERS)
def test_an_environments_stack_makes_networks_and_rights(analyzer: Analyzer, token: str) -> None:
    assert analyzer.analyze(token, {"name": UNKNOWN}, PROXMOX, stack="lab") == []


@pytest.mark.parametrize(
    "token",
    [
        *GUESTS,
        VM,
        SERVER,
        template()[0],
        "kubernetes:cluster.x-k8s.io/v1beta1:MachineDeployment",
        "kubernetes:cluster.x-k8s.io/v1beta1:MachineDeploymentPatch",
        "kubernetes:infrastructure.cluster.x-k8s.io/v1beta1:HCloudMachineTemplate",
        "kubernetes:kubevirt.io/v1:VirtualMachine",
    ],
)
def test_an_environments_stack_makes_no_machines(analyzer: Analyzer, token: str) -> None:
    (message,) = analyzer.analyze(token, vm(), PROXMOX, stack="lab")
    assert f"An environment makes no machines, and {token} is one." in message


def test_an_environments_stack_makes_the_rest(analyzer: Analyzer) -> None:
    for token in ("kubernetes:core/v1:Secret", "pulumi:pulumi:Stack", "hybrid:index:NetworkZone", FILE):
        assert analyzer.analyze(token, {}, None, stack="lab") == []


def test_the_engines_own_resources_pass(analyzer: Analyzer) -> None:
    assert analyzer.analyze("pulumi:pulumi:Stack", {}) == []
    assert analyzer.analyze("pulumi:providers:pulumi", {}, name="default") == []  # comes with a StackReference
    for type_, props in (PROXMOX, HCLOUD, KUBERNETES):
        assert analyzer.analyze(type_, props) == []


def test_components_of_the_project_pass_and_their_like_from_a_provider_do_not(analyzer: Analyzer) -> None:
    assert analyzer.analyze("hybrid:index:WorkerPool", {}) == []
    (message,) = analyzer.analyze("hybrid:index:WorkerPool", {}, ("pulumi:providers:hybrid", {}))
    assert "comes from a provider" in message


@pytest.mark.parametrize(
    "token",
    [SERVER, "hcloud:index/placementGroup:PlacementGroup", "hcloud:index/firewall:Firewall"],
)
def test_hetzner_resources_need_an_explicit_provider_with_a_token(analyzer: Analyzer, token: str) -> None:
    props = {"name": "x", "userData": secret("…"), "networks": [{"subnetId": UNKNOWN}]}
    assert analyzer.analyze(token, props, HCLOUD) == []
    assert analyzer.analyze(token, props, (HCLOUD[0], {"token": UNKNOWN})) == []
    (message,) = analyzer.analyze(token, props, (HCLOUD[0], {}))
    assert "has no token" in message
    for given, name in [(None, "x"), (HCLOUD, "default_1_43_3"), (PROXMOX, "x")]:
        (message,) = analyzer.analyze(token, props, given, provider_name=name)
        assert "no explicit Hetzner Cloud provider" in message
    (message,) = analyzer.analyze(HCLOUD[0], {"token": None})
    assert "has no token" in message


def test_a_stack_reads_its_own_outputs_alone(analyzer: Analyzer) -> None:
    reference = "pulumi:pulumi:StackReference"
    assert analyzer.analyze(reference, {"name": "organization/hybrid/lab-globex"}) == []
    for name in ("organization/hybrid/lab", "organization/hybrid/lab-acme", UNKNOWN, None):
        (message,) = analyzer.analyze(reference, {"name": name})
        assert "reads its own outputs alone" in message


def test_the_handover_is_never_made_by_a_tenant(analyzer: Analyzer) -> None:
    metadata = {"name": "hybrid-handover", "namespace": "tenant-globex"}
    props = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
    (message,) = analyzer.analyze("kubernetes:core/v1:Secret", props, KUBERNETES)
    assert "hybrid-handover is written by the environment and only read here." in message
