"""The policies in a real API server with the upstream CRDs of both generations."""

from __future__ import annotations

import copy
import functools
from typing import Any

import pytest

from settings.table import MAX_ALL_NETWORKS
from tests.manifests import guard_rows as rows
from tests.manifests.examples import of_tenant
from tests.manifests.live import CAPI, CAPMOX, STRANGER, Api, path_of, until
from tests.manifests.shapes import CHANGES, Nic, Shapes

pytestmark = [pytest.mark.lab, pytest.mark.shared]
Body = dict[str, Any]


@pytest.fixture
def api(guarded: Api) -> Api:
    return guarded


@pytest.fixture
def shapes(api: Api) -> Shapes:
    return Shapes(api.generation)


@pytest.mark.parametrize("row", rows.ROWS, ids=lambda row: row.says)
def test_a_row_is_refused_by_its_policy_and_its_twin_passes(api: Api, shapes: Shapes, row: rows.Row) -> None:
    said = api.refusal(row.refused(shapes), row.user)
    if not (row.also and f"ValidatingAdmissionPolicy '{row.also}'" in said):
        assert f"ValidatingAdmissionPolicy '{row.policy}'" in said
        assert row.said in said
    assert api.refusal(row.twin(shapes), row.twin_user) == ""


def test_what_a_tenants_stack_renders_passes_for_its_own_identity(api: Api) -> None:
    # Pools by Cluster API are not written for the newer generation yet.
    without = {"clusters.prod.pools.lab": None} if api.generation == "capi-1.12" else {}
    changes = {"clusters.prod.network": "acme-lab", **without}
    rendered = of_tenant("acme", changes, {**CHANGES, "management.generation": api.generation})
    assert {"Cluster", "KamajiControlPlane", "ProxmoxCluster"} <= {item.kind for item in rendered.values()}
    token = api.token("tenant-acme")
    for item in rendered.values():
        status, said = api.apply(item.body, dry_run=True, token=token)
        assert status == 201, said


@pytest.mark.parametrize("row", rows.SECRET_ROWS, ids=lambda row: row.says)
def test_a_tenants_own_identity_makes_and_changes_no_secret_even_with_the_right_to(
    api: Api, shapes: Shapes, row: rows.Row
) -> None:
    body = row.refused(shapes)
    said = api.refusal(body, row.user)
    assert f"ValidatingAdmissionPolicy '{row.policy}'" in said
    assert row.said in said
    # Others are not the policy's business.
    assert api.refusal(row.twin(shapes), row.twin_user) == ""
    if body["type"] == "kubernetes.io/service-account-token":
        return  # the server deletes and fills them by itself
    api.make(body)
    try:
        change = {"stringData": {"value": "x"}}
        said = api.change(body, change, row.user)
        assert f"ValidatingAdmissionPolicy '{row.policy}'" in said
        assert api.change(body, change) == ""
    finally:
        assert api.delete(body) == 200


def test_what_an_update_leaves_alone_passes_after_its_row_is_gone_and_what_it_changes_is_judged(
    api: Api, shapes: Shapes
) -> None:
    machine, template = shapes.machine(Nic(), Nic(vlan=301)), shapes.template(Nic(), Nic(vlan=301))
    for body in (machine, template):
        body["metadata"]["finalizers"] = ["tests.example/keep"]
        api.make(body)
    zone = api.environment["ProxmoxNetworkZone/workers"].body
    smaller = copy.deepcopy(zone)
    smaller["spec"]["networks"] = [row for row in zone["spec"]["networks"] if row["vlan"] != 301]
    again = copy.deepcopy(machine)
    again["metadata"] = {"name": "again", "namespace": "tenant-acme"}
    assert api.refusal(again) == ""
    assert api.apply(smaller)[0] == 200
    try:
        said = until(lambda: api.refusal(again), bool)
        assert "net1 asks for VLAN 301" in said
        for body in (machine, template):
            assert api.change(body, {"metadata": {"labels": {"a": "b"}}}) == ""
        assert api.change(machine, {"spec": {"description": "other"}}) == ""
        assert api.change(machine, {"spec": {"virtualMachineID": 2000}}, CAPMOX) == ""
        foreign = shapes.network(Nic(vlan=202))
        said = api.change(machine, {"spec": {"network": foreign}})
        assert "never changes" in said or "hybrid-" in said
        # (In the newer generation capmox' own webhook keeps templates as they are, where it runs.)
        said = api.change(template, {"spec": {"template": {"spec": {"network": foreign}}}})
        assert "net0 asks for VLAN 202" in said
        for body in (machine, template):
            assert api.delete(body) == 200
            # It is being deleted, and the judged fields are as they were.
            assert api.change(body, {"metadata": {"finalizers": None}}) == ""
            assert not api.there(body)
    finally:
        assert api.apply(zone)[0] == 200
        until(lambda: api.refusal(again), lambda said: not said)


