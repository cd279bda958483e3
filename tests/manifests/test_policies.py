"""The policies' expressions, evaluated without an API server, over the cases that a tenant could try."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from tests.manifests.examples import of_environment, of_tenant, only

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.manifests.conftest import Evaluator

Body = dict[str, Any]
ENVIRONMENT = of_environment({"management.openBridges": ["vmbr9"]})
ACME = of_tenant("acme")
TABLE = ENVIRONMENT["ProxmoxNetworkZone/workers"].body
TEMPLATE = only(ACME, "ProxmoxMachineTemplate")
CLUSTER = only(ACME, "ProxmoxCluster")
POOL = ENVIRONMENT["InClusterIPPool/tenant-acme/acme-lab"].body

MACHINES, BRIDGES, CLUSTERS, POOLS = (
    "hybrid-zone-machines",
    "hybrid-closed-bridges",
    "hybrid-clusters",
    "hybrid-pools",
)


def ref(name: str, kind: str = "InClusterIPPool", group: str = "ipam.cluster.x-k8s.io") -> dict[str, str]:
    return {"apiGroup": group, "kind": kind, "name": name}


def nic(**parts: Any) -> dict[str, Any]:
    own = {"bridge": "vmbr1", "vlan": 201, "model": "virtio", "ipv4PoolRef": ref("acme-lab")}
    return {key: value for key, value in {**own, **parts}.items() if value is not None}


def template(network: Body | None = None) -> Body:
    body = copy.deepcopy(TEMPLATE)
    spec = body["spec"]["template"]["spec"]
    if network is None:
        del spec["network"]
    else:
        spec["network"] = network
    return body


def machine(network: Body | None = None) -> Body:
    """Give a ProxmoxMachine as Cluster API clones it from the template."""
    cloned = template(network)
    return {**cloned, "kind": "ProxmoxMachine", "spec": cloned["spec"]["template"]["spec"]}


def default(**parts: Any) -> Body:
    return {"default": nic(**parts)}


def second(**parts: Any) -> Body:
    return {"default": nic(), "additionalDevices": [{"name": "net1", **nic(**parts)}]}


def cluster(kind: str = "ProxmoxCluster", **changes: Any) -> Body:
    body = copy.deepcopy(CLUSTER)
    body["spec"] = {key: value for key, value in {**body["spec"], **changes}.items() if value is not None}
    if kind == "ProxmoxClusterTemplate":
        return {**body, "kind": kind, "spec": {"template": {"spec": body["spec"]}}}
    return body


def judged(  # noqa: PLR0913 - what an admission request has
    evaluator: Evaluator,
    policy: str,
    body: Body,
    namespace: str = "tenant-acme",
    *,
    old: Body | None = None,
    params: Body | None = TABLE,
    dry_run: bool = False,
) -> list[str]:
    """Give the messages of a policy's refusals; all must carry the reason that fails a preview."""
    spec = ENVIRONMENT[f"ValidatingAdmissionPolicy/{policy}"].body["spec"]
    request = {"namespace": namespace, "dryRun": dry_run}
    answer = evaluator.ask(policy=spec, object=body, oldObject=old, request=request, params=params)
    assert {item["reason"] for item in answer["refusals"]} <= {"Invalid", "error"}
    return [item["message"] for item in answer["refusals"]]


KINDS = pytest.mark.parametrize("shape", [template, machine])


@KINDS
@pytest.mark.parametrize(
    "network",
    [
        default(),
        default(mtu=1396),
        default(vlan=301, ipv4PoolRef=ref("acme-dc")),
        default(ipv6PoolRef=ref("acme-lab")),
        second(vlan=301, ipv4PoolRef=ref("acme-dc")),
        default(bridge="vmbr9", vlan=7, ipv4PoolRef=None),
    ],
)
def test_the_tenants_own_networks_pass(
    evaluator: Evaluator, shape: Callable[[Body | None], Body], network: Body
) -> None:
    assert judged(evaluator, MACHINES, shape(network)) == []
    assert judged(evaluator, BRIDGES, shape(network)) == []


