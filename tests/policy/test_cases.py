"""Each rule's cases, through the SDK's analyzer as the engine speaks to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.policy.cases import tenant_cases
from tests.policy.environment_cases import environment_cases

if TYPE_CHECKING:
    from tests.policy.analyzer import Analyzer
    from tests.policy.cases import Case

CASES = [*tenant_cases(), *environment_cases()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:120])
def test_a_resource_gets_the_verdict_of_its_case(analyzer: Analyzer, case: Case) -> None:
    example = case.example
    messages = analyzer.analyze(
        example.token, example.props, example.provider, stack=example.stack, provider_name=case.provider_name
    )
    if case.says is None:
        assert messages == []
    else:
        assert any(case.says in message for message in messages), messages