def test_a_control_planes_copies_are_bounded_by_its_scale_too(api: Api, shapes: Shapes) -> None:
    plane = shapes.control_plane()
    plane["metadata"]["name"] = "scaled"
    api.make(plane)
    try:
        # A scale of none says nothing at all: the field is left out.
        for copies in (6, 0):
            said = api.change(plane, {"spec": {"replicas": copies}}, subresource="/scale")
            assert "ValidatingAdmissionPolicy 'hybrid-control-planes'" in said, copies
            assert "spec.replicas (1 to 5)" in said
        assert api.change(plane, {"spec": {"replicas": 5}}, subresource="/scale") == ""
        assert api.read(path_of(plane))["spec"]["replicas"] == 5
    finally:
        assert api.delete(plane) == 200


def test_an_object_that_is_being_deleted_is_no_exception(api: Api, shapes: Shapes) -> None:
    machine = shapes.machine(name="going")
    machine["metadata"]["finalizers"] = ["tests.example/keep"]
    api.make(machine)
    assert api.delete(machine) == 200
    assert api.change(machine, {"spec": {"network": shapes.network(Nic(vlan=202))}})
    assert api.change(machine, {"spec": {"network": shapes.network(Nic(vlan=301))}}, CAPMOX)
    assert api.change(machine, {"metadata": {"finalizers": None}}) == ""


def test_a_machines_network_never_changes_not_even_to_another_own_one(api: Api, shapes: Shapes) -> None:
    machine = shapes.machine(name="moved")
    api.make(machine, CAPI)
    other = {"spec": {"network": shapes.network(Nic(vlan=301))}}
    for user in (None, CAPI, CAPMOX):
        assert "spec.network of a machine never changes" in api.change(machine, other, user)
    assert api.change(machine, {"spec": {"network": shapes.network(Nic())}}) == ""
    assert api.delete(machine) == 200


def test_only_capmox_says_which_vm_a_machine_is(api: Api, shapes: Shapes) -> None:
    machine = shapes.machine(name="taken")
    api.make(machine, CAPI)
    ids = {"spec": {"virtualMachineID": 2000, "providerID": "proxmox://11111111-1111-4111-8111-111111111111"}}
    for user in (None, CAPI, STRANGER):
        assert "written by capmox alone" in api.change(machine, ids, user)
    assert api.change(machine, ids, CAPMOX) == ""
    assert "written by capmox alone" in api.change(machine, {"spec": {"virtualMachineID": 2001}}, STRANGER)
    assert "written by capmox alone" in api.change(machine, {"spec": {"virtualMachineID": None}})
    assert api.change(machine, {"metadata": {"labels": {"a": "b"}}}) == ""
    assert api.delete(machine) == 200


def test_a_clusters_unchanged_parts_pass_and_its_changed_ones_are_judged(api: Api, shapes: Shapes) -> None:
    cluster = shapes.cluster(ipv4Config=shapes.config())
    api.make(cluster)
    assert api.change(cluster, {"spec": {"dnsServers": ["10.201.0.2"]}}) == ""
    wide = {"spec": {"ipv4Config": {"addresses": ["10.0.0.0/8"]}}}
    assert "ipv4Config" in api.change(cluster, wide, CAPMOX)
    assert "another tenant" in api.change(cluster, {"spec": {"credentialsRef": {"namespace": "tenant-globex"}}})
    assert api.delete(cluster) == 200


def test_a_zone_whose_table_is_gone_refuses_every_machine_until_it_is_back(api: Api, shapes: Shapes) -> None:
    zone = api.environment["ProxmoxNetworkZone/storage"].body
    assert api.refusal(shapes.template()) == ""
    assert api.delete(zone) == 200
    try:
        said = until(lambda: api.refusal(shapes.template()), bool)
        assert "hybrid-zone-machines-storage" in said
    finally:
        assert api.apply(zone)[0] == 201
        until(lambda: api.refusal(shapes.template()), lambda said: not said)


def test_a_binding_that_has_lost_its_table_refuses_every_machine_until_it_has_it_again(
    api: Api, shapes: Shapes
) -> None:
    name = "ValidatingAdmissionPolicyBinding/hybrid-zone-machines-storage"
    bound = api.environment[name].body
    lost = copy.deepcopy(bound)
    del lost["spec"]["paramRef"]
    assert api.refusal(shapes.template()) == ""
    try:
        assert api.delete(bound) == 200
        api.make(lost)
        assert "hybrid-zone-machines-storage" in until(lambda: api.refusal(shapes.template()), bool)
    finally:
        assert api.delete(bound) == 200
        api.make(bound)
        until(lambda: api.refusal(shapes.template()), lambda said: not said)