@KINDS
@pytest.mark.parametrize(
    ("network", "said"),
    [
        (default(vlan=202), "NIC net0 asks for VLAN 202 with address pool InClusterIPPool acme-lab"),
        (default(vlan=None), "NIC net0 asks for VLAN none"),
        (default(ipv4PoolRef=None), "with address pool none"),
        (default(ipv4PoolRef=ref("globex-lab")), "InClusterIPPool globex-lab"),
        (default(ipv4PoolRef=ref("acme-lab", kind="GlobalInClusterIPPool")), "GlobalInClusterIPPool acme-lab"),
        (default(ipv4PoolRef=ref("acme-lab", group="other.example")), "NIC net0"),
        (default(ipv4PoolRef=None, ipv6PoolRef=ref("acme-lab")), "NIC net0"),
        (default(ipv6PoolRef=ref("globex-lab")), "InClusterIPPool acme-lab and InClusterIPPool globex-lab"),
        (default(vlan=301), "NIC net0 asks for VLAN 301 with address pool InClusterIPPool acme-lab"),
        (second(vlan=202), "NIC net1 asks for VLAN 202"),
        (second(vlan=None), "NIC net1 asks for VLAN none"),
    ],
)
def test_any_other_network_on_a_zones_bridge_is_refused_by_name(
    evaluator: Evaluator, shape: Callable[[Body | None], Body], network: Body, said: str
) -> None:
    (message,) = judged(evaluator, MACHINES, shape(network))
    assert message.startswith("Namespace tenant-acme, bridge vmbr1: ")
    assert said in message
    assert message.endswith(
        "allowed there: VLAN 201 with InClusterIPPool acme-lab, VLAN 301 with InClusterIPPool acme-dc"
    )


def test_a_machine_without_a_network_is_refused(evaluator: Evaluator) -> None:
    (message,) = judged(evaluator, MACHINES, template(None))
    assert "spec.network.default must be set" in message
    (message,) = judged(evaluator, BRIDGES, template(None))
    assert "spec.network.default must be set" in message
    for policy in (MACHINES, BRIDGES):  # the platform's own machines are not asked
        assert judged(evaluator, policy, template(None), "platform") == []


def test_a_nic_without_a_bridge_is_refused(evaluator: Evaluator) -> None:
    assert judged(evaluator, MACHINES, template(default(bridge=None))) == ["Every NIC must name its bridge."]
    assert judged(evaluator, BRIDGES, template(default(bridge=None)))


@pytest.mark.parametrize("namespace", ["tenant-globex", "tenant-new", "kube-system"])
def test_a_namespace_gets_only_its_own_rows(evaluator: Evaluator, namespace: str) -> None:
    (message,) = judged(evaluator, MACHINES, template(default()), namespace)
    allowed = "VLAN 202 with InClusterIPPool globex-lab" if namespace == "tenant-globex" else "none"
    assert message.endswith(f"allowed there: {allowed}")


def test_a_zone_without_its_table_refuses(evaluator: Evaluator) -> None:
    assert judged(evaluator, MACHINES, template(default()), params=None)
    assert judged(evaluator, POOLS, POOL, params=None)


def test_two_wrong_nics_are_both_named(evaluator: Evaluator) -> None:
    (message,) = judged(evaluator, MACHINES, template({**second(vlan=209), "default": nic(vlan=208)}))
    assert "NIC net0 asks for VLAN 208" in message
    assert "; NIC net1 asks for VLAN 209" in message


