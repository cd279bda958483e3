"""What in a live cluster stops a new table: each refusal beside what must pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from operations.in_the_way import InTheWayError, in_the_way
from operations.live import DEFINITIONS, Live, LiveMachine, read_live
from tests.manifests.examples import Changes, environment, raw
from tests.operations.fakes import FakeApi
from tests.operations.live_examples import definitions, leased, live, on, wrote

NETWORKS = "zones.workers.networks"
GONE: Changes = {f"{NETWORKS}.acme-lab": None}
RETIRED: Changes = {**GONE, "zones.workers.retired": ["201"]}
TO_GLOBEX: Changes = {f"{NETWORKS}.acme-lab.tenant": "globex"}
SHORTER: Changes = {f"{NETWORKS}.acme-lab.range": "10.201.0.20-10.201.0.99"}
RENAMED: Changes = {
    f"{NETWORKS}.acme-lab": None,
    f"{NETWORKS}.acme-new": {
        "tenant": "acme",
        "location": "lab",
        "vlan": 201,
        "cidr": "10.201.0.0/24",
        "gateway": "10.201.0.1",
        "range": "10.201.0.20-10.201.0.199",
    },
}
GATEWAY: Changes = {f"{NETWORKS}.acme-lab.gateway": "10.201.0.254"}
PREFIX: Changes = {
    f"{NETWORKS}.acme-lab.cidr": "10.201.0.0/25",
    f"{NETWORKS}.acme-lab.range": "10.201.0.20-10.201.0.99",
}
ROW_300: Changes = {
    f"{NETWORKS}.globex-new": {
        "tenant": "globex",
        "location": "lab",
        "vlan": 300,
        "cidr": "10.30.0.0/24",
        "gateway": "10.30.0.1",
        "range": "10.30.0.20-10.30.0.99",
    }
}
OTHER_BRIDGE: Changes = {"zones.workers.bridge": "vmbr2"}


LATER: Changes = {"management.generation": "capi-1.12"}


def later(address: str) -> Live:
    """Give a cluster of capi-1.12 in which an address is leased from the tenant's cluster's own pool."""
    addresses = (leased(address, "prod-v4-icip"),)
    return live(addresses=addresses, before=LATER, definitions=definitions("capi-1.12"))


def codes(found: Live, changes: Changes | None = None) -> list[str]:
    return [problem.code for problem in in_the_way(found, environment(changes))]


def text(found: Live, changes: Changes | None = None) -> str:
    return "\n".join(str(problem) for problem in in_the_way(found, environment(changes)))


def test_nothing_is_in_the_way_of_the_table_that_is_there() -> None:
    assert codes(live(on(201), on(301, name="m-2"), addresses=(leased("10.201.0.20"),))) == []


@pytest.mark.parametrize(
    ("machine", "wanted"),
    [(on(201, "tenant-acme"), ["VLAN_IN_USE"]), (on(201, "tenant-globex"), []), (on(222, "tenant-x"), [])],
)
def test_a_first_run_gives_no_vlan_to_others_than_those_whose_machines_stand_on_it(
    machine: LiveMachine, wanted: list[str]
) -> None:
    found = {name: body for name, body in definitions().items() if "cozystack" not in name}
    assert codes(Live(definitions=found, machines=(machine,)), TO_GLOBEX) == wanted


@pytest.mark.parametrize(
    ("found", "changes", "wanted"),
    [
        (live(), GONE, ["ROW_VANISHED"]),
        (live(), RETIRED, []),
        (live(on(201)), RETIRED, ["ROW_IN_USE"]),
        (live(on(201, "tenant-globex")), RETIRED, []),  # wrong before and after: the audit's business
        (live(addresses=(leased("10.201.0.20"),)), RETIRED, ["ROW_IN_USE"]),
        (live(addresses=(leased("10.202.0.20", "globex-lab", "tenant-globex"),)), RETIRED, []),
        (live(), TO_GLOBEX, ["ROW_CHANGED_TENANT"]),
        (live(before=TO_GLOBEX), TO_GLOBEX, []),
        (live(addresses=(leased("10.201.0.100"),)), SHORTER, ["ADDRESS_LEAVES_ROW"]),
        (live(addresses=(leased("10.201.0.99"),)), SHORTER, []),
        (live(addresses=(leased("10.201.0.20"),)), RENAMED, ["ADDRESS_LEAVES_ROW", "ROW_IN_USE"]),
        (live(on(201)), RENAMED, ["ROW_IN_USE"]),
        (live(on(201, "tenant-globex"), on(301, name="m-2")), RENAMED, []),
        (live(), RENAMED, []),
        (live(on(201)), GATEWAY, ["ROW_IN_USE"]),
        (live(addresses=(leased("10.201.0.20"),)), GATEWAY, ["ROW_IN_USE"]),
        (live(on(301)), GATEWAY, []),
        (live(on(201), before=GATEWAY), GATEWAY, []),
        (live(on(201)), PREFIX, ["ROW_IN_USE"]),
        (live(addresses=(leased("10.202.0.20", "globex-lab", "tenant-globex"),)), PREFIX, []),
        (live(), PREFIX, []),
        # capi-1.12: leased from the cluster's own pool, out of the row's ranges
        (later("10.201.0.100"), {**LATER, **SHORTER}, ["ADDRESS_LEAVES_ROW"]),
        (later("10.201.0.50"), {**LATER, **SHORTER}, []),
        (live(addresses=(leased("10.201.0.100", "acme-lab", "tenant-globex"),)), SHORTER, []),
        (live(on(300)), ROW_300, ["VLAN_IN_USE"]),
        (live(on(300, "tenant-globex")), ROW_300, []),
        (live(on(300, bridge="vmbr7")), ROW_300, []),
        (live(), OTHER_BRIDGE, ["ROW_VANISHED"] * 3),
        (live(before={**{f"{NETWORKS}.{name}": None for name in ("acme-lab", "acme-dc", "globex-lab")}}), {}, []),
    ],
)
def test_a_change_of_the_table_is_stopped_only_by_what_stands_on_it(
    found: Live, changes: Changes, wanted: list[str]
) -> None:
    assert codes(found, changes) == wanted


def test_a_zone_does_not_go_while_a_machine_stands_on_its_bridge() -> None:
    empty: Changes = {f"{NETWORKS}.{name}": None for name in ("acme-lab", "acme-dc", "globex-lab")}
    moved: Changes = {"zones.workers.bridge": "vmbr2"}
    assert codes(live(on(222), before=empty), moved) == ["ZONE_IN_USE"]
    assert codes(live(on(222, bridge="vmbr9"), before=empty), moved) == []
    assert codes(live(on(222), before=empty), {**moved, "management.openBridges": ["vmbr1"]}) == []


def test_a_refusal_names_what_is_in_the_way_and_what_to_do() -> None:
    shown = text(live(on(201), addresses=(leased("10.201.0.20"),)), GONE)
    assert "ProxmoxMachine tenant-acme/m-1" in shown
    assert "IPAddress tenant-acme/m-10.201.0.20 (10.201.0.20)" in shown
    assert "zones.workers.networks.acme-lab: 201" in shown
    assert "add 201 to zones.workers.retired" in shown


def test_a_zone_that_gets_another_bridge_is_told_to_keep_its_own() -> None:
    shown = text(live(on(201)), OTHER_BRIDGE)
    assert shown.count("keep zones.workers with bridge: vmbr1, and give vmbr2 a zone of its own") == 3
    assert "retired" not in "".join(line for line in shown.splitlines() if "fix:" in line)


def test_a_zone_that_goes_is_told_to_stay_until_nothing_is_left() -> None:
    renamed = raw("lab")["zones"]["workers"] | {"bridge": "vmbr2"}
    shown = text(live(), {"zones.workers": None, "zones.others": renamed})
    assert "add 201 to zones.workers.retired (keep the zone until nothing is left on its bridge)" in shown


def test_a_row_that_changes_under_machines_says_what_changes() -> None:
    shown = text(live(on(201)), {**GATEWAY, **PREFIX, f"{NETWORKS}.acme-lab.gateway": "10.201.0.126"})
    assert "(gateway 10.201.0.1 to 10.201.0.126, prefix 24 to 25)" in shown
    assert "ProxmoxMachine tenant-acme/m-1" in shown


def test_a_zone_written_before_rows_had_gateways_is_no_change() -> None:
    found = live(on(201))
    for row in (found.zones or ())[0]["spec"]["networks"]:
        del row["gateway"], row["prefix"]
    assert codes(found, GATEWAY) == []


def test_a_refusal_of_many_names_twenty_and_counts_the_rest() -> None:
    shown = text(live(*(on(201, name=f"m-{index:02}") for index in range(25))), GONE)
    assert "m-19 and 5 more" in shown
    assert "m-20" not in shown


def test_all_problems_come_at_once_in_one_error() -> None:
    problems = in_the_way(live(on(201)), environment({**GONE, f"{NETWORKS}.globex-lab.tenant": "acme"}))
    error = InTheWayError("lab", problems)
    assert [problem.code for problem in problems] == ["ROW_VANISHED", "ROW_CHANGED_TENANT"]
    assert str(error).startswith("stack lab: 2 things in the management cluster in the way\n")
    assert str(error).count("fix: ") == 2


def test_a_second_nic_counts_like_the_first() -> None:
    machine = LiveMachine("tenant-acme", "m-1", (("net0", "vmbr1", 301), ("net1", "vmbr1", 201)))
    assert codes(live(machine), RETIRED) == ["ROW_IN_USE"]


def test_a_definition_of_somebody_else_is_refused_unless_its_schema_is_equal() -> None:
    found = definitions()
    name = "proxmoxnetworkzones.proxmox.cozystack.io"
    found[name]["metadata"]["labels"] = {"somebody": "else"}
    assert codes(live(definitions=found)) == []
    spec = found[name]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["bridge"]["maxLength"] = 16
    assert codes(live(definitions=found), GONE) == ["FOREIGN_CRD"]
    found[name]["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "hybrid"}
    assert codes(live(definitions=found)) == []


def test_a_cluster_without_a_kind_is_refused() -> None:
    found: dict[str, Any] = definitions()
    found["proxmoxmachines.infrastructure.cluster.x-k8s.io"] = None
    (problem,) = in_the_way(live(definitions=found), environment())
    assert problem.code == "CRD_MISSING"
    assert "proxmoxmachines.infrastructure.cluster.x-k8s.io" in problem.why


@pytest.mark.parametrize(
    "versions",
    [
        {"ProxmoxMachine": ("v1alpha1", "v1alpha2")},
        {"KamajiControlPlane": ("v1alpha2",)},
        {"Cluster": ("v1beta1", "v1beta2")},
        {"ProxmoxCluster": ("v1alpha9",)},
    ],
)
def test_a_cluster_of_another_generation_is_refused(versions: dict[str, tuple[str, ...]]) -> None:
    assert codes(live(definitions=definitions("capi-1.10", **versions))) == ["WRONG_GENERATION"]


def test_versions_beside_the_generations_own_are_no_matter() -> None:
    found = definitions("capi-1.10", InClusterIPPool=("v1alpha1", "v1alpha2"))
    assert codes(live(definitions=found)) == []


def test_a_cluster_that_is_wholly_of_the_other_generation_says_which_to_write() -> None:
    (problem,) = in_the_way(live(definitions=definitions("capi-1.12")), environment())
    assert problem.fix == "write capi-1.12"


def _by_hand(found: Live, name: str, actions: list[str], **annotations: str) -> Live:
    body = found.bindings[name]
    body["spec"]["validationActions"] = actions
    body["metadata"]["annotations"] = annotations
    body["metadata"]["managedFields"] = [
        {"manager": "pulumi-kubernetes-1", "operation": "Apply", "fieldsV1": {"f:spec": {"f:validationActions": {}}}},
        {"manager": "kubectl-edit", "operation": "Update", "fieldsV1": {"f:spec": {"f:validationActions": {}}}},
    ]
    return found


@pytest.mark.parametrize(
    ("name", "fix"), [("hybrid-zone-machines-workers", "ZONE=workers"), ("hybrid-clusters", "BINDING=hybrid-clusters")]
)
def test_a_binding_opened_by_hand_is_refused_with_how_to_put_it_back(name: str, fix: str) -> None:
    (problem,) = in_the_way(_by_hand(live(), name, ["Audit", "Warn"]), environment())
    assert problem.code == "BINDING_EDITED"
    assert fix in problem.fix


def test_a_binding_that_was_opened_properly_is_not_refused() -> None:
    opened = {"hybrid.cozystack.io/opened-by": "x", "hybrid.cozystack.io/opened-until": "x"}
    assert codes(_by_hand(live(), "hybrid-clusters", ["Audit", "Warn"], **opened)) == []


def _objects(found: Live) -> dict[str, dict[str, Any]]:
    zones = {body["metadata"]["name"]: body for body in found.zones or ()}
    return {
        **found.policies,
        **{f"binding {name}": body for name, body in found.bindings.items()},
        **zones,
        **found.tables,
    }


@pytest.mark.parametrize(
    ("name", "field", "path", "repair"),
    [
        (
            "hybrid-zone-machines",
            "matchConditions",
            "management.guard",
            "`kubectl delete validatingadmissionpolicy hybrid-zone-machines`",
        ),
        ("hybrid-clusters", "validations", "management.guard", "`kubectl delete validatingadmissionpolicy "),
        ("binding hybrid-zone-machines-workers", "matchResources", "zones.workers.mode", "ZONE=workers CLOSE=1"),
        ("binding hybrid-clusters", "matchResources", "management.guard", "BINDING=hybrid-clusters CLOSE=1"),
        ("binding hybrid-clusters", "validationActions", "management.guard", "BINDING=hybrid-clusters CLOSE=1"),
        ("workers", "networks", "zones.workers", "`kubectl delete proxmoxnetworkzone workers`"),
        ("all", "networks", "management.guard", "`kubectl delete proxmoxnetworktable all`"),
    ],
)
def test_what_somebody_else_wrote_into_the_guard_is_refused_with_who_what_and_how_to_repair(
    name: str, field: str, path: str, repair: str
) -> None:
    found = live()
    wrote(_objects(found)[name], "kubectl-edit", field)
    (problem,) = in_the_way(found, environment())
    assert (problem.code, problem.path) == ("GUARD_EDITED", path)
    assert f" {name.rpartition(' ')[2]} was changed by hand" in problem.why
    assert f"kubectl-edit wrote spec.{field}" in problem.why
    assert repair in problem.fix


@pytest.mark.parametrize("manager", ["pulumi-kubernetes-another", "hybrid"])
def test_what_the_program_or_break_glass_wrote_is_not(manager: str) -> None:
    found = live(before={f"{NETWORKS}.globex-lab": None, "management.guard": "audit"})  # a legitimate change
    for body in _objects(found).values():
        wrote(body, manager, *body["spec"])
        wrote(body, "kubectl-label")
    assert codes(found) == []


def test_a_guard_applied_without_the_program_may_be_taken_over_unless_it_has_more_than_the_program_writes() -> None:
    found = live()
    for body in _objects(found).values():
        body["metadata"]["managedFields"] = []
        wrote(body, "kubectl", *body["spec"])
    assert codes(found) == []
    wrote(found.policies["hybrid-clusters"], "kubectl", "matchConditions")
    assert codes(found) == ["GUARD_EDITED"]


def test_of_a_foreign_kind_no_objects_are_judged() -> None:
    found = live()
    foreign = definitions()["proxmoxnetworkzones.proxmox.cozystack.io"]
    foreign["metadata"]["labels"], foreign["spec"]["scope"] = {}, "Namespaced"
    found = replace(found, definitions={**found.definitions, foreign["metadata"]["name"]: foreign})
    wrote(_objects(found)["workers"], "somebody", "networks")
    assert codes(found) == ["FOREIGN_CRD"]


def test_policies_bindings_and_tables_are_read_with_who_wrote_them() -> None:
    made = live()
    wrote(made.policies["hybrid-pools"], "kubectl-edit", "matchConditions")
    wrote(made.tables["all"], "kubectl-edit", "networks")
    wrote(made.bindings["hybrid-clusters"], "kubectl-edit", "matchResources")
    lists = {
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies": made.policies.values(),
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings": made.bindings.values(),
        "/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworktables": made.tables.values(),
        "/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworkzones": made.zones or (),
    }
    machines = [f"/apis/infrastructure.cluster.x-k8s.io/{each}/proxmoxmachines" for each in ("v1alpha1", "v1alpha2")]
    api = FakeApi(
        {f"{DEFINITIONS}/{name}": body for name, body in made.definitions.items()}
        | {path: {"items": list(bodies)} for path, bodies in lists.items()}
        | {path: {"items": []} for path in machines}
    )
    found = in_the_way(read_live(api, environment().environment.zones), environment())
    assert [problem.value for problem in found] == ["all", "hybrid-pools", "hybrid-clusters"]
