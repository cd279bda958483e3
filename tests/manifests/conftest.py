"""The offline evaluator of admission policies, started once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

CHILD = Path(__file__).with_name("cel_child.py")


class Evaluator:
    """Answers what a policy says to a request."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Speak to a running child."""
        self._process = process

    def ask(self, **asked: Any) -> dict[str, Any]:
        """Give {"skipped": bool, "refusals": [{"message", "reason"}]}."""
        if self._process.stdin is None or self._process.stdout is None:
            pytest.fail("the evaluator has no pipes")
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            pytest.fail(f"the evaluator ended with {self._process.wait()}")
        found: dict[str, Any] = json.loads(answer)
        return found


@pytest.fixture(scope="session")
def evaluator() -> Iterator[Evaluator]:
    """Start the evaluator, a process of its own, and end it."""
    command = [sys.executable, str(CHILD)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Evaluator(process)
        if process.stdin is not None:
            process.stdin.close()
        process.wait(timeout=30)
