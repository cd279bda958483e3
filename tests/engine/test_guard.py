"""The guard during the life of an environment: what stops an `up`, what an `up` changes, the audit, broken glass."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from lab.env_file import full_environment
from manifests.guard_cases.bodies import Nic, machine, machine_spec, ref
from manifests.guard_cases.world import World
from tests.manifests.examples import environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.engine.harness import Done, EngineLab

pytestmark = pytest.mark.lab

SETTINGS = environment()
WORLD = World(SETTINGS.environment, "lab", "v1alpha1")
ROW = SETTINGS.rows["acme-lab"]
MACHINES = "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/tenant-acme/proxmoxmachines"
ADDRESSES = "/apis/ipam.cluster.x-k8s.io/v1beta1/namespaces/tenant-acme/ipaddresses"
BINDING = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/hybrid-zone-machines-workers"
ZONE = "/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworkzones/workers"
TABLE = "/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworktables/all"
POOL = "/apis/ipam.cluster.x-k8s.io/v1alpha2/namespaces/tenant-acme/inclusterippools/acme-lab"
RANGE = "range: 10.201.0.20-10.201.0.199"


def operation(lab: EngineLab, *arguments: str) -> Done:
    """Run one of the operator's commands with the admin's kubeconfig."""
    command = [sys.executable, "-m", "lab.operations", *arguments]
    variables = {**full_environment(lab.layout, "lab"), "PYTHONPATH": str(lab.layout.root)}
    return lab.run(command, lab.layout.project, variables)


def on_vlan(name: str, vlan: int, pool: str) -> dict[str, Any]:
    spec = machine_spec(WORLD, ROW, [Nic("vmbr1", vlan, ref(pool))])
    return machine(WORLD, "ProxmoxMachine", "tenant-acme", spec, name=name)


@contextmanager
def made(lab: EngineLab, path: str, body: dict[str, Any]) -> Iterator[None]:
    """Put an object into the cluster as a controller would, and take it away again."""
    status, said = lab.api.request("POST", path, body)
    assert status == 201, said
    try:
        yield
    finally:
        lab.api.request("DELETE", f"{path}/{body['metadata']['name']}")


@contextmanager
def leased(lab: EngineLab, address: str) -> Iterator[None]:
    """Lease an address of acme's network in the lab."""
    pool = {"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": "acme-lab"}
    spec = {"address": address, "prefix": 24, "claimRef": {"name": "m-1"}, "poolRef": pool}
    body = {
        "apiVersion": "ipam.cluster.x-k8s.io/v1beta1",
        "kind": "IPAddress",
        "metadata": {"name": "m-1"},
        "spec": spec,
    }
    with made(lab, ADDRESSES, body):
        yield


def wrong(done: Done) -> list[str]:
    """Give the audit's lines of what goes the wrong way."""
    return [line for line in done.output.splitlines() if line.startswith("WRONG")]


def addresses(lab: EngineLab) -> list[list[str]]:
    """Give what the zone, the table of all rows and the pool say about acme's network in the lab."""
    zone, table = (lab.get(path)[1]["spec"]["networks"] for path in (ZONE, TABLE))
    rows = [row["addresses"] for networks in (zone, table) for row in networks if row["name"] == "acme-lab"]
    return [*rows, lab.get(POOL)[1]["spec"]["addresses"]]


