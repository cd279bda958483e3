from __future__ import annotations

from typing import Any

import pytest

from manifests.generations import KINDS, TENANT_KINDS
from manifests.identity import identity, value_keys
from manifests.isolation import guard_policies, policies
from settings.digest import digest
from tests.manifests.examples import environment, of_environment

VALUES = {
    "pve.lab.token": "lab-acme@pve!hybrid=11111111-aaaa",
    "pve.lab.tokenId": "lab-acme@pve!hybrid",
    "pve.lab.tokenSecret": "11111111-aaaa",
    "pve.dc.token": "lab-acme@pve!hybrid=22222222-bbbb",
    "pve.dc.tokenId": "lab-acme@pve!hybrid",
    "pve.dc.tokenSecret": "22222222-bbbb",
    "hcloud.fsn1.token": "h" * 64,
    "hcloud.fsn1.network": "17",
    "hcloud.fsn1.subnet": "17-10.100.1.0/24",
    "serviceaccount.uid": "the-uid",
}
SUBJECTS = [{"kind": "ServiceAccount", "name": "hybrid", "namespace": "tenant-acme"}]


def acme(changes: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    return {item.name: item.body for item in identity(environment(changes), "acme", VALUES)}


def secret_rules(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [rule for rule in rules if rule["resources"] == ["secrets"]]


def test_the_role_holds_what_the_tenants_stack_makes_and_secrets_by_name_and_nothing_else() -> None:
    rules = acme()["Role/tenant-acme/hybrid"]["rules"]
    verbs = ["create", "delete", "get", "list", "patch", "watch"]
    others = [rule for rule in rules if rule not in secret_rules(rules)]
    made = {(rule["apiGroups"][0], plural) for rule in others for plural in rule["resources"]}
    assert made == {(KINDS[kind].group, KINDS[kind].plural) for kind in TENANT_KINDS}
    assert all(rule["verbs"] == verbs for rule in others)
    resources = {plural for rule in rules for plural in rule["resources"]}
    assert resources.isdisjoint({"proxmoxmachines", "inclusterippools", "machines", "pods", "serviceaccounts"})


def test_secrets_are_only_read_and_by_names_that_follow_from_the_tenants_clusters() -> None:
    rules = secret_rules(acme({"tenants.acme.clusters": ["prod", "test"]})["Role/tenant-acme/hybrid"]["rules"])
    assert [(rule.get("resourceNames"), rule["verbs"]) for rule in rules] == [
        (["hybrid-handover"], ["get"]),
        (["prod-kubeconfig", "test-kubeconfig"], ["get", "list", "watch"]),
    ]


def test_a_tenant_without_clusters_reads_only_its_handover() -> None:
    (rule,) = secret_rules(acme({"tenants.acme.clusters": []})["Role/tenant-acme/hybrid"]["rules"])
    assert (rule["resourceNames"], rule["verbs"]) == (["hybrid-handover"], ["get"])


def test_the_cluster_role_names_each_object_that_may_be_read() -> None:
    body = acme()["ClusterRole/hybrid-lab-acme"]
    assert [rule["verbs"] for rule in body["rules"]] == [["get"]] * 3
    assert {rule["resources"][0]: rule["resourceNames"] for rule in body["rules"]} == {
        "proxmoxnetworkzones": ["workers"],
        "validatingadmissionpolicies": sorted(policies("capi-1.10")),
        "validatingadmissionpolicybindings": sorted(
            [*guard_policies("capi-1.10"), "hybrid-pools-workers", "hybrid-zone-machines-workers"]
        ),
    }


def test_a_tenant_without_a_network_may_read_no_zone_instead_of_every_zone() -> None:
    changes = {"zones.workers.networks.acme-lab": None, "zones.workers.networks.acme-dc": None}
    rules = acme(changes)["ClusterRole/hybrid-lab-acme"]["rules"]
    assert all(rule["resourceNames"] for rule in rules)
    assert "proxmoxnetworkzones" not in {rule["resources"][0] for rule in rules}


def test_both_bindings_give_the_roles_to_the_tenants_own_account() -> None:
    found = acme()
    role, cluster_role = found["RoleBinding/tenant-acme/hybrid"], found["ClusterRoleBinding/hybrid-lab-acme"]
    assert role["subjects"] == cluster_role["subjects"] == SUBJECTS
    group = "rbac.authorization.k8s.io"
    assert role["roleRef"] == {"apiGroup": group, "kind": "Role", "name": "hybrid"}
    assert cluster_role["roleRef"] == {"apiGroup": group, "kind": "ClusterRole", "name": "hybrid-lab-acme"}


def test_the_accounts_token_is_filled_by_the_cluster() -> None:
    body = acme()["Secret/tenant-acme/hybrid-token"]
    assert body["type"] == "kubernetes.io/service-account-token"
    assert body["metadata"]["annotations"] == {"kubernetes.io/service-account.name": "hybrid"}
    assert "data" not in body
    assert "stringData" not in body


def test_capmox_gets_the_location_and_both_halves_of_the_token_and_checks_certificates() -> None:
    body = acme()["Secret/tenant-acme/pve-lab"]
    assert body["stringData"] == {
        "url": "https://pve.lab.example:8006",
        "token": "lab-acme@pve!hybrid",
        "secret": "11111111-aaaa",
        "insecure": "false",
    }


def test_a_private_ca_is_passed_on() -> None:
    body = acme({"locations.dc.ca": "-----BEGIN CERTIFICATE-----\n"})["Secret/tenant-acme/pve-dc"]
    assert body["stringData"]["root_ca"] == "-----BEGIN CERTIFICATE-----\n"


def test_the_secret_of_a_location_has_an_owner_that_stays() -> None:
    owner = acme()["Secret/tenant-acme/pve-lab"]["metadata"]["ownerReferences"]
    assert owner == [{"apiVersion": "v1", "kind": "ServiceAccount", "name": "hybrid", "uid": "the-uid"}]


def test_the_handover_holds_the_digest_and_per_location_what_a_stack_needs() -> None:
    body = acme()["Secret/tenant-acme/hybrid-handover"]
    assert body["stringData"] == {
        "digest": digest(environment().environment, "acme"),
        "dc.token": "lab-acme@pve!hybrid=22222222-bbbb",
        "fsn1.token": "h" * 64,
        "fsn1.network": "17",
        "fsn1.subnet": "17-10.100.1.0/24",
        "lab.token": "lab-acme@pve!hybrid=11111111-aaaa",
    }


def test_values_that_are_not_text_yet_go_in_as_they_are() -> None:
    later = object()
    found = identity(environment(), "acme", {**VALUES, "pve.lab.token": later})
    assert found[-1].body["stringData"]["lab.token"] is later


def test_a_tenant_gets_nothing_of_a_location_where_it_is_not_declared() -> None:
    found = of_environment()
    assert "Secret/tenant-globex/pve-dc" not in found
    assert set(found["Secret/tenant-globex/hybrid-handover"].body["stringData"]) == {"digest", "lab.token"}
    assert value_keys(environment(), "globex") == [
        "pve.lab.token",
        "pve.lab.tokenId",
        "pve.lab.tokenSecret",
        "serviceaccount.uid",
    ]
    assert value_keys(environment(), "acme") == sorted(VALUES)


def test_a_value_that_is_missing_is_an_error() -> None:
    values = {key: value for key, value in VALUES.items() if key != "pve.dc.tokenSecret"}
    with pytest.raises(KeyError, match=r"pve\.dc\.tokenSecret"):
        identity(environment(), "acme", values)


def test_the_handover_comes_after_all_that_the_tenants_stack_builds_on() -> None:
    after = set(of_environment()["Secret/tenant-acme/hybrid-handover"].after)
    assert {
        "RoleBinding/tenant-acme/hybrid",
        "Secret/tenant-acme/pve-lab",
        "Secret/tenant-acme/pve-dc",
        "InClusterIPPool/tenant-acme/acme-lab",
        "InClusterIPPool/tenant-acme/acme-dc",
        "ValidatingAdmissionPolicyBinding/hybrid-zone-machines-workers",
        "ValidatingAdmissionPolicyBinding/hybrid-closed-bridges",
        "ValidatingAdmissionPolicyBinding/hybrid-clusters",
    } <= after
    assert not {name for name in after if "globex" in name}
