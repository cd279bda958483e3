"""A sample of the mutants, in an order of its own, within a time limit: `make mutation` tries all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.guard.cel_syntax import SyntaxFaultError, parse
from tests.guard.mutants import changes
from tests.guard.mutation import run

if TYPE_CHECKING:
    from tests.guard.offline import Worker

SECONDS = float(os.environ.get("HYBRID_MUTATION_SECONDS", "30"))
"""Beside some that the requests take. CI gives 300, in which two quiet cores try them all."""

SEED = 1964
ENOUGH = 200
"""Mutants that a slow machine tries too."""


def test_every_mutant_of_a_sample_is_told_from_the_policy(worker: Worker) -> None:
    report = run(worker, SECONDS, SEED)
    assert report.survivors == []
    assert report.killed > ENOUGH


_AND = ["a || (b || c)", "a || (b && true)", "a || (true && c)"]


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("a == b", ["a != b"]),
        ("!a", ["a"]),
        ("a && b", ["a || b", "a && true", "true && b"]),
        (
            "a || (b && c)",
            [f"a || {other}" for other in ("(b || c)", "(b && true)", "(true && c)", "false")]
            + ["a && (b && c)", "false || (b && c)"],
        ),
        ("x.all(i, i.ok)", ["x.exists(i, i.ok)"]),
        ("has(a.b)", ["true", "false"]),
        ("a.?b.?c", ["a.b.?c"]),
        ("a.?b.orValue('x')", ["a.b.orValue('x')", "a.?b.value()"]),
        ("[?a.?b] + [c]", ["[] + [c]", "[a.?b.value()] + [c]", "[?a.b] + [c]", "[?a.?b] + []"]),
        ("a ? b : c", ["(b)", "(c)"]),
        ("a in ['x', 'y']", ["!(a in ['x', 'y'])", "a in ['x']", "a in ['y']"]),
        ("size(a) > 0", ["size(a) >= 0", "size(a) <= 0", "size(a) > 1"]),
        ("a.matches('^b && c$')", ["true", "false", "a.matches('b && c$')", "a.matches('^b && c')"]),
        ("{'a': b == c}", ["{'a': b != c}"]),
        ("a['b'] != -c", ["a['b'] == -c"]),
    ],
)
def test_an_expression_is_broken_in_every_place_once(text: str, broken: list[str]) -> None:
    assert sorted(change.applied(text) for change in changes(text)) == sorted(broken)


@pytest.mark.parametrize("text", ["a &&", "(a", "a b", "a ? b", "[a", "a.", "'x"])
def test_what_is_no_expression_is_an_error(text: str) -> None:
    with pytest.raises(SyntaxFaultError):
        parse(text)


def test_a_function_that_the_mutator_does_not_know_is_an_error() -> None:
    with pytest.raises(ValueError, match="it is not known how to break reverse"):
        changes("a.reverse()")
