"""The offline evaluator, started once for the tests of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.guard.offline import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """Start the evaluator, and end it."""
    with Worker() as worker:
        yield worker
