"""The same rows, asked of each policy alone without an API server: a refusal is that policy's own doing."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from manifests.isolation import policies
from tests.manifests import guard_rows as rows
from tests.manifests.shapes import GENERATIONS, Shapes, environment_of

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Generation
    from tests.manifests.conftest import Evaluator

Body = dict[str, Any]
ALL = [(generation, row) for row in [*rows.ROWS, *rows.SECRET_ROWS] for generation in row.generations]


@cache
def environment(generation: Generation) -> dict[str, Manifest]:
    return environment_of(generation)


def refusals(evaluator: Evaluator, generation: Generation, policy: str, body: Body, user: str | None) -> list[str]:
    """Give what a policy says to the creation of an object, with each of its parameters."""
    found = environment(generation)
    spec = found[f"ValidatingAdmissionPolicy/{policy}"].body["spec"]
    kind = spec.get("paramKind", {}).get("kind")
    params: list[Body | None] = [item.body for item in found.values() if item.kind == kind]
    request = {"namespace": body["metadata"]["namespace"], "userInfo": {"username": user or "admin"}}
    answers = [
        evaluator.ask(policy=spec, object=body, oldObject=None, request=request, params=each)["refusals"]
        for each in params or [None]
    ]
    assert all(item["reason"] == "Invalid" for answer in answers for item in answer), answers
    return [item["message"] for answer in answers for item in answer]


@pytest.mark.parametrize(("generation", "row"), ALL, ids=lambda item: getattr(item, "says", item))
def test_a_row_is_refused_by_its_policy_and_its_twin_by_none(
    evaluator: Evaluator, generation: Generation, row: rows.Row
) -> None:
    shapes = Shapes(generation)
    said = refusals(evaluator, generation, row.policy, row.refused(shapes), row.user)
    assert any(row.said in message for message in said), said
    if row.also:
        assert refusals(evaluator, generation, row.also, row.refused(shapes), row.user)
    twin = row.twin(shapes)
    for policy in policies(generation):
        spec = environment(generation)[f"ValidatingAdmissionPolicy/{policy}"].body["spec"]
        (rule,) = spec["matchConstraints"]["resourceRules"]
        if f"{twin['kind'].lower()}s" in rule["resources"]:
            assert refusals(evaluator, generation, policy, twin, row.twin_user) == [], policy


def test_every_policy_of_a_generation_has_a_row() -> None:
    for generation in GENERATIONS:
        assert {row.policy for each, row in ALL if each == generation} == set(policies(generation))
