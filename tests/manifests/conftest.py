"""What is started once: the offline evaluator of admission policies, and a guarded API server of each generation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.manifests import guard_rows as rows
from tests.manifests.live import UPSTREAM, Api, api_server, effective
from tests.manifests.shapes import GENERATIONS, Shapes, environment_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.environment import Generation

CHILD = Path(__file__).with_name("cel_child.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the rows of the other generation.

    Were they listed in pairs with the generations, each row would get an API server of its own.
    """
    items[:] = [item for item in items if not _of_another_generation(item)]


def _of_another_generation(item: pytest.Item) -> bool:
    given = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    row = given.get("row")
    return isinstance(row, rows.Row) and given.get("guarded", row.generations[0]) not in row.generations


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


@pytest.fixture(scope="session", params=GENERATIONS)
def guarded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, tools: None) -> Iterator[Api]:  # noqa: ARG001 - built first
    """Run an API server with the upstream CRDs of a generation, in which every policy is in force."""
    generation: Generation = request.param
    shapes = Shapes(generation)
    refused: dict[str, tuple[dict[str, Any], str | None]] = {
        row.policy: (row.refused(shapes), row.user) for row in rows.ROWS if generation in row.generations
    }
    secret = rows.SECRET_ROWS[0]
    refused[secret.policy] = (secret.refused(shapes), secret.user)
    folder = tmp_path_factory.mktemp(generation)
    with api_server(folder, UPSTREAM / generation, environment_of(generation), generation) as server:
        server.give_tenants_secrets()
        effective(server, refused)
        yield server
