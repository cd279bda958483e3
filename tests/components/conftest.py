"""Runs of the example stacks: each once with every output known, once with none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.components.examples import example

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.engine import Run


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seed ISOs are written below the working directory."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """No management cluster is read: what a run reads of one is tested in tests/operations."""

    async def nothing(_: object) -> None:
        """Give no guard."""

    monkeypatch.setattr("components.guard.prepare", nothing)


@pytest.fixture(autouse=True)
def _kubeconfig(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every stack of the examples finds its context."""
    file = tmp_path_factory.mktemp("kubeconfig") / "config"
    contexts = [{"name": name} for name in ("cozystack-lab", "lab-acme", "lab-globex")]
    file.write_text(json.dumps({"contexts": contexts}))
    monkeypatch.setenv("KUBECONFIG", str(file))


@pytest.fixture(params=[False, True], ids=["known", "unknown"])
def unknown(request: pytest.FixtureRequest) -> bool:
    """Say whether no output is known."""
    return bool(request.param)


@pytest.fixture
def lab(unknown: bool) -> Run:  # noqa: FBT001 - a fixture
    """Run the example environment."""
    return example("lab", unknown=unknown)


@pytest.fixture
def acme(unknown: bool) -> Run:  # noqa: FBT001 - a fixture
    """Run tenant acme: a pool of each backend."""
    return example("lab-acme", unknown=unknown)


@pytest.fixture
def globex(unknown: bool) -> Run:  # noqa: FBT001 - a fixture
    """Run tenant globex: one pool of VMs on two nodes."""
    return example("lab-globex", unknown=unknown)
