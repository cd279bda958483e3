"""What the audit calls right, wrong and not checked."""

from __future__ import annotations

import base64
import json
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from manifests.guard_cases import cases
from manifests.policies.parts import BINDING, POLICY
from operations.answers import answered
from operations.api import CREATED, Answer, UnreadableError
from operations.asking import Verdict, ask, copy_of
from operations.audit import bindings, failed
from operations.controllers import controllers
from operations.finding import ANSWER, Finding
from operations.rendered import guard_objects, of_kind, plain
from operations.table import show
from tests.manifests.examples import environment
from tests.operations.fakes import FakeApi, refusal, warning

SETTINGS = environment()
NOW = datetime(2026, 1, 1, tzinfo=UTC)
NAME = "hybrid-zone-machines-workers"
CASES = cases(SETTINGS.environment, "lab")
DENY = next(case for case in CASES if case.verdict == "deny" and case.policy == "hybrid-zone-machines")
ADMIT = replace(DENY, verdict="admit")
USER = SETTINGS.environment.management.controllers.capmox
DEPLOYMENTS = "/apis/apps/v1/namespaces/capmox-system/deployments"


def verdict(answer: Answer) -> Verdict:
    return ask(FakeApi(judge=lambda _body, _headers: answer), DENY.body)


REFUSED, WARNED = refusal(DENY.policy, NAME), warning(DENY.policy, NAME)
ADMITTED, TAKEN, NOWHERE = Answer(CREATED, {}), Answer(409, {"message": "exists"}), Answer(404, {"message": "no ns"})
NOT_READY = refusal(DENY.policy, NAME, "failed to configure policy: no matches")
ELSEWHERE = Answer(400, {"message": "strict decoding error"})


@pytest.mark.parametrize(
    ("case", "answer", "enforced", "wanted"),
    [
        (DENY, REFUSED, True, "ok"),
        (DENY, ADMITTED, True, "WRONG"),
        (DENY, TAKEN, True, "WRONG"),
        (DENY, WARNED, True, "WRONG"),
        (DENY, WARNED, False, "ok"),
        (DENY, ELSEWHERE, True, "not checked"),
        (DENY, NOWHERE, True, "not checked"),
        (DENY, NOT_READY, True, "WRONG"),
        (ADMIT, ADMITTED, True, "ok"),
        (ADMIT, TAKEN, True, "ok"),
        (ADMIT, REFUSED, True, "WRONG"),
        (ADMIT, WARNED, False, "WRONG"),
        (ADMIT, ELSEWHERE, True, "not checked"),
        (ADMIT, NOT_READY, True, "WRONG"),
    ],
)
def test_an_answer_is_right_or_wrong_by_what_must_come(case: Any, answer: Answer, enforced: bool, wanted: str) -> None:  # noqa: FBT001 - a row of the table
    assert answered(case, verdict(answer), {NAME: enforced})[0] == wanted


def test_a_question_changes_nothing_and_asks_pools_to_be_judged() -> None:
    api = FakeApi(judge=lambda _body, _headers: ADMITTED)
    pool = next(case.body for case in CASES if case.policy == "hybrid-pools")
    before = deepcopy(pool)
    ask(api, pool)
    ((method, _, sent),) = api.asked
    assert (method, sent["query"]["dryRun"]) == ("POST", "All")
    assert "hybrid.cozystack.io/judge" in sent["body"]["metadata"]["annotations"]
    assert pool == before


def test_a_question_of_another_user_keeps_the_rights_of_who_asks() -> None:
    seen: list[Any] = []

    def judge(_: Any, headers: Any) -> Answer:
        seen.append(headers)
        return ADMITTED

    ask(FakeApi(judge=judge), DENY.body, "somebody")
    assert seen == [{"Impersonate-User": "somebody", "Impersonate-Group": "system:masters"}]


def test_a_live_object_is_asked_about_as_if_it_were_new() -> None:
    live = {
        "kind": "ProxmoxMachine",
        "metadata": {"name": "m", "namespace": "n", "uid": "u", "resourceVersion": "1", "finalizers": ["f"]},
        "spec": {"providerID": "p", "virtualMachineID": 1, "network": {}},
        "status": {"ready": True},
    }
    before = deepcopy(live)
    wanted = {"kind": "ProxmoxMachine", "metadata": {"name": "m", "namespace": "n"}, "spec": {"network": {}}}
    assert copy_of(live) == wanted
    assert live == before


