from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

import pytest

from manifests.generations import API_VERSIONS, KINDS, require_rendered
from manifests.isolation import policies
from manifests.policies import bridges
from manifests.policies.parts import text
from tests.manifests.examples import environment, of_environment, of_tenant

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Generation

GENERATIONS = pytest.mark.parametrize("generation", ["capi-1.10", "capi-1.12"])
IN_ZONE = ("hybrid-pools", "hybrid-zone-machines")
WITH_TABLE = ("hybrid-machines", "hybrid-pool-names")
ALONE = (
    "hybrid-closed-bridges",
    "hybrid-clusters",
    "hybrid-control-planes",
    "hybrid-references",
    "hybrid-tenant-secrets",
)
POLICIES = (*ALONE, *IN_ZONE, *WITH_TABLE)
POLICY = "ValidatingAdmissionPolicy"
CRD = "CustomResourceDefinition/proxmoxnetworkzones.proxmox.cozystack.io"


def test_the_zone_kind_is_cluster_scoped_without_status_and_keyed_by_vlan() -> None:
    spec = of_environment()[CRD].body["spec"]
    assert spec["scope"] == "Cluster"
    (version,) = spec["versions"]
    assert version["name"] == "v1alpha1"
    assert "subresources" not in version
    zone = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert zone["required"] == ["bridge", "networks"]
    networks = zone["properties"]["networks"]
    assert networks["maxItems"] == 512
    assert networks["x-kubernetes-list-type"] == "map"
    assert networks["x-kubernetes-list-map-keys"] == ["vlan"]
    row = networks["items"]
    assert sorted(row["required"]) == sorted(row["properties"])
    assert (row["properties"]["vlan"]["minimum"], row["properties"]["vlan"]["maximum"]) == (2, 4094)


def of_generation(generation: str) -> dict[str, Manifest]:
    return of_environment({"management.generation": generation})


def policy_specs(generation: str) -> dict[str, dict[str, Any]]:
    found = of_generation(generation).values()
    return {item.body["metadata"]["name"]: item.body["spec"] for item in found if item.kind == POLICY}


@GENERATIONS
def test_each_generation_has_its_policies(generation: str) -> None:
    more = {"hybrid-cluster-ranges"} if generation == "capi-1.12" else set()
    assert set(policy_specs(generation)) == {*POLICIES, *more} == set(policies(cast("Generation", generation)))


@GENERATIONS
def test_every_policy_fails_closed_and_answers_with_a_reason_that_fails_previews(generation: str) -> None:
    for name, spec in policy_specs(generation).items():
        assert spec["failurePolicy"] == "Fail"
        assert spec["matchConstraints"]["matchPolicy"] == "Equivalent"
        (rule,) = spec["matchConstraints"]["resourceRules"]
        assert rule["operations"] == ["CREATE", "UPDATE"], name
        assert {item["reason"] for item in spec["validations"]} == {"Invalid"}
        assert all(item["message"] for item in spec["validations"])


@pytest.mark.parametrize(
    ("generation", "infrastructure", "control_plane"),
    [("capi-1.10", "v1alpha1", "v1alpha1"), ("capi-1.12", "v1alpha2", "v1alpha2")],
)
def test_policies_judge_the_versions_that_the_generation_stores(
    generation: str, infrastructure: str, control_plane: str
) -> None:
    specs = policy_specs(generation)
    seen = {
        name: (rule["apiGroups"], rule["apiVersions"], rule["resources"])
        for name, spec in specs.items()
        for rule in spec["matchConstraints"]["resourceRules"]
    }
    group = ["infrastructure.cluster.x-k8s.io"]
    machines = (group, [infrastructure], ["proxmoxmachines", "proxmoxmachinetemplates"])
    clusters = (group, [infrastructure], ["proxmoxclusters", "proxmoxclustertemplates"])
    pools = (["ipam.cluster.x-k8s.io"], ["v1alpha2"], ["inclusterippools"])
    assert seen["hybrid-zone-machines"] == seen["hybrid-closed-bridges"] == seen["hybrid-machines"] == machines
    assert seen["hybrid-clusters"] == seen.get("hybrid-cluster-ranges", clusters) == clusters
    assert seen["hybrid-pools"] == seen["hybrid-pool-names"] == pools
    group = ["controlplane.cluster.x-k8s.io"]
    planes = ["kamajicontrolplanes", "kamajicontrolplanes/scale"]
    assert seen["hybrid-control-planes"] == (group, [control_plane], planes)
    core = ["v1beta1" if generation == "capi-1.10" else "v1beta2"]
    kinds = ["clusters", "machines", "machinedeployments", "machinehealthchecks", "machinesets", "machinepools"]
    assert seen["hybrid-references"] == (["cluster.x-k8s.io"], core, kinds)
    assert seen["hybrid-tenant-secrets"] == ([""], ["v1"], ["secrets"])


