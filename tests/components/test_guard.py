"""What an `up` reads before, keeps, and waits for; the waiting itself is tested in tests/operations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from components.guard import Guard
from components.guard import prepare as read_and_judge
from manifests.policies.parts import BINDING
from operations.api import UnreadableError
from operations.in_the_way import InTheWayError
from operations.live import Live
from operations.rendered import guard_objects, of_kind
from tests.components.engine import run
from tests.manifests.examples import environment
from tests.operations.live_examples import live, on, wrote

if TYPE_CHECKING:
    from tests.components.engine import Run

SETTINGS = environment()
GONE = environment({"zones.workers.networks.acme-lab": None})
NAME = "hybrid-zone-machines-workers"
NOTES = {f"hybrid.cozystack.io/opened-{key}": value for key, value in (("by", "eve"), ("because", "fire"))}


def _run(monkeypatch: pytest.MonkeyPatch, found: Live | Exception, settings: Any = SETTINGS, **how: Any) -> Run:
    def read(_: object, __: object) -> Live:
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr("components.guard.Api", lambda _: None)
    monkeypatch.setattr("components.guard.read_live", read)

    async def program() -> None:
        await read_and_judge(settings)

    return run(program, stack_name="lab", **how)


def test_a_table_that_nothing_is_in_the_way_of_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _run(monkeypatch, live(on(201)))
    assert (found.warnings, found.order) == ([], [])


@pytest.mark.parametrize("preview", [False, True])
def test_a_table_that_would_strand_machines_stops_up_and_preview(
    monkeypatch: pytest.MonkeyPatch,
    preview: bool,  # noqa: FBT001 - a row of the table
) -> None:
    with pytest.raises(InTheWayError, match="ROW_VANISHED") as error:
        _run(monkeypatch, live(on(201)), GONE, preview=preview)
    assert "ProxmoxMachine tenant-acme/m-1" in str(error.value)


@pytest.mark.parametrize("preview", [False, True])
def test_a_guard_that_somebody_edited_stops_up_and_preview(
    monkeypatch: pytest.MonkeyPatch,
    preview: bool,  # noqa: FBT001 - a row of the table
) -> None:
    found = live()
    wrote(found.policies["hybrid-pools"], "kubectl-edit", "matchConditions")
    with pytest.raises(InTheWayError, match=r"hybrid-pools.*GUARD_EDITED"):
        _run(monkeypatch, found, preview=preview)


def test_a_cluster_that_can_not_be_read_stops_up_and_warns_at_preview(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = UnreadableError("GET /apis: the API server can not be reached")
    with pytest.raises(InTheWayError, match="UNREADABLE"):
        _run(monkeypatch, gone)
    (warning,) = _run(monkeypatch, gone, preview=True).warnings
    assert "UNREADABLE" in warning


def _opened() -> dict[str, Any]:
    bindings = {name: json.loads(json.dumps(item.body)) for name, item in _rendered().items()}
    bindings[NAME]["metadata"]["annotations"] = {
        **NOTES,
        "hybrid.cozystack.io/opened-until": "2020-01-01T00:00:00+00:00",
    }
    bindings[NAME]["spec"]["validationActions"] = ["Audit", "Warn"]
    return bindings


def _rendered() -> dict[str, Any]:
    return of_kind(guard_objects(SETTINGS), BINDING)


def test_an_opened_binding_is_a_warning_that_says_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    (warning,) = _run(monkeypatch, live(bindings=_opened())).warnings
    assert f"{NAME} refuses nothing: opened by eve" in warning
    assert "its time is over" in warning


def test_an_opened_binding_is_kept_open_and_no_other_is_touched() -> None:
    bindings = _opened()
    guard = Guard(SETTINGS, None, Live({}, bindings=bindings))  # type: ignore[arg-type]  # nothing is asked
    for name, manifest in _rendered().items():
        kept = guard.kept(manifest)
        if name == NAME:
            assert kept["spec"]["validationActions"] == ["Audit", "Warn"]
            assert kept["metadata"]["annotations"] == bindings[NAME]["metadata"]["annotations"]
        else:
            assert kept is manifest.body


@pytest.mark.parametrize(
    ("logical", "inputs", "asked"),
    [
        ("ProxmoxNetworkZone/workers", {}, {"hybrid-zone-machines", "hybrid-pools"}),
        ("ValidatingAdmissionPolicy/hybrid-clusters", {"spec": {}}, {"hybrid-clusters"}),
        ("ValidatingAdmissionPolicy/hybrid-pools", {"spec": {}}, {"hybrid-pools"}),
        (
            f"ValidatingAdmissionPolicyBinding/{NAME}",
            {"spec": {"policyName": "hybrid-zone-machines", "paramRef": {"name": "workers"}}},
            {"hybrid-zone-machines"},
        ),
        ("ProxmoxNetworkTable/all", {}, {"hybrid-pool-names", "hybrid-machines"}),
    ],
)
def test_each_change_is_followed_by_questions_that_its_own_policies_answer(
    logical: str, inputs: dict[str, Any], asked: set[str]
) -> None:
    bindings = {name: item.body for name, item in _rendered().items()}
    guard = Guard(SETTINGS, None, Live({}, bindings=bindings))  # type: ignore[arg-type]  # nothing is asked
    found = guard.canaries(logical, inputs)
    assert {canary.policies[0] for canary in found} == asked
    assert {canary.refused for canary in found} == {False, True}


def test_only_what_is_judged_by_is_waited_for() -> None:
    guard = Guard(SETTINGS, None, Live({}))  # type: ignore[arg-type]  # nothing is asked
    kinds = {item.kind for item in guard_objects(SETTINGS)}
    assert "InClusterIPPool" in kinds
    pools = [item for item in guard_objects(SETTINGS) if item.kind in ("InClusterIPPool", "CustomResourceDefinition")]
    assert [guard.hooks(item) for item in pools] == [None] * len(pools)


def test_a_policy_that_changes_in_the_same_run_is_asked_about_after_its_own_change_with_the_rows_that_changed() -> None:
    row = "zones.workers.networks.globex-lab.range"
    later = environment({"management.generation": "capi-1.12", row: "10.202.0.20-10.202.0.99"})
    before = live()
    guard = Guard(later, None, before)  # type: ignore[arg-type]  # nothing is asked
    (zone,) = before.zones or ()
    assert guard.canaries("ProxmoxNetworkZone/workers", {}, zone) == []
    assert guard.canaries("ProxmoxNetworkTable/all", {}) == []
    found = guard.canaries("ValidatingAdmissionPolicy/hybrid-zone-machines", {"spec": {}})
    assert {canary.text for canary in found} == {
        f"VLAN 202 on vmbr1 in namespace {name}" for name in ("tenant-globex", "default")
    }
    assert all("hybrid-machines" in canary.others for canary in found)
    last = guard.canaries("ValidatingAdmissionPolicy/hybrid-closed-bridges", {"spec": {}})
    changed = {"hybrid-zone-machines", "hybrid-machines", "hybrid-clusters", "hybrid-closed-bridges"}
    assert {canary.policies[0] for canary in last} >= changed
    assert not any(canary.others for canary in last)
    assert {canary.text for canary in found} <= {canary.text for canary in last}
    same = Guard(environment({row: "10.202.0.20-10.202.0.99"}), None, before)  # type: ignore[arg-type]  # as above
    assert {canary.policies[0] for canary in same.canaries("ProxmoxNetworkZone/workers", {}, zone)} == {
        "hybrid-zone-machines",
        "hybrid-pools",
    }