def _live() -> dict[str, Any]:
    return {name: json.loads(json.dumps(item.body)) for name, item in of_kind(guard_objects(SETTINGS), BINDING).items()}


def _wrong(live: dict[str, Any]) -> dict[str, str]:
    return {item.what: item.detail for item in bindings(SETTINGS, live, NOW) if item.outcome == "WRONG"}


def test_bindings_as_the_program_writes_them_are_right() -> None:
    assert _wrong(_live()) == {}
    shuffled = _live()
    shuffled[NAME]["spec"]["validationActions"].reverse()
    assert _wrong(shuffled) == {}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"validationActions": ["Audit", "Warn"]}, "validationActions is ['Audit', 'Warn'], not ['Deny', 'Audit']"),
        ({"paramRef": {"name": "workers", "parameterNotFoundAction": "Allow"}}, "paramRef"),
        ({"policyName": "other"}, "policyName"),
        ({"matchResources": {"namespaceSelector": {"matchLabels": {"a": "b"}}}}, "matchResources"),
    ],
)
def test_a_changed_binding_is_wrong_and_says_what_differs(change: dict[str, Any], says: str) -> None:
    live = _live()
    live[NAME]["spec"].update(change)
    assert says in _wrong(live)[NAME]


def test_a_missing_binding_is_wrong() -> None:
    live = _live()
    del live[NAME]
    assert set(_wrong(live)) == {NAME}


@pytest.mark.parametrize(("until", "over"), [("2026-01-01T01:00:00+00:00", False), ("2025-12-31T23:00:00+00:00", True)])
def test_an_opened_binding_is_wrong_and_says_who_why_and_until_when(until: str, over: bool) -> None:  # noqa: FBT001 - a row of the table
    live = _live()
    prefix = "hybrid.cozystack.io/opened-"
    live[NAME]["metadata"]["annotations"] = {f"{prefix}by": "eve", f"{prefix}because": "fire", f"{prefix}until": until}
    detail = _wrong(live)[NAME]
    assert f"opened by eve until {until}: fire" in detail
    assert ("that is over" in detail) == over


def test_what_the_api_server_adds_to_a_policy_is_no_difference_but_a_condition_is() -> None:
    policy = of_kind(guard_objects(SETTINGS), POLICY)["hybrid-zone-machines"].body["spec"]
    found = deepcopy(dict(policy))
    found["matchConstraints"] |= {"namespaceSelector": {}, "objectSelector": {}}
    found["matchConstraints"]["resourceRules"][0]["scope"] = "*"
    assert plain(found) == plain(policy)
    found["matchConditions"] = [{"name": "never", "expression": "false"}]
    assert plain(found) != plain(policy)
    del found["matchConditions"]
    found["matchConstraints"]["objectSelector"] = {"matchLabels": {"a": "b"}}
    assert plain(found) != plain(policy)


def _deployment(**container: Any) -> dict[str, Any]:
    template = {"spec": {"serviceAccountName": "capmox-controller-manager", "containers": [container]}}
    return {DEPLOYMENTS: {"items": [{"metadata": {"name": "capmox"}, "spec": {"template": template}}]}}


def _reference(key: str = "url") -> dict[str, Any]:
    return {"name": "PROXMOX_URL", "valueFrom": {"secretKeyRef": {"name": "s", "key": key}}}