def test_without_the_table_of_all_rows_tenants_get_no_machines_until_it_is_back(api: Api, shapes: Shapes) -> None:
    table = api.environment["ProxmoxNetworkTable/all"].body
    assert api.refusal(shapes.template()) == ""
    assert api.delete(table) == 200
    try:
        assert "hybrid-machines" in until(lambda: api.refusal(shapes.template()), bool)
    finally:
        assert api.apply(table)[0] == 201
        until(lambda: api.refusal(shapes.template()), lambda said: not said)


def test_audit_of_a_zone_lets_through_with_a_warning_what_its_table_refuses(api: Api, shapes: Shapes) -> None:
    name = "ValidatingAdmissionPolicyBinding/hybrid-zone-machines-workers"
    loose = copy.deepcopy(api.environment[name].body)
    loose["spec"]["validationActions"] = ["Audit", "Warn"]
    assert api.refusal(shapes.template(Nic(vlan=202)))
    assert api.apply(loose)[0] == 200
    try:
        until(lambda: api.refusal(shapes.template(Nic(vlan=202))), lambda said: not said)
        assert "hybrid-closed-bridges" in api.refusal(shapes.template(Nic(vlan=202, bridge="vmbr0")))
    finally:
        assert api.apply(api.environment[name].body)[0] == 200
        until(lambda: api.refusal(shapes.template(Nic(vlan=202))), bool)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("vlan", 1, "vlan"),
        ("vlan", 4095, "vlan"),
        ("gateway", "x", "gateway"),
        ("gateway", "10.201.0.50", "the gateway lies in no range"),
        ("addresses", [], "addresses"),
        ("addresses", ["10.201.0.30-10.201.0.20"], "a range's first address comes first"),
        ("addresses", ["10.202.0.20-10.202.0.30"], "every range lies in the gateway's network"),
        ("addresses", ["10.201.0.20-10.201.1.30"], "every range lies in the gateway's network"),
        ("addresses", ["10.201.0.20-10.201.0.300"], "should match"),
        ("addresses", [f"10.201.0.{i}-10.201.0.{i}" for i in range(20, 29)], "addresses"),
        ("pool", "prod-v4-icip", "capmox would take it for its own"),
    ],
)
def test_a_zone_whose_row_contradicts_itself_is_refused(api: Api, field: str, value: Any, said: str) -> None:
    wrong = copy.deepcopy(api.environment["ProxmoxNetworkZone/workers"].body)
    assert api.refusal(wrong) == ""
    wrong["spec"]["networks"][0][field] = value
    assert said in api.refusal(wrong)


def test_a_vlan_has_one_row_in_a_zone(api: Api) -> None:
    zone = copy.deepcopy(api.environment["ProxmoxNetworkZone/workers"].body)
    zone["spec"]["networks"].append({**zone["spec"]["networks"][0], "name": "other"})
    status, said = api.apply(zone, dry_run=True)
    assert status >= 400
    assert "duplicate" in said["message"]


def test_the_largest_table_stays_within_the_servers_cost_limits(api: Api, shapes: Shapes) -> None:
    table = api.environment["ProxmoxNetworkTable/all"].body
    largest = copy.deepcopy(table)
    rows_, places = largest["spec"]["networks"], largest["spec"]["places"]
    ranges = [f"10.9.0.{at}-10.9.0.{at}" for at in range(20, 28)]
    more = {**rows_[0], "namespace": "tenant-acme", "addresses": ranges}
    rows_[:0] = [{**more, "name": f"n{at}"} for at in range(MAX_ALL_NETWORKS - len(rows_))]
    place = {**places[0], "namespace": "tenant-acme", "storage": "elsewhere"}
    places[:0] = [{**place, "location": f"l{at}"} for at in range(MAX_ALL_NETWORKS - len(places))]
    refused = [shapes.pool("mine"), shapes.machine(storage="local")]
    if shapes.latest:
        refused.append(shapes.cluster(ipv4Config=shapes.config("10.8.0.2-10.8.0.3")))
    status, said = api.apply(largest)
    assert status == 200, said
    try:
        # To name all that is allowed is more than a message may hold: the fixed text takes its place.
        fixed = ("gave this namespace no network", "must be those that the platform gave", "must be exactly one range")
        for body, text in zip(refused, fixed, strict=False):
            until(functools.partial(api.refusal, body), functools.partial(_holds, text))
        assert api.refusal(shapes.machine(Nic(), Nic(vlan=301))) == ""
        assert api.refusal(shapes.cluster()) == ""
        assert api.refusal(shapes.pool("acme-lab")) == ""
    finally:
        assert api.apply(table)[0] == 200
        until(lambda: api.refusal(shapes.pool("mine")), functools.partial(_holds, "allowed: acme-dc, acme-disks"))


def _holds(part: str, text: str) -> bool:
    return part in text