def test_a_change_that_would_strand_machines_is_refused_naming_them(lab: EngineLab) -> None:
    before = lab.get(ZONE)[1]
    with made(lab, MACHINES, on_vlan("m-1", 201, "acme-lab")), leased(lab, "10.201.0.150"):
        with lab.edited("lab", ("vlan: 201", "vlan: 211")):
            for command in (["preview"], ["up", "--yes", "--skip-preview"]):
                stopped = lab.pulumi("lab", *command)
                assert stopped.code != 0
                assert "[ROW_VANISHED]" in stopped.output
                assert "ProxmoxMachine tenant-acme/m-1" in stopped.output
                assert "Traceback" not in stopped.output
        with lab.edited("lab", (RANGE, "range: 10.201.0.20-10.201.0.149")):
            stopped = lab.pulumi("lab", "preview")
            assert stopped.code != 0
            assert "[ADDRESS_LEAVES_ROW]" in stopped.output
            assert "IPAddress tenant-acme/m-1 (10.201.0.150)" in stopped.output
        assert lab.get(ZONE)[1]["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


def test_a_changed_range_reaches_zone_policies_and_pool_in_one_up(lab: EngineLab) -> None:
    with made(lab, MACHINES, on_vlan("m-1", 201, "acme-lab")), leased(lab, "10.201.0.150"):
        with lab.edited("lab", (RANGE, "range: 10.201.0.20-10.201.0.150")):
            lab.up("lab", "--skip-preview")
            assert addresses(lab) == [["10.201.0.20-10.201.0.150"]] * 3
            assert wrong(operation(lab, "audit", "lab")) == []
        lab.up("lab", "--skip-preview")
    assert addresses(lab) == [["10.201.0.20-10.201.0.199"]] * 3


def test_the_audit_is_green_on_the_lab_and_red_after_a_binding_was_opened_by_hand(lab: EngineLab) -> None:
    green = operation(lab, "audit", "lab")
    assert green.code == 0, wrong(green)
    assert "no Deployment of system:serviceaccount:capmox-system:capmox-controller-manager found" in green.output
    change = {"spec": {"validationActions": ["Audit", "Warn"]}}
    status, _ = lab.api.request("PATCH", BINDING, change, content_type="application/merge-patch+json")
    assert status == 200
    try:
        red = operation(lab, "audit", "lab")
        assert red.code == 1
        assert any("hybrid-zone-machines-workers" in line for line in wrong(red))
        stopped = lab.pulumi("lab", "preview")
        assert stopped.code != 0
        assert "[BINDING_EDITED]" in stopped.output
    finally:
        closed = operation(lab, "break-glass", "lab", "--zone", "workers", "--close")
    assert closed.code == 0, closed.output
    assert operation(lab, "audit", "lab").code == 0


def test_broken_glass_lets_pass_is_kept_by_up_and_is_closed_again(lab: EngineLab) -> None:
    foreign = on_vlan("foreign", 202, "globex-lab")
    assert lab.api.request("POST", f"{MACHINES}?dryRun=All", foreign)[0] == 422
    said = operation(lab, "break-glass", "lab", "--zone", "workers", "--why", "capmox must be moved")
    assert said.code == 0, said.output
    deadline = time.monotonic() + 20
    while lab.api.request("POST", f"{MACHINES}?dryRun=All", foreign)[0] != 201:
        assert time.monotonic() < deadline, "the opened binding still refuses"
        time.sleep(0.2)
    up = lab.up("lab", "--skip-preview")
    assert "hybrid-zone-machines-workers refuses nothing: opened by lab-admin" in up
    assert "capmox must be moved" in up
    assert lab.get(BINDING)[1]["spec"]["validationActions"] == ["Audit", "Warn"]
    with made(lab, MACHINES, foreign):
        closed = operation(lab, "break-glass", "lab", "--zone", "workers", "--close")
        assert closed.code == 0, closed.output
        assert lab.api.request("POST", f"{MACHINES}?dryRun=All", on_vlan("other", 202, "globex-lab"))[0] == 422
        audited = operation(lab, "audit", "lab")
        assert audited.code == 1
        (line,) = wrong(audited)
        assert "ProxmoxMachine tenant-acme/foreign" in line
        assert "NIC net0 asks for VLAN 202" in audited.output
    assert operation(lab, "audit", "lab").code == 0
    lab.unchanged("lab")


def test_breaking_glass_asks_why_and_knows_its_zones(lab: EngineLab) -> None:
    assert "say why" in operation(lab, "break-glass", "lab", "--zone", "workers").output
    unknown = operation(lab, "break-glass", "lab", "--zone", "nowhere", "--why", "x")
    assert unknown.code == 1
    assert "its zones: workers" in unknown.output
    assert lab.get(BINDING)[1]["spec"]["validationActions"] == ["Deny", "Audit"]


def test_machines_that_exist_are_moved_or_restored_under_one_broken_glass_and_still_judged_by_their_vlan(
    lab: EngineLab,
) -> None:
    def existing(name: str, vlan: int, pool: str) -> dict[str, Any]:
        body = on_vlan(name, vlan, pool)
        ids = {"virtualMachineID": 2000, "providerID": "proxmox://0d9f2bd7-3a3c-4b1c-9b2f-3f3a1f6f2f11"}
        return {**body, "spec": {**body["spec"], **ids}}

    path = f"{MACHINES}?dryRun=All"
    restored, foreign = existing("moved", 201, "acme-lab"), existing("foreign", 202, "globex-lab")
    status, said = lab.api.request("POST", path, restored)
    assert (status, "'hybrid-machines'" in said["message"]) == (422, True), said
    opened = operation(lab, "break-glass", "lab", "--binding", "hybrid-machines", "--why", "restore from backup")
    assert opened.code == 0, opened.output
    try:
        deadline = time.monotonic() + 20
        while lab.api.request("POST", path, restored)[0] != 201:
            assert time.monotonic() < deadline, "the opened binding still refuses"
            time.sleep(0.2)
        status, said = lab.api.request("POST", path, foreign)
        assert (status, "'hybrid-zone-machines'" in said["message"]) == (422, True), said
        with made(lab, MACHINES, restored):
            closed = operation(lab, "break-glass", "lab", "--binding", "hybrid-machines", "--close")
            assert closed.code == 0, closed.output
            audited = operation(lab, "audit", "lab")
            assert audited.code == 0, wrong(audited)
    finally:
        operation(lab, "break-glass", "lab", "--binding", "hybrid-machines", "--close")
    lab.unchanged("lab")


def until(lab: EngineLab, body: dict[str, Any], wanted: int) -> Any:
    """Ask by dry runs until the answer has this status; give it."""
    deadline = time.monotonic() + 40
    while True:
        status, said = lab.api.request("POST", f"{MACHINES}?dryRun=All", body)
        if status == wanted:
            return said
        assert time.monotonic() < deadline, said
        time.sleep(0.2)


def test_in_audit_mode_nothing_is_refused_and_the_audit_lists_what_stands_against_the_table(lab: EngineLab) -> None:
    foreign = on_vlan("foreign", 202, "globex-lab")
    looking = (
        ("context: cozystack-lab", "context: cozystack-lab\n      guard: audit"),
        ("    bridge: vmbr1", "    bridge: vmbr1\n        mode: audit"),
    )
    with lab.edited("lab", *looking):
        lab.up("lab", "--skip-preview")
        until(lab, foreign, 201)
        assert operation(lab, "audit", "lab").code == 0
        with made(lab, MACHINES, foreign):
            audited = operation(lab, "audit", "lab")
    assert audited.code == 1
    assert [line.split()[-1] for line in wrong(audited)] == ["tenant-acme/foreign"]
    assert "would be refused today, by hybrid-zone-machines" in audited.output
    lab.up("lab", "--skip-preview")
    until(lab, foreign, 422)
    lab.unchanged("lab")


def test_a_lost_binding_leaves_the_door_open_a_lost_zone_shuts_it_and_the_next_up_makes_both_again(
    lab: EngineLab,
) -> None:
    own, foreign = on_vlan("own", 201, "acme-lab"), on_vlan("foreign", 202, "globex-lab")
    assert lab.api.request("DELETE", BINDING)[0] == 200
    until(lab, foreign, 201)
    red = operation(lab, "audit", "lab")
    assert red.code == 1
    assert "not in the cluster: nothing is enforced by it" in red.output
    assert "must be refused, was admitted (" in red.output
    lab.up("lab", "--skip-preview")
    assert lab.get(BINDING)[1]["spec"]["validationActions"] == ["Deny", "Audit"]
    until(lab, foreign, 422)

    assert lab.api.request("DELETE", ZONE)[0] == 200
    until(lab, own, 422)
    assert operation(lab, "audit", "lab").code == 1
    lab.up("lab", "--skip-preview")
    until(lab, own, 201)
    assert operation(lab, "audit", "lab").code == 0
    lab.unchanged("lab")
