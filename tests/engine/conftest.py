"""The lab of the engine tests: the demo has run in it once."""

from __future__ import annotations

import io
import shutil
from typing import TYPE_CHECKING

import pytest

from lab import cluster, conversion
from lab.demo import run as demo_run
from lab.demo import shell
from lab.layout import Layout
from tests.conftest import ROOT
from tests.engine.harness import EngineLab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def layout(tmp_path_factory: pytest.TempPathFactory, tools: None) -> Iterator[Layout]:  # noqa: ARG001 - built first
    """Give an empty lab of the tests' own, taken down at the end."""
    found = Layout(ROOT, tmp_path_factory.mktemp("lab"))
    yield found
    cluster.stop(found.cluster)
    conversion.stop(found.cluster)
    shutil.rmtree(found.home, ignore_errors=True)  # the last test has removed it


@pytest.fixture(scope="session")
def demo_output(layout: Layout, crds: Path | None) -> str:
    """Run the whole demo in the tests' lab and give what it printed."""
    printed = io.StringIO()
    shell.console.file, shell.console.width = printed, 200
    try:
        demo_run.demo(layout, crds)
    except Exception as error:  # noqa: BLE001 - what it printed says more than the error
        pytest.fail(f"the demo stopped: {error}\n{printed.getvalue()[-6000:]}", pytrace=False)
    return printed.getvalue()


@pytest.fixture(scope="session")
def lab(layout: Layout, demo_output: str) -> EngineLab:
    """Give the lab with everything that the demo made."""
    api = cluster.running(layout.cluster)
    assert api is not None
    return EngineLab(layout, api, [demo_output])