def test_what_an_update_leaves_as_it_was_is_not_judged_again(evaluator: Evaluator) -> None:
    foreign, touched = machine(default(vlan=202)), machine(default(vlan=202))
    touched["metadata"] = {**touched["metadata"], "finalizers": ["x"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    touched["spec"]["virtualMachineID"] = 2000
    for policy in (MACHINES, BRIDGES):
        assert judged(evaluator, policy, touched, old=foreign) == []
    assert judged(evaluator, BRIDGES, machine(None), old=machine(None)) == []


def test_an_update_to_a_foreign_network_is_refused(evaluator: Evaluator) -> None:
    assert judged(evaluator, MACHINES, machine(default(vlan=202)), old=machine(default()))
    assert judged(evaluator, MACHINES, machine(None), old=machine(default()))
    assert judged(evaluator, MACHINES, machine(second(vlan=202)), old=machine(default()))
    assert judged(evaluator, BRIDGES, machine(default(bridge="vmbr0")), old=machine(default()))


def test_an_update_back_to_the_own_network_passes(evaluator: Evaluator) -> None:
    assert judged(evaluator, MACHINES, machine(default()), old=machine(default(vlan=202))) == []


def test_a_bridge_that_no_zone_has_is_closed_to_tenants_and_no_business_of_a_zone(evaluator: Evaluator) -> None:
    body = template(second(bridge="vmbr0"))
    assert judged(evaluator, MACHINES, body) == []
    assert judged(evaluator, BRIDGES, body) == [
        'Namespace tenant-acme: NIC net1 ("vmbr0") is on a bridge that is not open to tenants; allowed: vmbr1, vmbr9'
    ]


OPEN = "names no VLAN that is open on its bridge (without one it would be on all of them); open: "


@pytest.mark.parametrize("vlan", [None, 299, 301, 309, 320])
def test_a_nic_on_an_open_bridge_names_one_of_its_open_vlans(evaluator: Evaluator, vlan: int | None) -> None:
    limits = {"management.openBridges": ["vmbr9"], "management.openVlans": {"vmbr9": [300, "310-319"]}}
    limited = of_environment(limits)[f"ValidatingAdmissionPolicy/{BRIDGES}"].body["spec"]

    def asked(vlan: int | None, namespace: str = "tenant-acme") -> list[str]:
        body = template(default(bridge="vmbr9", vlan=vlan))
        asking = {"policy": limited, "object": body, "oldObject": None, "request": {"namespace": namespace}}
        return [item["message"] for item in evaluator.ask(**asking)["refusals"]]

    assert asked(vlan) == [f'Namespace tenant-acme: NIC net0 ("vmbr9") {OPEN}vmbr9 with VLAN 300, 310-319']
    for right in (300, 310, 319):
        assert asked(right) == []
    assert asked(vlan, "platform") == []


def test_a_nic_on_a_bridge_that_is_open_with_all_vlans_names_one(evaluator: Evaluator) -> None:
    untagged = template(default(bridge="vmbr9", vlan=None))
    assert judged(evaluator, BRIDGES, untagged) == [
        f'Namespace tenant-acme: NIC net0 ("vmbr9") {OPEN}vmbr9 with VLAN 1-4094'
    ]
    assert judged(evaluator, BRIDGES, template(default(bridge="vmbr9", vlan=4094))) == []
    assert judged(evaluator, BRIDGES, untagged, "platform") == []


@pytest.mark.parametrize("namespace", ["tenant-acme", "platform"])
def test_a_vlan_of_a_zones_bridge_is_no_bridge_of_its_own(evaluator: Evaluator, namespace: str) -> None:
    for bridge in ("vmbr1v202", "vmbr1.202", "vmbr1v1"):
        (message,) = judged(evaluator, MACHINES, template(default(bridge=bridge)), namespace)
        assert message.startswith(f'Namespace {namespace}: NIC net0 ("{bridge}") names a VLAN of vmbr1 as if it were a')
    for bridge in ("vmbr1v", "vmbr1vx", "vmbr1v2x", "vmbr10", "vmbr10v2", "xvmbr1v2", "vmbr1_202"):
        assert judged(evaluator, MACHINES, template(default(bridge=bridge)), namespace) == []


def test_other_namespaces_may_use_bridges_of_their_own(evaluator: Evaluator) -> None:
    assert judged(evaluator, BRIDGES, template(default(bridge="vmbr0")), "platform") == []


@pytest.mark.parametrize("bridge", ["vmbr1,tag=202", "vmbr1 ", "", "vmbr1;x", "-vmbr1", "vmbr1\n", "a" * 16])
@pytest.mark.parametrize("namespace", ["tenant-acme", "platform"])
def test_a_bridge_that_is_more_than_a_name_is_refused_to_everyone(
    evaluator: Evaluator, bridge: str, namespace: str
) -> None:
    messages = judged(evaluator, BRIDGES, template(default(bridge=bridge)), namespace)
    assert messages[0] == f'Not the name of a bridge: NIC net0 ("{bridge}")'


@pytest.mark.parametrize("name", ["net32", "args", "net1,x", "net01", ""])
def test_a_device_that_is_no_nic_of_proxmox_is_refused_to_everyone(evaluator: Evaluator, name: str) -> None:
    body = template({"default": nic(), "additionalDevices": [{"name": name, **nic()}]})
    assert "An additional NIC is not named net1 to net31." in judged(evaluator, BRIDGES, body, "platform")


CLUSTER_KINDS = pytest.mark.parametrize("kind", ["ProxmoxCluster", "ProxmoxClusterTemplate"])


def addresses(*given: str, gateway: str | None = "10.201.0.1") -> Body:
    config = {"addresses": list(given), "gateway": gateway, "prefix": 24, "metric": 100}
    return {key: value for key, value in config.items() if value is not None}


@CLUSTER_KINDS
def test_the_sentinel_with_the_own_credentials_passes(evaluator: Evaluator, kind: str) -> None:
    assert judged(evaluator, CLUSTERS, cluster(kind)) == []
    assert judged(evaluator, CLUSTERS, cluster(kind, credentialsRef={"name": "pve-dc"})) == []
    other_zone = addresses("10.9.0.1", gateway="10.9.0.1")
    assert judged(evaluator, CLUSTERS, cluster(kind, ipv4Config=other_zone)) == []


@CLUSTER_KINDS
@pytest.mark.parametrize(
    "changes",
    [
        {"ipv4Config": addresses("10.201.0.0/24")},
        {"ipv4Config": addresses("10.201.0.1-10.201.0.1")},
        {"ipv4Config": addresses("10.201.0.1", "10.201.0.2")},
        {"ipv4Config": addresses("10.201.0.2")},
        {"ipv4Config": addresses("10.201.0.1", gateway=None)},
        {"ipv4Config": addresses("", gateway="")},
        {"ipv4Config": None},
        {"ipv6Config": addresses("fd00::/64", gateway="fd00::1")},
    ],
)
def test_a_range_of_its_own_is_refused(evaluator: Evaluator, kind: str, changes: Body) -> None:
    (message,) = judged(evaluator, CLUSTERS, cluster(kind, **changes))
    assert message.startswith("ipv4Config.addresses must hold the gateway and nothing else")
    elsewhere = cluster(kind, **changes, credentialsRef={"name": "anything"})
    assert judged(evaluator, CLUSTERS, elsewhere, "platform") == []


@CLUSTER_KINDS
@pytest.mark.parametrize(
    "changes", [{"cloneSpec": {"machineSpec": {"controlPlane": {}}}}, {"zoneConfig": [{"zone": "a"}]}]
)
def test_parts_that_nobody_judges_are_closed_to_tenants(evaluator: Evaluator, kind: str, changes: Body) -> None:
    body = cluster(kind, credentialsRef={"name": "pve-lab"}, **changes)
    (message,) = judged(evaluator, CLUSTERS, body)
    assert message.startswith("cloneSpec and zoneConfig are closed")
    assert judged(evaluator, CLUSTERS, body, "platform") == []


@CLUSTER_KINDS
@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (None, "credentialsRef is missing; allowed in namespace tenant-acme: pve-dc, pve-lab"),
        ({"name": "mine"}, "credentialsRef names Secret tenant-acme/mine; allowed"),
        ({"name": "pve-lab", "namespace": "tenant-globex"}, "belongs to another tenant"),
        ({"name": "pve-lab", "namespace": "platform"}, "Secret platform/pve-lab; allowed"),
    ],
)
def test_credentials_that_are_not_the_tenants_own_are_refused(
    evaluator: Evaluator, kind: str, reference: Body | None, said: str
) -> None:
    messages = judged(evaluator, CLUSTERS, cluster(kind, credentialsRef=reference))
    assert said in messages[0]


