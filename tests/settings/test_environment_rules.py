from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.settings.cases import ENVIRONMENT_CASES, Case
from tests.settings.files import edited, problems, said

if TYPE_CHECKING:
    from pathlib import Path

CASES = pytest.mark.parametrize("case", ENVIRONMENT_CASES, ids=lambda case: case.says)


@CASES
def test_an_environment_is_refused_with_exactly_one_problem_at_the_place(case: Case, tmp_path: Path) -> None:
    edited(tmp_path, "lab", case.always | case.bad)

    assert said(tmp_path, "lab") == [(case.code, case.path)]
    assert case.fix in problems(tmp_path, "lab")[0].fix


@CASES
def test_its_twin_beside_the_rule_is_accepted(case: Case, tmp_path: Path) -> None:
    edited(tmp_path, "lab", case.always | case.good)

    assert said(tmp_path, "lab") == []