@GENERATIONS
def test_only_the_policies_on_a_table_take_a_parameter(generation: str) -> None:
    kinds = {name: spec["paramKind"]["kind"] for name, spec in policy_specs(generation).items() if "paramKind" in spec}
    more = ("hybrid-cluster-ranges",) if generation == "capi-1.12" else ()
    assert kinds == {
        **dict.fromkeys(IN_ZONE, "ProxmoxNetworkZone"),
        **dict.fromkeys((*WITH_TABLE, *more), "ProxmoxNetworkTable"),
    }


def test_policies_use_no_library_that_only_kubernetes_has() -> None:
    only_kubernetes = re.compile(r"\b(cidr|ip|isIP|url|quantity|semver|format|authorizer|find|isSorted|sum|indexOf)\(")
    for generation in ("capi-1.10", "capi-1.12"):
        for name, spec in policy_specs(generation).items():
            assert not only_kubernetes.findall(str(spec)), name


@GENERATIONS
def test_every_policy_is_bound_and_denies_without_its_parameter(generation: str) -> None:
    found = of_generation(generation)
    bindings = {
        item.body["metadata"]["name"]: item.body["spec"]
        for item in found.values()
        if item.kind == "ValidatingAdmissionPolicyBinding"
    }
    deny = ["Deny", "Audit"]
    expected = {}
    for name, spec in policy_specs(generation).items():
        kind = spec.get("paramKind", {}).get("kind")
        bound: dict[str, Any] = {"policyName": name, "validationActions": deny}
        if kind:
            parameter = "workers" if kind == "ProxmoxNetworkZone" else "all"
            bound["paramRef"] = {"name": parameter, "parameterNotFoundAction": "Deny"}
        expected[f"{name}-workers" if kind == "ProxmoxNetworkZone" else name] = bound
    assert bindings == expected


def test_the_table_holds_every_row_and_what_each_namespace_was_given() -> None:
    found = of_environment()
    table = found["ProxmoxNetworkTable/all"].body["spec"]
    assert [row["name"] for row in table["networks"]] == ["acme-dc", "acme-lab", "globex-lab"]
    assert table["networks"][1] == {
        "name": "acme-lab",
        "namespace": "tenant-acme",
        "bridge": "vmbr1",
        "vlan": 201,
        "addresses": ["10.201.0.20-10.201.0.199"],
        "gateway": "10.201.0.1",
        "prefix": 24,
    }
    places = {(place["namespace"], place["location"]): place for place in table["places"]}
    assert set(places) == {("tenant-acme", "dc"), ("tenant-acme", "lab"), ("tenant-globex", "lab")}
    assert places["tenant-acme", "dc"] == {
        "namespace": "tenant-acme",
        "location": "dc",
        "pool": "lab-acme",
        "storage": "tank",
        "tags": ["talos", "v1.13.6"],
        "templateId": 9000,
        "templateNode": "dc1",
    }


def test_the_newer_generation_has_no_pools_of_rows() -> None:
    kinds = {item.kind for item in of_generation("capi-1.12").values()}
    assert "ProxmoxNetworkZone" in kinds
    assert "InClusterIPPool" not in kinds


