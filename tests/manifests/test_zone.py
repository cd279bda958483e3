from __future__ import annotations

import json

import pytest

from manifests.generations import GENERATIONS
from manifests.zone import zone
from tests.manifests.examples import environment, of_environment, of_tenant

GLOBEX_ROW = {
    "name": "globex-lab",
    "namespace": "tenant-globex",
    "vlan": 202,
    "pool": "globex-lab",
    "addresses": ["10.202.0.20-10.202.0.199"],
    "gateway": "10.202.0.1",
    "prefix": 24,
}


def test_a_zone_holds_its_rows_by_vlan() -> None:
    body = of_environment()["ProxmoxNetworkZone/workers"].body
    assert body["apiVersion"] == "proxmox.cozystack.io/v1alpha1"
    assert body["spec"]["bridge"] == "vmbr1"
    assert [row["vlan"] for row in body["spec"]["networks"]] == [201, 202, 301]
    assert body["spec"]["networks"][1] == GLOBEX_ROW


def test_each_row_has_its_pool_in_the_namespace_of_its_tenant() -> None:
    found = of_environment()
    pools = {name: item.body for name, item in found.items() if item.kind == "InClusterIPPool"}
    assert set(pools) == {
        "InClusterIPPool/tenant-acme/acme-dc",
        "InClusterIPPool/tenant-acme/acme-lab",
        "InClusterIPPool/tenant-globex/globex-lab",
    }
    body = pools["InClusterIPPool/tenant-globex/globex-lab"]
    assert body["apiVersion"] == "ipam.cluster.x-k8s.io/v1alpha2"
    assert body["spec"] == {"addresses": ["10.202.0.20-10.202.0.199"], "gateway": "10.202.0.1", "prefix": 24}
    assert "annotations" not in body["metadata"]  # above all none that lets a pool in use be deleted


def test_a_row_with_several_ranges_keeps_their_order_in_zone_and_pool() -> None:
    ranges = ["10.202.0.100-10.202.0.109", "10.202.0.20-10.202.0.29"]
    found = of_environment({"zones.workers.networks.globex-lab.range": ranges})
    assert found["InClusterIPPool/tenant-globex/globex-lab"].body["spec"]["addresses"] == ranges
    assert found["ProxmoxNetworkZone/workers"].body["spec"]["networks"][1]["addresses"] == ranges


def test_a_pool_comes_after_the_zone_that_its_policy_compares_it_with() -> None:
    found = of_environment()
    assert found["InClusterIPPool/tenant-acme/acme-lab"].after == (
        "ProxmoxNetworkZone/workers",
        "ProxmoxNetworkTable/all",
    )


def test_a_zone_without_rows_is_still_whole() -> None:
    found = zone(environment({"zones.workers.networks": {}}).environment, "workers")
    assert [item.kind for item in found] == ["ProxmoxNetworkZone", *["ValidatingAdmissionPolicyBinding"] * 2]
    assert found[0].body["spec"]["networks"] == []


def test_a_zone_knows_only_its_own_rows() -> None:
    other = {"bridge": "vmbr2", "locations": ["lab"], "networks": {}}
    found = of_environment({"zones.storage": other})
    assert found["ProxmoxNetworkZone/storage"].body["spec"] == {"bridge": "vmbr2", "networks": []}
    assert len(found["ProxmoxNetworkZone/workers"].body["spec"]["networks"]) == 3
    binding = found["ValidatingAdmissionPolicyBinding/hybrid-zone-machines-storage"].body["spec"]
    assert binding["paramRef"]["name"] == "storage"


def test_removing_a_row_changes_its_zone_and_pool_and_what_its_tenant_is_handed_and_nothing_else() -> None:
    before, after = of_environment(), of_environment({"zones.workers.networks.acme-dc": None})
    assert set(before) - set(after) == {"InClusterIPPool/tenant-acme/acme-dc"}
    changed = {name for name in after if before[name].body != after[name].body}
    assert changed == {"ProxmoxNetworkTable/all", "ProxmoxNetworkZone/workers", "Secret/tenant-acme/hybrid-handover"}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_nothing_that_is_rendered_switches_off_a_providers_webhook(generation: str) -> None:
    # With ipam.cluster.x-k8s.io/skip-validate-delete-webhook a pool could go while its addresses are leased.
    rendered = [*of_environment({"management.generation": generation}).values(), *of_tenant("acme").values()]
    kinds = {item.kind for item in rendered}
    assert {"ProxmoxNetworkZone", "MachineDeployment"} <= kinds
    assert ("InClusterIPPool" in kinds) == (generation == "capi-1.10")
    for item in rendered:
        assert "skip-validate" not in json.dumps(item.body), item.name
