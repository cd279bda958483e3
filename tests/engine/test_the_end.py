"""The last of the engine tests: taking everything down, tenants first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.engine.harness import EngineLab

pytestmark = pytest.mark.lab

KINDS = (
    "/apis/cluster.x-k8s.io/v1beta1/clusters",
    "/apis/cluster.x-k8s.io/v1beta1/machinedeployments",
    "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/proxmoxclusters",
    "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/proxmoxmachinetemplates",
    "/apis/bootstrap.cluster.x-k8s.io/v1alpha3/talosconfigtemplates",
    "/apis/controlplane.cluster.x-k8s.io/v1alpha1/kamajicontrolplanes",
    "/apis/ipam.cluster.x-k8s.io/v1alpha2/inclusterippools",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
)


def test_destroying_the_stacks_leaves_nothing(lab: EngineLab) -> None:
    for stack in ("lab-acme", "lab-globex"):
        lab.must(stack, "destroy", "--yes")
    assert lab.machines("pve.lab") == {}
    assert lab.machines("pve.dc") == {}
    project = lab.cloud("hcloud")["projects"]["fsn1-acme"]
    assert [project[kind] for kind in ("servers", "firewalls", "placement_groups")] == [{}, {}, {}]
    lab.must("lab", "destroy", "--yes")
    for stack in ("lab", "lab-acme", "lab-globex"):
        assert lab.state(stack) == []
    left = {path: [item["metadata"]["name"] for item in lab.get(path)[1]["items"]] for path in KINDS}
    assert left == {key: [] for key in KINDS}
    status, _ = lab.get(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/proxmoxnetworkzones.proxmox.cozystack.io"
    )
    assert status == 404
    for namespace in ("tenant-acme", "tenant-globex"):
        _, secrets = lab.get(f"/api/v1/namespaces/{namespace}/secrets")
        assert [item["metadata"]["name"] for item in secrets["items"]] == []
    for place in ("pve.lab", "pve.dc"):
        state = lab.cloud(place)
        assert state["pools"] == {}
        assert set(state["users"]) == {"pulumi@pve"}
        assert state["files"] == {}
    assert lab.cloud("hcloud")["projects"]["fsn1-acme"]["networks"] == {}