SECRET = "/api/v1/namespaces/capmox-system/secrets/s"
FULL = {SECRET: {"data": {"url": base64.b64encode(b"https://pve").decode(), "empty": ""}}}
ENV_SECRET = {SECRET: {"data": {"PROXMOX_TOKEN": base64.b64encode(b"swordfish").decode()}}}


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        ({}, "not checked"),
        ({DEPLOYMENTS: {"items": []}}, "not checked"),
        (_deployment(), "ok"),
        (_deployment(env=[{"name": "OTHER", "value": "x"}]), "ok"),
        (_deployment(env=[{"name": "PROXMOX_URL", "value": ""}]), "ok"),
        (_deployment(env=[{"name": "PROXMOX_URL", "value": "https://pve"}]), "WRONG"),
        (_deployment(env=[_reference()]) | FULL, "WRONG"),
        (_deployment(env=[_reference("empty")]) | FULL, "ok"),
        (_deployment(env=[_reference()]), "ok"),
        (_deployment(env=[_reference()]) | {SECRET: UnreadableError("403")}, "not checked"),
        (_deployment(envFrom=[{"secretRef": {"name": "s"}}]) | ENV_SECRET, "WRONG"),
        (_deployment(envFrom=[{"secretRef": {"name": "s"}, "prefix": "X_"}]) | ENV_SECRET, "ok"),
    ],
)
def test_capmox_must_not_have_credentials_of_its_own(found: dict[str, Any], outcome: str) -> None:
    ((_, said, detail),) = controllers(FakeApi(found), USER)
    assert said == outcome
    assert "swordfish" not in detail


def test_a_capmox_that_is_no_service_account_is_not_checked() -> None:
    assert [line[1] for line in controllers(FakeApi(_deployment()), "capmox")] == ["not checked"]


def test_the_table_shows_details_of_what_is_wrong_and_counts() -> None:
    findings = [
        Finding("binding", "b", "ok", "Deny"),
        Finding("policy", "p", "WRONG", "gone"),
        Finding("x", "y", "not checked"),
    ]
    text = show(findings)
    assert "gone" in text
    assert text.endswith("1 wrong, 1 not checked, 1 as they must be; docs/guard.md says what to do")
    assert failed(findings)
    assert not failed(findings[:1])
    assert json.loads(show(findings, as_json=True))[1] == {
        "part": "policy",
        "what": "p",
        "outcome": "WRONG",
        "detail": "gone",
        "group": "",
    }


def test_rows_of_one_group_are_one_line_with_their_number_and_an_example_and_json_has_every_row() -> None:
    where, why = "tenant-acme g/v1", "must be refused, was admitted"
    rows = [Finding("p", f"{where}: case {n}", "WRONG", why, f"{where}: {why}") for n in range(56)]
    others = [
        Finding("q", f"{where}: case 0", "WRONG", why, f"{where}: {why}"),
        Finding("p", "alone", "WRONG", "gone"),
        Finding("p", "alone too", "WRONG", "gone"),
        Finding("p", f"{where}: fine", "ok", "", f"{where}: {why}"),
    ]
    said = "59 wrong, 0 not checked, 1 as they must be; docs/guard.md says what to do"
    lines = show([*rows, *others]).splitlines()
    assert [line.split() for line in lines] == [
        f"ok p {where}: fine".split(),
        f"WRONG p {where}: {why} (56 times)".split(),
        ["for", "example", "case", "0"],
        f"WRONG q {where}: case 0".split(),
        why.split(),
        ["WRONG", "p", "alone"],
        ["gone"],
        ["WRONG", "p", "alone", "too"],
        ["gone"],
        said.split(),
    ]
    assert len(json.loads(show([*rows, *others], as_json=True))) == 60


def test_an_example_keeps_the_servers_answer() -> None:
    where, why = "tenant-acme g/v1", "must be admitted, was refused by b"
    rows = [Finding("p", f"{where}: case {n}", "WRONG", f"{why}{ANSWER}no {n}", f"{where}: {why}") for n in range(2)]
    assert [line.strip() for line in show(rows).splitlines()[:2]] == [
        f"WRONG  p  {where}: {why} (2 times)",
        "for example case 0; the answer: no 0",
    ]


@pytest.mark.parametrize(
    ("case", "answer", "says"),
    [
        (DENY, ADMITTED, "must be refused, was admitted"),
        (DENY, WARNED, f"must be refused, was admitted with a warning by {NAME}"),
        (ADMIT, REFUSED, f"must be admitted, was refused by {NAME}; the answer: no"),
        (ADMIT, WARNED, f"must be admitted, was warned about by {NAME}; the answer: "),
        (DENY, NOWHERE, "something else than the guard answered first, HTTP 404; the answer: no ns"),
    ],
)
def test_an_answer_that_is_wrong_says_what_must_come_and_what_came(case: Any, answer: Answer, says: str) -> None:
    assert answered(case, verdict(answer), {NAME: True})[1].startswith(says)
