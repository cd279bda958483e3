"""What is asked after a change, and how long."""

from __future__ import annotations

import itertools
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from manifests.common import ADMISSION
from manifests.isolation import policies
from manifests.policies.parts import BINDING
from operations import canaries as module
from operations.api import CREATED, Answer, collection
from operations.canaries import NotInForceError, policy_canaries, wait, zone_canaries
from operations.rendered import guard_objects, of_kind
from tests.manifests.examples import Changes, environment
from tests.operations.fakes import FakeApi, refusal, warning

SETTINGS = environment()
NETWORKS = "zones.workers.networks"
BINDINGS = collection(ADMISSION, BINDING)
ADMITTED = Answer(CREATED, {})


def zone(changes: Changes | None = None) -> dict[str, Any]:
    """Give the inputs of the zone object of the environment, changed."""
    return deepcopy(of_kind(guard_objects(environment(changes)), "ProxmoxNetworkZone")["workers"].body)


def asked(changes: Changes) -> set[tuple[str, bool]]:
    """Give what is asked after the zone was as `changes` say."""
    return {(canary.text, canary.refused) for canary in zone_canaries(SETTINGS, "workers", zone(changes))}


def test_without_a_change_one_row_is_asked_about() -> None:
    assert asked({}) == {
        ("VLAN 201 on vmbr1 in namespace tenant-acme", False),
        ("VLAN 201 on vmbr1 in namespace default", True),
        ("pool tenant-acme/acme-lab with addresses 10.201.0.20-10.201.0.199", False),
        ("pool tenant-acme/acme-lab with addresses 10.201.0.1", True),
    }
    assert {(c.text, c.refused) for c in zone_canaries(SETTINGS, "workers")} == asked({})


def test_a_changed_range_is_asked_about_with_the_old_one_to_be_refused() -> None:
    found = asked({f"{NETWORKS}.globex-lab.range": "10.202.0.20-10.202.0.99"})
    assert ("pool tenant-globex/globex-lab with addresses 10.202.0.20-10.202.0.199", False) in found
    assert ("pool tenant-globex/globex-lab with addresses 10.202.0.20-10.202.0.99", True) in found
    assert not any("acme" in text for text, _ in found)


def test_a_new_row_is_asked_about() -> None:
    found = asked({f"{NETWORKS}.acme-dc": None})
    assert ("VLAN 301 on vmbr1 in namespace tenant-acme", False) in found
    assert ("VLAN 301 on vmbr1 in namespace default", True) in found


def test_a_row_that_is_gone_must_be_refused_to_whom_it_was_given() -> None:
    row = {"tenant": "acme", "location": "lab", "vlan": 400, "cidr": "10.40.0.0/24", "gateway": "10.40.0.1"}
    found = asked({f"{NETWORKS}.old": {**row, "range": "10.40.0.20-10.40.0.99"}})
    assert found == {("VLAN 400 on vmbr1 in namespace tenant-acme, which no longer has it", True)}


def test_every_policy_without_a_zone_has_a_refusal_and_its_twin() -> None:
    names = policies("capi-1.10")
    found = policy_canaries(SETTINGS, names)
    for name in set(names) - {"hybrid-zone-machines", "hybrid-pools"}:
        assert sorted(canary.refused for canary in found if canary.binding == name) == [False, True], name


def cluster(answers: list[Answer], actions: list[str] | None = None) -> FakeApi:
    """Give an API server that answers one request after the other, the last for ever."""
    following = itertools.chain(answers, itertools.repeat(answers[-1]))
    body = {"metadata": {"name": "hybrid-zone-machines-workers"}, "spec": {"validationActions": actions or ["Deny"]}}
    return FakeApi({BINDINGS: {"items": [body]}}, lambda _body, _headers: next(following))


REFUSED = refusal("hybrid-zone-machines", "hybrid-zone-machines-workers")
WARNED = warning("hybrid-zone-machines", "hybrid-zone-machines-workers")
OTHER = refusal("hybrid-closed-bridges")
NOT_READY = refusal("hybrid-zone-machines", "hybrid-zone-machines-workers", "failed to configure policy")
(CANARY,) = [
    canary
    for canary in zone_canaries(SETTINGS, "workers")
    if canary.refused and canary.policies == ("hybrid-zone-machines",)
]


@pytest.mark.parametrize(
    ("answers", "actions", "requests"),
    [
        ([REFUSED], ["Deny", "Audit"], 1),
        ([ADMITTED, OTHER, NOT_READY, WARNED, REFUSED], ["Deny", "Audit"], 5),
        ([ADMITTED, WARNED], ["Audit", "Warn"], 2),
    ],
)
def test_it_asks_until_the_policy_itself_refuses_or_in_audit_mode_warns(
    answers: list[Answer], actions: list[str], requests: int
) -> None:
    api = cluster(answers, actions)
    wait(api, [CANARY], pause=lambda _: None)
    assert sum(method == "POST" for method, _, _ in api.asked) == requests


def test_the_twin_is_waited_for_until_it_passes() -> None:
    (twin,) = [
        canary
        for canary in zone_canaries(SETTINGS, "workers")
        if not canary.refused and canary.policies == ("hybrid-zone-machines",)
    ]
    api = cluster([REFUSED, NOT_READY, ADMITTED])
    wait(api, [twin], pause=lambda _: None)
    assert sum(method == "POST" for method, _, _ in api.asked) == 3


def test_what_is_not_bound_is_not_waited_for() -> None:
    api = FakeApi({BINDINGS: {"items": []}})
    assert wait(api, [CANARY]) < 1
    assert [method for method, _, _ in api.asked] == ["GET"]


def test_after_the_time_limit_the_error_says_what_was_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 0.0)
    with pytest.raises(NotInForceError, match="hybrid-zone-machines-workers must refuse “VLAN 201") as error:
        wait(cluster([ADMITTED]), [CANARY], pause=lambda _: None)
    assert "it passes" in str(error.value)


def test_a_namespace_that_is_not_there_is_not_waited_for() -> None:
    wait(cluster([Answer(404, {"message": "namespaces not found"})]), [CANARY], pause=lambda _: None)


def test_a_refusal_by_a_policy_that_still_judges_as_before_hides_the_one_that_is_asked_about() -> None:
    hidden = replace(CANARY, others=frozenset({"hybrid-closed-bridges"}))
    api = cluster([ADMITTED, OTHER])
    wait(api, [hidden], pause=lambda _: None)
    assert sum(method == "POST" for method, _, _ in api.asked) == 2
