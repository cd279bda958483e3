"""The pack alone: its folder copied to an empty place, with an interpreter that has what it requires and no more."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import venv
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from tenant_isolation.config import table
from tenant_isolation.policy import tenant_isolation

from tests.conftest import ROOT
from tests.policy.analyzer import Analyzer
from tests.policy.cases import VM_, put
from tests.policy.conftest import PACK
from tests.policy.examples import CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUIRED = [line for line in (PACK / "requirements.txt").read_text().splitlines() if not line.startswith("#")]


def closure(requirements: list[str]) -> Iterator[str]:
    """Give the names of installed distributions that these require, and theirs."""
    todo, seen = list(requirements), set()
    while todo:
        wanted = Requirement(todo.pop())
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue  # one that comes with pip
        assert found.version in wanted.specifier
        todo += found.requires or []
        yield name


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Copy the pack, make an environment of what it requires, and give both the folder and the interpreter."""
    place = tmp_path_factory.mktemp("alone")
    shutil.copytree(PACK, place / "pack", ignore=shutil.ignore_patterns("__pycache__"))
    venv.create(place / "venv", with_pip=False, symlinks=True)
    (packages,) = (place / "venv" / "lib").glob("python3*/site-packages")
    for name in closure(REQUIRED):
        found = distribution(name)
        for top in {Path(str(file)).parts[0] for file in found.files or () if not str(file).startswith("..")}:
            if not (packages / top).exists():
                (packages / top).symlink_to(str(found.locate_file(top)))
    return place / "pack", place / "venv" / "bin" / "python"


def test_it_runs_with_nothing_but_what_it_requires(alone: tuple[Path, Path]) -> None:
    folder, python = alone
    for name in ("pydantic", "ruamel.yaml", "pulumi_proxmoxve", "kubernetes"):
        done = subprocess.run([python, "-c", f"import {name}"], cwd=folder, capture_output=True, check=False)
        assert done.returncode != 0, name
    with Analyzer(folder, python) as analyzer:
        (policy,) = analyzer.info().policies
        assert policy.name == "tenant-isolation"
        analyzer.configure(CONFIG)
        assert analyzer.analyze(VM_.token, VM_.props, VM_.provider) == []
        (message,) = analyzer.analyze(VM_.token, put(VM_.props, "networkDevices.0.vlanId", 201), VM_.provider)
        assert "asks for VLAN 201 on bridge vmbr1." in message


def test_its_requirements_are_those_of_the_project() -> None:
    pinned = (ROOT / "requirements.txt").read_text()
    assert [line.partition("==")[0] for line in REQUIRED] == ["pulumi", "pulumi-policy"]
    for line in REQUIRED:
        assert f"\n{line} " in f"\n{pinned}"


def test_it_is_one_resource_policy() -> None:
    with Analyzer(PACK, Path(sys.executable)) as analyzer:
        assert len(analyzer.info().policies) == 1
    assert tenant_isolation().name == "tenant-isolation"


def test_the_example_of_a_config_is_that_of_the_lab_and_can_be_read() -> None:
    written = json.loads((PACK / "example-config.json").read_text())
    assert {stack.tenant for stack in table(written["tenant-isolation"]).stacks.values()} == {"", "acme", "globex"}
    assert written["all"] == "mandatory"
