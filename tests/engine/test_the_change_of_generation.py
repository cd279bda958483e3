"""The change from `capi-1.10` to `capi-1.12` under a running environment; what comes after runs in the later one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lab.up import up
from tests.conftest import SHARED
from tests.engine.test_guard import ADDRESSES, POOL, RANGE, leased, operation, wrong

if TYPE_CHECKING:
    from tests.engine.harness import EngineLab

pytestmark = [pytest.mark.lab, pytest.mark.shared]

LATER = SHARED / "crds" / "capi-1.12"
TO_LATER = ("generation: capi-1.10", "generation: capi-1.12")
TWO_RANGES = (RANGE, "range: [10.201.0.20-10.201.0.199, 10.201.0.200-10.201.0.250]")
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
LISTS = (
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    f"{ADMISSION}/validatingadmissionpolicies",
    f"{ADMISSION}/validatingadmissionpolicybindings",
    "/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworkzones",
    "/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworktables",
    f"{RBAC}/clusterroles",
    f"{RBAC}/clusterrolebindings",
)
OF_A_TENANT = (
    "/api/v1/{}/secrets",
    "/api/v1/{}/serviceaccounts",
    f"{RBAC}/{{}}/roles",
    f"{RBAC}/{{}}/rolebindings",
    "/apis/cluster.x-k8s.io/v1beta1/{}/clusters",
    "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/{}/proxmoxclusters",
    "/apis/controlplane.cluster.x-k8s.io/v1alpha1/{}/kamajicontrolplanes",
)


def uids(lab: EngineLab) -> dict[str, str]:
    """Give the uid of every object that the stacks made and that both generations have."""
    theirs = "cluster.x-k8s.io"  # definitions that the providers bring
    paths = [*LISTS, *(path.format(f"namespaces/tenant-{name}") for path in OF_A_TENANT for name in ("acme", "globex"))]
    found: dict[str, str] = {}
    for path in paths:
        status, said = lab.get(path)
        assert status == 200, said
        names = {item["metadata"]["name"]: item["metadata"]["uid"] for item in said["items"]}
        found |= {f"{path} {name}": uid for name, uid in names.items() if not name.endswith(theirs)}
    return found


def moved(lab: EngineLab, before: dict[str, str]) -> list[str]:
    """Name what is gone or was made anew since."""
    now = uids(lab)
    return [name for name, uid in before.items() if now.get(name) != uid]


def cluster_of(lab: EngineLab, tenant: str) -> dict[str, Any]:
    """Give a tenant's ProxmoxCluster in the later version."""
    path = f"/apis/infrastructure.cluster.x-k8s.io/v1alpha2/namespaces/tenant-{tenant}/proxmoxclusters/prod"
    status, said = lab.get(path)
    assert status == 200, said
    spec: dict[str, Any] = said["spec"]
    return spec


@pytest.fixture(scope="module")
def before(lab: EngineLab) -> dict[str, str]:
    """Upgrade the management cluster's providers below the running stacks; give what was there."""
    with lab.edited("lab", TO_LATER):
        early = lab.pulumi("lab", "preview")
    assert early.code != 0
    assert "[WRONG_GENERATION]" in early.output
    found = uids(lab)
    up(lab.layout, LATER, lambda _: None)
    return found


def test_a_cluster_of_the_later_generation_is_refused_until_the_file_says_so(
    lab: EngineLab, before: dict[str, str]
) -> None:
    assert before
    late = lab.pulumi("lab", "preview")
    assert late.code != 0
    assert "[WRONG_GENERATION]" in late.output
    assert "fix: write capi-1.12" in late.output


def test_the_environment_changes_in_place_and_hands_out_no_address_twice(
    lab: EngineLab, before: dict[str, str]
) -> None:
    with leased(lab, "10.201.0.150"):
        lab.rewrite("lab", TO_LATER)
        stopped = lab.pulumi("lab", "up", "--yes", "--skip-preview")
        assert stopped.code != 0
        assert "[ADDRESS_TWICE]" in stopped.output
        assert "IPAddress tenant-acme/m-1 (10.201.0.150) from pool acme-lab" in stopped.output
        assert lab.get(POOL)[0] == 200

        lab.rewrite("lab", TWO_RANGES)
        done = lab.up("lab")
        assert lab.get(POOL)[0] == 200, "addresses are leased from it"
        lines = done.splitlines()
        policy, binding, pool = (
            next(at for at, line in enumerate(lines) if f"{name} {verb}" in line)
            for name, verb in (
                ("ValidatingAdmissionPolicy/hybrid-cluster-ranges", "created"),
                ("ValidatingAdmissionPolicyBinding/hybrid-cluster-ranges", "creating"),
                ("InClusterIPPool/tenant-globex/globex-lab", "deleting (0s)"),
            )
        )
        assert policy < binding < pool
        lab.unchanged("lab")
    assert lab.get(f"{ADDRESSES}/m-1")[0] == 404
    lab.up("lab", "--skip-preview")
    assert lab.get(POOL)[0] == 404
    assert moved(lab, before) == []


def test_a_tenants_cluster_moves_in_place_once_its_object_was_taken_over(
    lab: EngineLab, before: dict[str, str]
) -> None:
    stopped = lab.pulumi("lab-globex", "preview")
    assert stopped.code != 0
    assert "run `make move-versions STACK=lab-globex` first" in stopped.output
    sentinel = cluster_of(lab, "globex")
    done = operation(lab, "move-versions", "lab-globex")
    assert done.code == 0, done.output
    assert "ProxmoxCluster tenant-globex/prod: from" in done.output
    assert cluster_of(lab, "globex") == sentinel
    lab.up("lab-globex")
    assert cluster_of(lab, "globex")["ipv4Config"]["addresses"] == ["10.202.0.20-10.202.0.199"]
    lab.unchanged("lab-globex")
    assert (
        "everything of lab-globex is in the versions of capi-1.12"
        in operation(lab, "move-versions", "lab-globex").output
    )
    assert len(lab.machines("pve.lab")) == 2
    assert moved(lab, before) == []


def test_a_tenant_with_cluster_api_machines_is_told_that_they_are_not_built_yet(
    lab: EngineLab, before: dict[str, str]
) -> None:
    stopped = lab.pulumi("lab-acme", "preview")
    assert stopped.code != 0
    assert "clusters.prod.pools.lab.backend" in stopped.output
    assert "[NOT_AVAILABLE]" in stopped.output
    assert "use proxmox-vm" in stopped.output
    file = (lab.layout.project / "stacks" / "Pulumi.lab-acme.yaml").read_text()
    (line,) = [line for line in file.splitlines(keepends=True) if "backend: capi-proxmox" in line]
    lab.rewrite("lab-acme", (line, ""))
    assert operation(lab, "move-versions", "lab-acme").code == 0
    lab.up("lab-acme")
    assert lab.get("/apis/cluster.x-k8s.io/v1beta2/namespaces/tenant-acme/machinedeployments")[1]["items"] == []
    assert cluster_of(lab, "acme")["ipv4Config"]["addresses"] == ["10.201.0.200-10.201.0.250"]
    assert moved(lab, before) == []


def test_the_later_guard_is_whole_and_judges_requests_in_both_versions(lab: EngineLab) -> None:
    audited = operation(lab, "audit", "lab")
    assert audited.code == 0, wrong(audited)
    judged = [line for line in audited.output.splitlines() if line.startswith("ok") and "hybrid-zone-machines" in line]
    for version in ("v1alpha1", "v1alpha2"):
        assert any(f"tenant-acme infrastructure.cluster.x-k8s.io/{version}: " in line for line in judged)
