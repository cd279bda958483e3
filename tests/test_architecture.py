"""What may import what."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PURE = ("settings", "manifests", "operations", "ci")
PROGRAM = ("settings", "manifests", "components", "operations", "ci", "lab", "tests")


def _imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("package", PURE)
def test_what_is_pure_imports_no_pulumi(package: str) -> None:
    modules = ", ".join(
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for file in (ROOT / package).rglob("*.py")
        if file.name != "__main__.py"
    )
    program = (
        f"import {modules}, sys; sys.exit(', '.join(name for name in sys.modules if name.startswith('pulumi')) or None)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_policy_pack_shares_no_code_with_the_program() -> None:
    for file in (ROOT / "policy").rglob("*.py"):
        assert not _imports(file) & set(PROGRAM), file


@pytest.mark.parametrize(("package", "never"), [("settings", "manifests"), ("manifests", "components")])
def test_data_flows_one_way(package: str, never: str) -> None:
    for file in (ROOT / package).rglob("*.py"):
        assert never not in _imports(file), file


def test_the_program_needs_neither_the_lab_nor_what_lies_beside_the_project() -> None:
    for package in ("settings", "manifests", "components", "operations", "ci", "policy"):
        for file in (ROOT / package).rglob("*.py"):
            assert "lab" not in _imports(file), file
            assert "../shared" not in file.read_text(), file
