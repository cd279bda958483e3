"""The last of the engine tests: taking everything down, tenants first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab import cluster
from lab.demo.run import clean
from tests.engine.leaks import leaks, secrets_of, seeds_left

if TYPE_CHECKING:
    from tests.engine.harness import EngineLab

pytestmark = pytest.mark.lab

KINDS = (
    "/apis/cluster.x-k8s.io/v1beta1/clusters",
    "/apis/cluster.x-k8s.io/v1beta1/machinedeployments",
    "/apis/cluster.x-k8s.io/v1beta1/machinehealthchecks",
    "/api/v1/serviceaccounts",
    "/apis/rbac.authorization.k8s.io/v1/roles",
    "/apis/rbac.authorization.k8s.io/v1/rolebindings",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/proxmoxclusters",
    "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/proxmoxmachinetemplates",
    "/apis/bootstrap.cluster.x-k8s.io/v1alpha3/talosconfigtemplates",
    "/apis/controlplane.cluster.x-k8s.io/v1alpha1/kamajicontrolplanes",
    "/apis/ipam.cluster.x-k8s.io/v1alpha2/inclusterippools",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
)


KUBERNETES_OWN = ("system:", "kube", "cluster-admin", "admin", "edit", "view", "extension-apiserver")
"""What the API server makes for itself."""


def deleted(output: str) -> dict[str, int]:
    """Give the line at which the engine says that an object is gone, by its logical name."""
    found = ((at, re.search(r" (\S+/\S+) deleted \(", line)) for at, line in enumerate(output.splitlines()))
    return {match[1]: at for at, match in found if match}


def test_destroying_the_stacks_leaves_nothing(lab: EngineLab) -> None:
    secrets = secrets_of(lab)
    for stack in ("lab-acme", "lab-globex"):
        lab.must(stack, "destroy", "--yes")
    assert lab.machines("pve.lab") == {}
    assert lab.machines("pve.dc") == {}
    project = lab.cloud("hcloud")["projects"]["fsn1-acme"]
    assert [project[kind] for kind in ("servers", "firewalls", "placement_groups")] == [{}, {}, {}]
    gone = deleted(lab.must("lab", "destroy", "--yes"))
    bindings = {name.partition("/")[2] for name in gone if name.startswith("ValidatingAdmissionPolicyBinding/")}
    assert len(bindings) >= 8
    for name in bindings:
        binding, policy = f"ValidatingAdmissionPolicyBinding/{name}", f"ValidatingAdmissionPolicy/{name}"
        assert gone[binding] < gone[policy.removesuffix("-workers")]
        if name.endswith("-workers"):
            assert gone[binding] < gone["ProxmoxNetworkZone/workers"]
    for table in ("ProxmoxNetworkZone/workers", "ProxmoxNetworkTable/all"):
        kind = f"{table.partition('/')[0].lower()}s.proxmox.cozystack.io"
        assert gone[table] < gone[f"CustomResourceDefinition/{kind}"]
    for stack in ("lab", "lab-acme", "lab-globex"):
        assert lab.state(stack) == []
    for path in KINDS:
        names = [item["metadata"]["name"] for item in lab.get(path)[1]["items"]]
        assert [name for name in names if not name.startswith(KUBERNETES_OWN)] == [], path
    status, _ = lab.get(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/proxmoxnetworkzones.proxmox.cozystack.io"
    )
    assert status == 404
    for namespace in ("tenant-acme", "tenant-globex"):
        _, left = lab.get(f"/api/v1/namespaces/{namespace}/secrets")
        assert [item["metadata"]["name"] for item in left["items"]] == []
    for place in ("pve.lab", "pve.dc"):
        state = lab.cloud(place)
        assert list(state["pools"]) == ["templates"]  # the administrator's
        assert set(state["users"]) == {"pulumi@pve"}
        assert state["files"] == {}
        assert [acl for acl in state["acls"] if acl["who"] != "pulumi@pve"] == []
        assert [role for role in state["roles"] if role.startswith("hybrid-")] == []
    assert lab.cloud("hcloud")["projects"]["fsn1-acme"]["networks"] == {}
    assert leaks(lab, secrets) == []
    assert seeds_left(lab) == []


def test_a_definition_that_somebody_else_made_stops_an_up_and_is_left_as_it_is(lab: EngineLab) -> None:
    name = "proxmoxnetworkzones.proxmox.cozystack.io"
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "string"}}}}
    foreign = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": "proxmox.cozystack.io",
            "scope": "Cluster",
            "names": {"kind": "ProxmoxNetworkZone", "plural": "proxmoxnetworkzones"},
            "versions": [{"name": "v1alpha1", "served": True, "storage": True, "schema": schema}],
        },
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert lab.api.request("POST", path, foreign)[0] == 201
    stopped = lab.pulumi("lab", "up", "--yes", "--skip-preview")
    assert stopped.code != 0
    assert "[FOREIGN_CRD]" in stopped.output
    assert name in stopped.output
    assert "Traceback" not in stopped.output
    assert {item["type"] for item in lab.state("lab")} <= {"pulumi:pulumi:Stack"}
    version = lab.get(f"{path}/{name}")[1]["spec"]["versions"][0]
    assert version["schema"] == schema
    assert lab.api.request("DELETE", f"{path}/{name}")[0] == 200


def _running_in(home: Path) -> list[str]:
    """List the processes whose command names the lab's folder (one that has ended names nothing)."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(home).encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue  # it has ended meanwhile
    return found


def test_cleaning_up_leaves_neither_a_process_nor_a_file(lab: EngineLab) -> None:
    assert len(_running_in(lab.layout.home)) >= 3
    clean(lab.layout)
    assert not lab.layout.home.exists()
    assert cluster.running(lab.layout.cluster) is None
    assert _running_in(lab.layout.home) == []
