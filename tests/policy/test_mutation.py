"""A sample of the mutants of the pack, in an order of its own, within a time limit: `make mutation-pack` tries all."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING

import pytest

from tests.policy.mutants import mutants
from tests.policy.mutation import ENOUGH, run

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = float(os.environ.get("HYBRID_PACK_MUTATION_SECONDS", "20"))
SEED = 1964
TRIED = 50
"""Mutants that a slow machine tries too."""


def test_nearly_every_mutant_of_a_sample_changes_a_verdict_that_is_tested() -> None:
    report = run(SECONDS, SEED)
    assert report.killed > TRIED
    assert report.score >= ENOUGH, str(report)


@pytest.mark.parametrize(
    ("source", "broken"),
    [
        ("x = a == 'b'", ["x = a != 'b'", "x = a == 'bx'"]),
        ("x = 1 <= n", ["x = 1 < n", "x = 1 > n", "x = 2 <= n"]),
        ("x = a and b", ["x = a or b", "x = True and b", "x = a and True"]),
        ("x = not a", ["x = a"]),
        ("x = c if a else b", ["x = c if True else b", "x = c if False else b"]),
        ("x = [i for i in a if i]", ["x = [i for i in a]"]),
        ("x = isinstance(a, b)", ["x = True", "x = False"]),
        ("x = any(a)", ["x = all(a)"]),
        ("x = read(a, 'b')", ["x = read(a, 'bX')"]),
        ("x = words('a b')", ["x = words('b')", "x = words('a')"]),
        ("x = [*a, *b]", ["x = [*b]", "x = [*a]"]),
        ("x = {'a': b}", ["x = {}"]),
        ("x += a", ["pass"]),
        ("a.append(b)", ["pass"]),
        ("x = f'{a == b}'", []),
        ("x: int = 1 if a else 2", ["x: int = 1 if True else 2", "x: int = 1 if False else 2"]),
        ("if a:\n    x = 1", ["if True:\n    x = 1", "if False:\n    x = 1"]),
        ("def f():\n    yield a", ["def f():\n    yield from ()"]),
        ("def f() -> tuple[None, int]:\n    return g(a)", ["def f():\n    return []"]),
        ("def shown(a):\n    return a == b", []),
    ],
)
def test_a_module_is_broken_in_every_place_once(tmp_path: Path, source: str, broken: list[str]) -> None:
    file = tmp_path / "module.py"
    file.write_text(source)
    assert [ast.unparse(mutant.tree) for mutant in mutants(file)] == broken


def test_no_two_mutants_have_one_name(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("x = a == b\ny = a == b\n")
    assert [mutant.key for mutant in mutants(file)] == [
        "module.module: a == b -> NotEq",
        "module.module: a == b -> NotEq [1]",
    ]
