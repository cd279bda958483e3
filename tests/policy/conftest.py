"""The pack as the tests see it: its modules importable, and one running analyzer for all of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

PACK = Path(__file__).parents[2] / "policy"
sys.path.insert(0, str(PACK))  # as the engine has it: the pack's folder is on the import path

from tests.guard.offline import Worker  # noqa: E402 - likewise
from tests.policy.analyzer import Analyzer  # noqa: E402 - it imports the pack's modules
from tests.policy.examples import CONFIG  # noqa: E402 - likewise

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def running() -> Iterator[Analyzer]:
    with Analyzer(PACK) as analyzer:
        yield analyzer


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """Start the evaluator of the guard's policies, and end it."""
    with Worker() as worker:
        yield worker


@pytest.fixture
def analyzer(running: Analyzer) -> Analyzer:
    running.configure(CONFIG)
    return running
