from __future__ import annotations

import pytest

from tests.settings.cases import ENVIRONMENT_CASES, Case
from tests.settings.files import edited, of_environment

CASES = pytest.mark.parametrize("case", ENVIRONMENT_CASES, ids=lambda case: case.says)


@CASES
def test_an_environment_is_refused_with_exactly_one_problem_at_the_place(case: Case) -> None:
    found = of_environment(edited("lab", case.always | case.bad)["lab"])

    assert [(problem.code, problem.path) for problem in found] == [(case.code, case.path)]
    assert case.fix in found[0].fix


@CASES
def test_its_twin_beside_the_rule_is_accepted(case: Case) -> None:
    assert of_environment(edited("lab", case.always | case.good)["lab"]) == []
