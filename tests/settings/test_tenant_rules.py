from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.settings.files import problems, said, write_edited
from tests.settings.tenant_cases import TENANT_CASES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.settings.cases import Case

CASES = pytest.mark.parametrize("case", TENANT_CASES, ids=lambda case: case.says)


@CASES
def test_a_tenant_is_refused_with_exactly_one_problem_at_the_place(case: Case, tmp_path: Path) -> None:
    write_edited(tmp_path, case.stack, case.always | case.bad)

    assert said(tmp_path, case.stack) == [(case.code, case.path)]
    assert case.fix in problems(tmp_path, case.stack)[0].fix


@CASES
def test_its_twin_beside_the_rule_is_accepted(case: Case, tmp_path: Path) -> None:
    write_edited(tmp_path, case.stack, case.always | case.good)

    assert said(tmp_path, case.stack) == []
