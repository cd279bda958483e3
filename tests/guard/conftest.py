"""The offline evaluator, started once for the tests of this folder."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

from tests.guard.offline import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """Start the evaluator, and end it."""
    if importlib.util.find_spec("cel_expr_python") is None:
        pytest.skip("cel-expr-python is not installed: policies are judged by the API server alone")
    with Worker() as worker:
        yield worker
