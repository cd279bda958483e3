"""What a command says of a place that it can not write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from manifests.__main__ import main
from operations import __main__ as operations
from tests.manifests.examples import STACKS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOLDERS = (["render", "lab"], ["render-guard", "lab"])
FILES = (["policy-config", "lab"], ["tenant-kubeconfig", "lab-acme"])


@pytest.fixture
def below_a_file(tmp_path: Path) -> Path:
    file = tmp_path / "file"
    file.write_text("mine")
    return file / "out"


@pytest.mark.parametrize("command", FOLDERS)
def test_a_folder_that_can_not_be_made_is_named_with_why_and_what_to_write_instead(
    command: list[str], below_a_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--out", str(below_a_file), "--stacks", str(STACKS)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"OUT={below_a_file} can not be written: not a directory; name a folder that is new")
    assert "Errno" not in said
    assert below_a_file.parent.read_text() == "mine"


@pytest.mark.parametrize("command", FOLDERS)
def test_a_file_in_place_of_the_folder_is_left_alone(
    command: list[str], below_a_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--out", str(below_a_file.parent), "--stacks", str(STACKS)]) == 1
    assert "is not a folder; name a folder that is new" in capsys.readouterr().err
    assert below_a_file.parent.read_text() == "mine"


@pytest.fixture(params=FILES, ids=lambda command: command[0])
def wrong(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[Path], str]:
    """Give what a command says that can not write its file."""
    monkeypatch.setattr(operations, "tenant_kubeconfig", lambda _: {"kind": "Config"})
    command, stacks = request.param, ["--stacks", str(STACKS)]

    def run(out: Path) -> str:
        if command[0] == "tenant-kubeconfig":
            assert operations.main([*stacks, *command, "--out", str(out)]) == 1
        else:
            assert main([*command, *stacks, "--out", str(out)]) == 1
        return capsys.readouterr().err

    return run


@pytest.mark.parametrize(("place", "why"), [("missing/file", "no such file or directory"), (".", "is a directory")])
def test_a_file_that_can_not_be_written_is_named_with_why_and_what_to_write_instead(
    wrong: Callable[[Path], str], place: str, why: str, tmp_path: Path
) -> None:
    said = wrong(tmp_path / place)
    assert said.startswith(f"OUT={tmp_path / place} can not be written: {why}; name a file in a folder that is there")
    assert "Errno" not in said
    assert list(tmp_path.iterdir()) == []