def test_nobody_else_may_use_a_tenants_credentials(evaluator: Evaluator) -> None:
    assert judged(evaluator, CLUSTERS, cluster(), "platform") == [
        "credentialsRef names Secret tenant-acme/pve-lab; that namespace belongs to another tenant"
    ]
    own = cluster(credentialsRef={"name": "anything", "namespace": "platform"})
    assert judged(evaluator, CLUSTERS, own, "platform") == []


def test_a_clusters_unchanged_parts_are_not_judged_again(evaluator: Evaluator) -> None:
    wrong = cluster(
        ipv4Config=addresses("10.201.0.0/24"), cloneSpec={"machineSpec": {}}, credentialsRef={"name": "other"}
    )
    touched = {**wrong, "metadata": {**wrong["metadata"], "finalizers": ["x"]}}
    assert judged(evaluator, CLUSTERS, touched, old=wrong) == []
    worse = cluster(
        ipv4Config=addresses("10.202.0.0/24"), cloneSpec={"machineSpec": {}}, credentialsRef={"name": "other"}
    )
    assert len(judged(evaluator, CLUSTERS, worse, old=wrong)) == 1


def pool(**changes: Any) -> Body:
    body = copy.deepcopy(POOL)
    body["spec"] = {key: value for key, value in {**body["spec"], **changes}.items() if value is not None}
    return body