def _actions(found: dict[str, Manifest], name: str) -> object:
    return found[f"ValidatingAdmissionPolicyBinding/{name}"].body["spec"]["validationActions"]


def test_audit_of_a_zone_loosens_only_that_zones_bindings() -> None:
    found = of_environment({"zones.workers.mode": "audit"})
    assert _actions(found, "hybrid-zone-machines-workers") == ["Audit", "Warn"]
    assert _actions(found, "hybrid-pools-workers") == ["Audit", "Warn"]
    assert _actions(found, "hybrid-closed-bridges") == ["Deny", "Audit"]


def test_audit_of_the_guard_loosens_only_the_policies_without_a_zone() -> None:
    found = of_environment({"management.guard": "audit"})
    for name in {*ALONE, *WITH_TABLE} - {"hybrid-tenant-secrets"}:
        assert _actions(found, name) == ["Audit", "Warn"], name
    # What a tenant's identity writes as a Secret could be executed: it is refused in any mode.
    assert _actions(found, "hybrid-tenant-secrets") == ["Deny", "Audit"]
    assert _actions(found, "hybrid-zone-machines-workers") == ["Deny", "Audit"]


def test_definition_zone_pools_and_policies_come_before_the_bindings() -> None:
    found = of_environment()
    assert found["ProxmoxNetworkZone/workers"].after == (CRD,)
    assert found["ValidatingAdmissionPolicy/hybrid-zone-machines"].after == (CRD,)
    after = set(found["ValidatingAdmissionPolicyBinding/hybrid-zone-machines-workers"].after)
    pools = {name for name in found if name.startswith("InClusterIPPool/")}
    assert len(pools) == 3
    assert after == {"ValidatingAdmissionPolicy/hybrid-zone-machines", "ProxmoxNetworkZone/workers", *pools}


def test_a_new_zones_bridge_is_opened_only_when_its_table_is_enforced_and_after_every_other_policy() -> None:
    found = of_environment()
    last = "ValidatingAdmissionPolicy/hybrid-closed-bridges"
    assert set(found[last].after) == {
        "ValidatingAdmissionPolicyBinding/hybrid-zone-machines-workers",
        "ValidatingAdmissionPolicyBinding/hybrid-pools-workers",
        *(name for name in found if name.startswith("ValidatingAdmissionPolicy/") and name != last),
    }


def test_a_bridge_is_closed_unless_a_zone_has_it_or_it_is_declared_open() -> None:
    settings = environment({"management.openBridges": ["vmbr9", "vmbr2"]})
    assert bridges.bridges_of(settings.environment) == ["vmbr1", "vmbr2", "vmbr9"]


def test_what_could_end_a_string_in_an_expression_is_refused() -> None:
    assert text("tenant-acme") == "'tenant-acme'"
    for bad in ("a'b", "a\\b", "a\nb", "ä"):
        with pytest.raises(ValueError, match="expression"):
            text(bad)


def test_each_kind_has_its_versions_of_all_generations_for_aliases() -> None:
    assert API_VERSIONS["Cluster"] == ("cluster.x-k8s.io/v1beta1", "cluster.x-k8s.io/v1beta2")
    assert API_VERSIONS["ProxmoxMachineTemplate"] == (
        "infrastructure.cluster.x-k8s.io/v1alpha1",
        "infrastructure.cluster.x-k8s.io/v1alpha2",
    )
    assert API_VERSIONS["TalosConfigTemplate"] == ("bootstrap.cluster.x-k8s.io/v1alpha3",)
    assert set(API_VERSIONS) == set(KINDS)


def test_pools_of_a_generation_that_is_not_rendered_are_an_error_not_a_guess() -> None:
    require_rendered("capi-1.10")
    with pytest.raises(ValueError, match=r"capi-1\.12"):
        require_rendered("capi-1.12")
    with pytest.raises(ValueError, match=r"capi-1\.12"):
        of_tenant("acme", around={"management.generation": "capi-1.12"})
