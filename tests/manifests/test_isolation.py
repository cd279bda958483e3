from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from manifests.generations import API_VERSIONS, KINDS, require_rendered
from manifests.policies import bridges
from manifests.policies.parts import text
from tests.manifests.examples import environment, of_environment

if TYPE_CHECKING:
    from manifests.manifest import Manifest

POLICIES = ("hybrid-closed-bridges", "hybrid-clusters", "hybrid-pools", "hybrid-zone-machines")
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


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_fails_closed_judges_creations_and_updates_and_answers_with_a_reason_that_fails_previews(
    name: str,
) -> None:
    spec = of_environment()[f"ValidatingAdmissionPolicy/{name}"].body["spec"]
    assert spec["failurePolicy"] == "Fail"
    assert spec["matchConstraints"]["matchPolicy"] == "Equivalent"
    (rule,) = spec["matchConstraints"]["resourceRules"]
    assert rule["operations"] == ["CREATE", "UPDATE"]
    assert {item["reason"] for item in spec["validations"]} == {"Invalid"}
    assert all(item["message"] for item in spec["validations"])


def test_policies_judge_the_versions_that_the_generation_serves() -> None:
    found = of_environment()
    rules = {
        name: found[f"ValidatingAdmissionPolicy/{name}"].body["spec"]["matchConstraints"]["resourceRules"][0]
        for name in POLICIES
    }
    infrastructure = "infrastructure.cluster.x-k8s.io"
    machines = ["proxmoxmachines", "proxmoxmachinetemplates"]
    for name in ("hybrid-zone-machines", "hybrid-closed-bridges"):
        assert rules[name]["apiGroups"] == [infrastructure]
        assert rules[name]["apiVersions"] == ["v1alpha1"]
        assert rules[name]["resources"] == machines
    assert rules["hybrid-clusters"]["resources"] == ["proxmoxclusters", "proxmoxclustertemplates"]
    assert rules["hybrid-pools"]["apiGroups"] == ["ipam.cluster.x-k8s.io"]
    assert rules["hybrid-pools"]["apiVersions"] == ["v1alpha2"]


def test_only_the_policies_on_a_zones_table_take_a_parameter() -> None:
    found = of_environment()
    with_parameter = {
        name for name in POLICIES if "paramKind" in found[f"ValidatingAdmissionPolicy/{name}"].body["spec"]
    }
    assert with_parameter == {"hybrid-pools", "hybrid-zone-machines"}


def test_every_policy_is_bound_and_a_zones_bindings_deny_without_their_table() -> None:
    found = of_environment()
    bindings = {
        item.body["metadata"]["name"]: item.body["spec"]
        for item in found.values()
        if item.kind == "ValidatingAdmissionPolicyBinding"
    }
    deny = ["Deny", "Audit"]
    table = {"name": "workers", "parameterNotFoundAction": "Deny"}
    assert bindings == {
        "hybrid-closed-bridges": {"policyName": "hybrid-closed-bridges", "validationActions": deny},
        "hybrid-clusters": {"policyName": "hybrid-clusters", "validationActions": deny},
        "hybrid-pools-workers": {"policyName": "hybrid-pools", "validationActions": deny, "paramRef": table},
        "hybrid-zone-machines-workers": {
            "policyName": "hybrid-zone-machines",
            "validationActions": deny,
            "paramRef": table,
        },
    }


def _actions(found: dict[str, Manifest], name: str) -> object:
    return found[f"ValidatingAdmissionPolicyBinding/{name}"].body["spec"]["validationActions"]


def test_audit_of_a_zone_loosens_only_that_zones_bindings() -> None:
    found = of_environment({"zones.workers.mode": "audit"})
    assert _actions(found, "hybrid-zone-machines-workers") == ["Audit", "Warn"]
    assert _actions(found, "hybrid-pools-workers") == ["Audit", "Warn"]
    assert _actions(found, "hybrid-closed-bridges") == ["Deny", "Audit"]


def test_audit_of_the_guard_loosens_only_the_policies_without_a_zone() -> None:
    found = of_environment({"management.guard": "audit"})
    assert _actions(found, "hybrid-clusters") == ["Audit", "Warn"]
    assert _actions(found, "hybrid-closed-bridges") == ["Audit", "Warn"]
    assert _actions(found, "hybrid-zone-machines-workers") == ["Deny", "Audit"]


def test_definition_zone_pools_and_policies_come_before_the_bindings() -> None:
    found = of_environment()
    assert found["ProxmoxNetworkZone/workers"].after == (CRD,)
    assert found["ValidatingAdmissionPolicy/hybrid-zone-machines"].after == (CRD,)
    after = set(found["ValidatingAdmissionPolicyBinding/hybrid-zone-machines-workers"].after)
    pools = {name for name in found if name.startswith("InClusterIPPool/")}
    assert len(pools) == 3
    assert after == {"ValidatingAdmissionPolicy/hybrid-zone-machines", "ProxmoxNetworkZone/workers", *pools}


def test_a_new_zones_bridge_is_opened_only_when_its_table_is_enforced() -> None:
    found = of_environment()
    assert set(found["ValidatingAdmissionPolicy/hybrid-closed-bridges"].after) == {
        "ValidatingAdmissionPolicyBinding/hybrid-zone-machines-workers",
        "ValidatingAdmissionPolicyBinding/hybrid-pools-workers",
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


def test_a_generation_that_is_not_rendered_is_an_error_not_a_guess() -> None:
    require_rendered("capi-1.10")
    with pytest.raises(ValueError, match=r"capi-1\.12"):
        require_rendered("capi-1.12")
    with pytest.raises(ValueError, match=r"capi-1\.12"):
        of_environment({"management.generation": "capi-1.12"})
