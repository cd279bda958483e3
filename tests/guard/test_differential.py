"""The policies' CEL against a plain reading of the promise: the same verdict on any request to any environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.guard.draws import Draw
from tests.guard.environments import drawn, guard
from tests.guard.promise import Promise

if TYPE_CHECKING:
    from random import Random

    from tests.guard.environments import Body
    from tests.guard.offline import Worker

REQUESTS = 12
"""Requests to each drawn environment: its policies are compiled once for all of them."""


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(drawn(), st.randoms(use_true_random=False))
def test_the_policies_say_what_the_promise_says(worker: Worker, environment: Body, random: Random) -> None:
    draw, promise = Draw(random, environment), Promise(environment)
    requests = [draw.request() for _ in range(REQUESTS)]
    for request, refusals in zip(requests, worker.judge(guard(environment), requests), strict=True):
        broken = promise.broken(request)
        assert bool(refusals) == bool(broken), (request, refusals, broken)
        for item in broken:
            assert any(all(word in text for word in item.words) for text in refusals), (request, refusals, item)
        assert not any(": error: " in text for text in refusals), (request, refusals)
