"""Requests in capmox' older version, sent to a management cluster of the newer generation, are judged too.

A stand-in for capmox' conversion webhook answers the API server; see `lab.conversion`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from lab import conversion
from lab.conversion.convert import PARKED
from tests.manifests.live import UPSTREAM, Api, api_server, until
from tests.manifests.shapes import IPAM, Nic, Shapes, environment_of

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.lab, pytest.mark.shared]
Body = dict[str, Any]
NEWER, OLDER = Shapes("capi-1.12"), Shapes("capi-1.10")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, tools: None) -> Iterator[Api]:  # noqa: ARG001 - built first
    folder = tmp_path_factory.mktemp("older-requests")
    generation = NEWER.generation
    with (
        api_server(folder, UPSTREAM / generation, environment_of(generation), generation) as server,
        conversion.serving(folder, server.cluster.ca) as webhook,
    ):
        conversion.install(server.cluster, webhook)
        until(lambda: server.refusal(older(Nic(vlan=202, pool=""))), bool)
        until(lambda: server.refusal(OLDER.cluster()), bool)
        yield server


def older(*nics: Nic, **spec: Any) -> Body:
    """Give a ProxmoxMachineTemplate in the older version."""
    return OLDER.template(*nics, **spec)


def sentinel_and_range(**spec: Any) -> Body:
    return OLDER.cluster(ipv4Config=NEWER.config(), **spec)


@dataclass(frozen=True)
class Case:
    """What is refused with a part of the message, beside a twin that passes."""

    says: str
    refused: Body
    said: str
    twin: Body


OWN = older(Nic(pool=""))
CASES = [
    Case("another tenant's VLAN", older(Nic(vlan=202, pool="")), "NIC net0 asks for VLAN 202", OWN),
    Case("no VLAN", older(Nic(vlan=None, pool="")), "NIC net0 asks for VLAN none", OWN),
    Case("a pool of the row", older(Nic()), "net0 without a pool", OWN),
    Case("a closed bridge", older(Nic(bridge="vmbr0", pool="")), "not open to tenants", OWN),
    Case("a bridge that smuggles a VLAN", older(Nic(bridge="vmbr1,tag=202", pool="")), "Not the name of a bridge", OWN),
    Case(
        "a second NIC on another tenant's VLAN",
        older(Nic(pool=""), Nic(vlan=202, pool="acme-lab")),
        "NIC net1 asks for VLAN 202",
        older(Nic(pool=""), Nic(vlan=301)),
    ),
    Case(
        "a second NIC with another tenant's pool for IPv6",
        older(Nic(pool=""), Nic(vlan=301, more="globex-inet6")),
        "InClusterIPPool globex-inet6",
        older(Nic(pool=""), Nic(vlan=301)),
    ),
    Case("no network: the webhook's own bridge", older(network={}), "vmbr0", OWN),
    Case("another storage", older(Nic(pool=""), storage="other"), "storage other", OWN),
    Case("the sentinel", OLDER.cluster(), "must be exactly one range", sentinel_and_range()),
    Case(
        "another tenant's credentials",
        sentinel_and_range(credentialsRef={"name": "pve-lab", "namespace": "tenant-globex"}),
        "belongs to another tenant",
        # The webhook drops it: nothing of it reaches capmox.
        sentinel_and_range(cloneSpec={"machineSpec": {"controlPlane": OLDER.machine(Nic(vlan=202))["spec"]}}),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says)
def test_an_older_request_is_refused_and_its_twin_passes(api: Api, case: Case) -> None:
    assert case.refused["apiVersion"].endswith("/v1alpha1")
    assert case.said in api.refusal(case.refused)
    assert api.refusal(case.twin) == ""


def test_an_older_update_of_a_newer_object_is_judged(api: Api) -> None:
    cluster = NEWER.cluster()
    cluster["metadata"]["name"] = "both"
    api.make(cluster)
    view = sentinel_and_range()
    view["metadata"]["name"] = "both"
    assert api.change(view, {"spec": {"dnsServers": ["10.201.0.2"]}}) == ""
    foreign = {"spec": {"ipv4Config": {"addresses": ["10.202.0.20-10.202.0.199"], "gateway": "10.202.0.1"}}}
    assert "must be exactly one range" in api.change(view, foreign)
    assert api.delete(view) == 200


def test_an_older_view_that_hides_a_pool_changes_nothing_of_what_is_judged(api: Api) -> None:
    machine = NEWER.machine(Nic(), Nic(vlan=301, more="acme-dc"), name="hidden")
    api.make(machine)
    view = OLDER.machine(name="hidden")
    shown = api.read(f"/apis/{view['apiVersion']}/namespaces/tenant-acme/proxmoxmachines/hidden")
    assert shown["spec"]["network"]["additionalDevices"][0]["ipv4PoolRef"]["name"] == "acme-dc"
    assert api.change(view, {"metadata": {"labels": {"a": "b"}}}) == ""
    default = {"spec": {"network": {"default": {"vlan": 202}}}}
    assert "hybrid-" in api.change(view, default)
    stored = api.read(f"/apis/{machine['apiVersion']}/namespaces/tenant-acme/proxmoxmachines/hidden")
    assert [ref["name"] for ref in stored["spec"]["network"]["networkDevices"][1]["ipPoolRef"]] == ["acme-dc"] * 2
    assert api.delete(machine) == 200


def test_parked_data_of_ones_own_making_is_judged_as_what_it_becomes(api: Api) -> None:
    body = older(Nic(pool=""), Nic(vlan=301))
    assert api.refusal(body) == ""
    foreign = [{"apiGroup": IPAM, "kind": "InClusterIPPool", "name": name} for name in ("acme-dc", "globex-lab")]
    parked = {"spec": {"network": {"networkDevices": [{"name": "net1", "ipPoolRef": foreign}]}}}
    body["metadata"]["annotations"] = {PARKED: str(parked).replace("'", '"')}
    assert "InClusterIPPool globex-lab" in api.refusal(body)
