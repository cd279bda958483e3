"""Breaking the glass: what is written, and under whose name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from manifests.common import ADMISSION
from manifests.isolation import ZONE_POLICIES, zone_bindings
from manifests.policies.parts import BINDING, POLICY
from operations.__main__ import main
from operations.api import CREATED, OK, Answer, collection
from operations.opening import ACTIONS, OpeningError, break_glass, close, opened, opening, owners
from operations.rendered import guard_objects, of_kind
from tests.manifests.examples import environment
from tests.operations.fakes import FakeApi

SETTINGS = environment()
NAME = "hybrid-zone-machines-workers"
GUARD = guard_objects(SETTINGS)
BODY = of_kind(GUARD, BINDING)[NAME].body
PATHS = [f"{collection(ADMISSION, BINDING)}/{name}" for name in (NAME, "hybrid-pools-workers")]
WHO = Answer(CREATED, {"status": {"userInfo": {"username": "eve"}}})


def managed(*managers: tuple[str, str]) -> dict[str, Any]:
    fields = [
        {"manager": name, "operation": operation, "fieldsV1": {"f:spec": {"f:validationActions": {}}}}
        for name, operation in managers
    ]
    return {"metadata": {"name": NAME, "managedFields": fields}, "spec": BODY["spec"]}


class Cluster(FakeApi):
    """Accepts every patch."""

    def request(self, method: str, path: str, *more: Any, **how: Any) -> Answer:
        """Answer as a FakeApi, but for patches."""
        answer = super().request(method, path, *more, **how)
        return Answer(OK, {}) if method == "PATCH" else answer


def cluster(live: dict[str, Any]) -> Cluster:
    return Cluster(dict.fromkeys(PATHS, live), lambda _body, _headers: WHO)


def test_a_zones_bindings_are_opened_under_the_programs_own_manager_with_who_why_and_until() -> None:
    api = cluster(managed(("pulumi-kubernetes-1", "Apply")))
    lines = break_glass(api, SETTINGS, zone="workers", binding=None, why=" fire ")
    patches = [(path, sent) for method, path, sent in api.asked if method == "PATCH"]
    assert [path for path, _ in patches] == PATHS
    for _, sent in patches:
        assert sent["query"] == {"fieldManager": "pulumi-kubernetes-1", "force": "true"}
        how = opening(sent["body"])
        assert how is not None
        assert (how.who, how.why) == ("eve", "fire")
        assert sent["body"]["spec"]["validationActions"] == ACTIONS
    assert len(lines) == 2


def test_what_others_wrote_is_taken_from_them_first() -> None:
    live = managed(("pulumi-kubernetes-1", "Apply"), ("kubectl-edit", "Update"))
    assert owners(live) == (["pulumi-kubernetes-1"], ["kubectl-edit"])
    api = cluster(live)
    break_glass(api, SETTINGS, zone=None, binding=NAME, why="fire")
    kept = [
        [each["manager"] for each in sent["body"]["metadata"].get("managedFields", [])]
        for method, _, sent in api.asked
        if method == "PATCH"
    ]
    assert kept == [["pulumi-kubernetes-1"], ["pulumi-kubernetes-1"], []]


def test_a_field_that_somebody_added_is_taken_out_together_with_its_owner() -> None:
    live = managed(("pulumi-kubernetes-1", "Apply"))
    live["spec"] = {**BODY["spec"], "matchResources": {"matchPolicy": "Equivalent"}}
    live["spec"]["paramRef"] = {**BODY["spec"]["paramRef"], "namespace": "n"}
    added = {"manager": "kubectl-edit", "operation": "Update", "fieldsV1": {"f:spec": {"f:matchResources": {}}}}
    live["metadata"]["managedFields"].append(added)
    api = cluster(live)
    break_glass(api, SETTINGS, zone=None, binding=NAME, why="fire")
    first, second, third = (sent["body"] for method, _, sent in api.asked if method == "PATCH")
    assert first["spec"]["matchResources"] is None
    assert first["spec"]["paramRef"] == {**BODY["spec"]["paramRef"], "namespace": None}
    assert first["spec"]["validationActions"] == ACTIONS
    assert [each["manager"] for each in second["metadata"]["managedFields"]] == ["pulumi-kubernetes-1"]
    assert third["spec"] == {**BODY["spec"], "validationActions": ACTIONS}


def _whole() -> dict[str, Any]:
    """Give the zone's bindings and their policies by path, as the program writes them."""
    own = {f"{collection(ADMISSION, BINDING)}/{name}" for name in zone_bindings("workers")}
    own |= {f"{collection(ADMISSION, POLICY)}/{name}" for name in ZONE_POLICIES}
    bodies = {f"{collection(ADMISSION, item.kind)}/{item.body['metadata']['name']}": item.body for item in GUARD}
    return {path: json.loads(json.dumps(bodies[path])) for path in own}