def test_a_rows_pool_is_the_row(evaluator: Evaluator) -> None:
    assert judged(evaluator, POOLS, pool()) == []
    for changes in (
        {"addresses": ["10.202.0.20-10.202.0.199"]},
        {"addresses": None},
        {"gateway": "10.201.0.2"},
        {"gateway": None},
        {"prefix": 16},
        {"allocateReservedIPAddresses": True},
        {"excludedAddresses": ["10.201.0.30"]},
    ):
        (message,) = judged(evaluator, POOLS, pool(**changes))
        assert message == (
            "Namespace tenant-acme: pool acme-lab must have addresses 10.201.0.20-10.201.0.199,"
            " gateway 10.201.0.1, prefix 24 and nothing else"
        )


def test_pools_that_are_no_rows_are_no_business_of_a_zone(evaluator: Evaluator) -> None:
    other = pool(addresses=["10.201.0.1"])
    other["metadata"] = {**other["metadata"], "name": "prod-v4-icip"}
    assert judged(evaluator, POOLS, other) == []
    assert judged(evaluator, POOLS, pool(gateway="10.9.9.9"), "platform") == []


def test_a_pool_that_does_not_change_is_not_judged_again(evaluator: Evaluator) -> None:
    wrong = pool(prefix=16)
    touched = {**wrong, "metadata": {**wrong["metadata"], "finalizers": ["x"]}}
    assert judged(evaluator, POOLS, touched, old=wrong) == []
    assert judged(evaluator, POOLS, pool(prefix=17), old=wrong)


def test_a_dry_run_of_a_pool_is_not_held_against_the_table_of_before(evaluator: Evaluator) -> None:
    assert judged(evaluator, POOLS, pool(prefix=16), dry_run=True) == []
    asked = pool(prefix=16)
    asked["metadata"]["annotations"] = {"hybrid.cozystack.io/judge": ""}
    assert judged(evaluator, POOLS, asked, dry_run=True)
    assert judged(evaluator, MACHINES, template(default(vlan=202)), dry_run=True)


def test_policies_of_an_environment_without_tenants_zones_and_locations_still_compile(evaluator: Evaluator) -> None:
    empty = of_environment({"tenants": {}, "zones": {}, "locations": {}})
    spec = empty["ValidatingAdmissionPolicy/hybrid-closed-bridges"].body["spec"]
    asked = {"object": template(default()), "request": {"namespace": "tenant-acme"}}
    assert evaluator.ask(policy=spec, **asked) == {"skipped": False, "refusals": []}
    spec = empty["ValidatingAdmissionPolicy/hybrid-clusters"].body["spec"]
    asked = {"object": cluster(), "request": {"namespace": "tenant-acme"}}
    assert evaluator.ask(policy=spec, **asked) == {"skipped": False, "refusals": []}
