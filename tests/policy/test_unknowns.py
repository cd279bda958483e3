"""Whatever is judged must be known: each field of each resource in turn is one that is not known yet, or a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pulumi_policy.deserialize import SPECIAL_SIG_KEY
from tenant_isolation.policy import tenant_isolation

from tests.policy.analyzer import UNKNOWN, secret
from tests.policy.cases import TENANT, Example, put, tenant_cases
from tests.policy.environment_cases import ENVIRONMENT, environment_cases
from tests.policy.examples import CONFIG
from tests.policy.offline import arguments, judged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.policy.cases import Body, Case

VALIDATE = tenant_isolation().validate
NOT_JUDGED: dict[str, set[str]] = {
    "vm": {"clone.full", "clone.nodeName", "nodeName", "name", "disks.0.size", "disks.0.interface"}
    | {"networkDevices.0.model"},
    "iso": {"sourceFile", "sourceFile.path", "sourceFile.fileName", "nodeName"},
    "server": {"image", "name", "serverType", "userData", "networks.0.aliasIps", "publicNets", "publicNets.0"}
    | {"publicNets.0.ipv4Enabled", "publicNets.0.ipv6Enabled"},
    "group": {"name", "type"},
    "firewall": {"name", "labels"},
    "template v1alpha1": {"spec.template.spec.network.default.model", "spec.template.spec.numCores"},
    "template v1alpha2": {"spec.template.spec.network.networkDevices.0.defaultIPv4", "spec.template.spec.numCores"},
    "machine v1alpha1": {"spec.numCores", "spec.network.default.model"},
    "machine v1alpha2": {"spec.numCores", "spec.network.networkDevices.0.defaultIPv4"},
    "ProxmoxCluster v1alpha1": {"spec.dnsServers", "spec.dnsServers.0", "spec.externalManagedControlPlane"}
    | {"spec.ipv4Config.metric", "spec.ipv4Config.prefix"},
    "ProxmoxCluster v1alpha2": {"spec.dnsServers", "spec.dnsServers.0", "spec.externalManagedControlPlane"}
    | {"spec.ipv4Config.metric"},
    "Cluster": {"spec.clusterNetwork", "spec.clusterNetwork.pods", "spec.controlPlaneRef.name"}
    | {"spec.infrastructureRef.name"},
    "MachineDeployment": {"spec.clusterName", "spec.replicas", "spec.template.spec.bootstrap.configRef.name"}
    | {"spec.template.spec.infrastructureRef.name"},
    "MachineHealthCheck": {"spec.selector", "spec.clusterName"},
    "TalosConfigTemplate": {"spec", "spec.template", "spec.template.spec", "spec.template.spec.data"},
    "KamajiControlPlane": {"spec.addons.konnectivity.server.port", "spec.replicas", "spec.version"}
    | {"spec.kubelet.cgroupfs", "spec.kubelet.preferredAddressTypes", "spec.kubelet.preferredAddressTypes.0"}
    | {"spec.network.additionalServicePorts", "spec.network.certSANs", "spec.network.certSANs.0"}
    | {"spec.network.serviceAddress", "spec.network.serviceType"},
    "Proxmox VE provider": {"apiToken"},
    "admin's provider": {"apiToken"},
    "admin's provider in dc": {"apiToken"},
    "Hetzner provider": {"token"},
    "Kubernetes provider": {"enableSecretMutable", "clusterIdentifier", "version"},
    "user": {"comment", "enabled"},
    "token": {"tokenName"},
    "resource pool": {"comment"},
    "bridge": {"nodeName", "vlanAware"},
    "VLAN": {"nodeName"},
    "SDN zone": {"resourceId"},
    "vnet": {"zone", "resourceId"},
    "applier": {"onCreate"},
    "network": {"name", "labels"},
    "subnet": {"networkId", "networkZone"},
    "Secret": {"stringData", "type"},
    "CustomResourceDefinition": {"spec", "spec.group"},
    "ValidatingAdmissionPolicy": {"spec", "spec.validations"},
    "ValidatingAdmissionPolicyBinding": {"spec", "spec.policyName"},
}
"""Fields of the examples that may be anything, since no network and no right depends on them."""


def paths(value: Any, at: tuple[str, ...] = ()) -> Iterator[str]:
    """Give the path of everything in a tree, the inner nodes too."""
    if at:
        yield ".".join(at)
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from paths(part, (*at, str(key)))


def said(example: Example, provider_name: str = "explicit") -> list[str]:
    return judged(VALIDATE, arguments(example, CONFIG, provider_name))


def changed(example: Example, props: Body) -> Example:
    return Example(example.name, example.token, props, example.provider, example.stack)


@pytest.mark.parametrize("example", [*TENANT, *ENVIRONMENT], ids=lambda example: f"{example.stack} {example.name}")
def test_a_judged_field_that_is_not_known_yet_is_a_violation(example: Example) -> None:
    free = {path for path in paths(example.props) if not said(changed(example, put(example.props, path, UNKNOWN)))}
    assert free == NOT_JUDGED.get(example.name, set())


@pytest.mark.parametrize("example", [*TENANT, *ENVIRONMENT], ids=lambda example: f"{example.stack} {example.name}")
def test_a_providers_judged_field_that_is_not_known_yet_is_a_violation(example: Example) -> None:
    if example.provider is None:
        return
    kind, props = example.provider
    free = {
        path
        for path in paths(props)
        if not said(Example("x", example.token, example.props, (kind, put(props, path, UNKNOWN)), example.stack))
    }
    assert free == set(props) & {"apiToken", "token", "enableSecretMutable", "clusterIdentifier", "version"}


def wrapped(value: Any) -> Any:
    """Make a secret of everything in a tree, on every level."""
    if isinstance(value, dict) and SPECIAL_SIG_KEY in value:
        return value
    if isinstance(value, dict):
        value = {key: wrapped(part) for key, part in value.items()}
    elif isinstance(value, list):
        value = [wrapped(part) for part in value]
    return secret(value)


@pytest.mark.parametrize("case", [*tenant_cases(), *environment_cases()], ids=lambda case: case.name[:120])
def test_a_secret_is_judged_by_its_value(case: Case) -> None:
    example = case.example
    props = {key: wrapped(value) for key, value in example.props.items()}
    provider = example.provider and (example.provider[0], {k: wrapped(v) for k, v in example.provider[1].items()})
    hidden = Example(example.name, example.token, props, provider, example.stack)
    assert said(hidden, case.provider_name) == said(example, case.provider_name)