def test_closing_says_in_force_only_of_a_policy_and_bindings_that_are_as_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("operations.opening.wait", lambda _api, _canaries: 0.5)
    lines = close(Cluster(_whole()), SETTINGS, zone="workers", binding=None)
    assert lines == [f"{name}: closed, in force after 0.5 s" for name in zone_bindings("workers")]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (f"{collection(ADMISSION, POLICY)}/hybrid-pools", "matchConditions"),
        (f"{collection(ADMISSION, BINDING)}/{NAME}", "matchResources"),
    ],
)
def test_closing_what_somebody_changed_writes_the_bindings_and_says_that_they_are_not_in_force(
    path: str, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operations.opening.wait", lambda _api, _canaries: pytest.fail("it was asked"))
    found = _whole()
    found[path]["spec"][field] = [{"name": "never", "expression": "false"}]
    api = Cluster(found)
    with pytest.raises(OpeningError, match=f"{path.rpartition('/')[2]} is not as the environment says .{field}"):
        close(api, SETTINGS, zone="workers", binding=None)
    assert sum(method == "PATCH" for method, _, _ in api.asked) == 2


def test_closing_over_a_policy_that_is_gone_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("operations.opening.wait", lambda _api, _canaries: pytest.fail("it was asked"))
    found = _whole()
    del found[f"{collection(ADMISSION, POLICY)}/hybrid-pools"]
    with pytest.raises(OpeningError, match="ValidatingAdmissionPolicy hybrid-pools is not in the cluster"):
        close(Cluster(found), SETTINGS, zone="workers", binding=None)


def test_an_opened_binding_keeps_all_that_the_program_writes_but_its_actions() -> None:
    how = opening(opened(BODY, opening_of("eve", "fire", "2026-01-01")))
    assert how == opening_of("eve", "fire", "2026-01-01")
    changed = opened(BODY, opening_of("eve", "fire", "2026-01-01"))
    assert {**changed["spec"], "validationActions": None} == {**BODY["spec"], "validationActions": None}
    assert changed["metadata"]["labels"] == BODY["metadata"]["labels"]
    assert "annotations" not in BODY["metadata"]


def opening_of(who: str, why: str, until: str) -> Any:
    prefix = "hybrid.cozystack.io/opened-"
    notes = {f"{prefix}by": who, f"{prefix}because": why, f"{prefix}until": until}
    return opening({"metadata": {"annotations": notes}})


@pytest.mark.parametrize(
    ("zone", "binding", "why", "says"),
    [
        ("workers", None, "", "say why"),
        ("nowhere", None, "x", "its zones: workers"),
        (None, "nothing", "x", "hybrid-clusters"),
    ],
)
def test_a_wrong_call_says_what_to_write_and_changes_nothing(
    zone: str | None, binding: str | None, why: str, says: str
) -> None:
    api = cluster(managed())
    with pytest.raises(OpeningError, match=says):
        break_glass(api, SETTINGS, zone=zone, binding=binding, why=why)
    assert all(method != "PATCH" for method, _, _ in api.asked)


def test_a_binding_that_is_not_there_is_not_made() -> None:
    with pytest.raises(OpeningError, match="not in the cluster"):
        break_glass(FakeApi(judge=lambda _body, _headers: WHO), SETTINGS, zone="workers", binding=None, why="x")


@pytest.mark.parametrize("hours", ["nan", "inf", "-inf", "1e400", "99999999999", "168.1", "-3", "0", "four", ""])
def test_a_time_that_is_none_is_refused_saying_which_are(
    hours: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operations.__main__.Api", _unreachable)
    with pytest.raises(SystemExit) as error:
        main(["break-glass", "lab", "--zone", "workers", "--why", "x", f"--hours={hours}"])
    assert error.value.code == 2
    assert f"--hours: `{hours}` is not a number of hours above 0 and up to 168" in capsys.readouterr().err


@pytest.mark.parametrize("hours", ["0.5", "168"])
def test_a_time_up_to_a_week_is_taken(hours: str, monkeypatch: pytest.MonkeyPatch) -> None:
    api = cluster(managed(("pulumi-kubernetes-1", "Apply")))
    monkeypatch.setattr("operations.__main__.Api", lambda _: api)
    assert main(["break-glass", "lab", "--zone", "workers", "--why", "x", "--hours", hours]) == 0


def _unreachable(_: str) -> None:
    pytest.fail("the cluster was asked")


def test_what_nobody_opened_is_not_open() -> None:
    assert opening(None) is None
    assert opening(BODY) is None
