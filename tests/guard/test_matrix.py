"""The guard's case matrix: its verdicts are those of the policies and those of the plain reading of the promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from manifests.generations import GENERATIONS
from tests.guard.environments import full, guard
from tests.guard.matrix import matrix
from tests.guard.promise import Promise

if TYPE_CHECKING:
    from tests.guard.offline import Worker


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_case_has_its_verdict_and_its_message(worker: Worker, generation: str) -> None:
    environment = full(generation)
    promise, found = Promise(environment), matrix(environment)
    wrong = []
    refused = worker.judge(guard(environment), [request for _, request in found])
    for (case, request), refusals in zip(found, refused, strict=True):
        denied = case.verdict == "deny"
        by = {text.partition(": ")[0] for text in refusals}
        named = any(name.startswith(case.policy) for name in by)
        said = case.message is None or any(case.message in text for text in refusals)
        if (bool(refusals), bool(promise.broken(request))) != (denied, denied) or (denied and not (named and said)):
            wrong.append((case.name, case.policy, case.verdict, refusals, promise.broken(request)))
    assert wrong == []
    assert {case.verdict for case, _ in found} == {"admit", "deny"}
    assert {case.policy for case, _ in found} == {bound.policy for bound in guard(environment).bound}
