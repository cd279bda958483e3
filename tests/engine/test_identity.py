"""The identity with which a tenant's stack has just been made by the real engine, and what it can not do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.engine.harness import EngineLab

pytestmark = pytest.mark.lab

STACKS = ("lab-acme", "lab-globex")
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


def other(namespace: str) -> str:
    return "tenant-globex" if namespace == "tenant-acme" else "tenant-acme"


@pytest.mark.parametrize("stack", STACKS)
def test_a_tenants_stack_is_its_own_service_account_and_nobody_else(lab: EngineLab, stack: str) -> None:
    namespace = f"tenant-{stack.partition('-')[2]}"
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    status, said = lab.api.request("POST", path, dict(REVIEW), token=lab.token(stack))
    assert status == 201
    user = said["status"]["userInfo"]
    assert user["username"] == f"system:serviceaccount:{namespace}:hybrid"
    assert "system:masters" not in user["groups"]
    assert lab.get(f"/apis/cluster.x-k8s.io/v1beta1/namespaces/{namespace}/clusters", lab.token(stack))[0] == 200


@pytest.mark.parametrize("stack", STACKS)
def test_it_reads_nothing_of_the_other_tenant_and_no_credentials(lab: EngineLab, stack: str) -> None:
    namespace = f"tenant-{stack.partition('-')[2]}"
    token = lab.token(stack)
    foreign = f"namespaces/{other(namespace)}"
    paths = [
        f"/api/v1/{foreign}/secrets",
        f"/api/v1/{foreign}/secrets/hybrid-handover",
        f"/apis/cluster.x-k8s.io/v1beta1/{foreign}/clusters/prod",
        f"/api/v1/namespaces/{namespace}/secrets",
        f"/api/v1/namespaces/{namespace}/secrets/pve-lab",
        f"/api/v1/namespaces/{namespace}/secrets/hybrid-token",
        "/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworktables/all",
    ]
    assert {path: lab.get(path, token)[0] for path in paths} == dict.fromkeys(paths, 403)
    # The admin sees them: they are there.
    assert {path: lab.get(path)[0] for path in paths} == dict.fromkeys(paths, 200)


@pytest.mark.parametrize("stack", STACKS)
def test_it_can_not_loosen_the_guard(lab: EngineLab, stack: str) -> None:
    token = lab.token(stack)
    admission = "/apis/admissionregistration.k8s.io/v1"
    loose: dict[str, Any] = {"spec": {"validationActions": ["Audit"]}}
    targets = [
        f"{admission}/validatingadmissionpolicybindings/hybrid-zone-machines-workers",
        f"{admission}/validatingadmissionpolicies/hybrid-machines",
        "/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworkzones/workers",
        "/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworktables/all",
    ]
    for path in targets:
        query = f"{path}?dryRun=All"
        kind = "application/merge-patch+json"
        assert lab.api.request("PATCH", query, loose, content_type=kind, token=token)[0] == 403
        assert lab.api.request("DELETE", query, token=token)[0] == 403
