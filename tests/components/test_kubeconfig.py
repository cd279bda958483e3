"""The kubeconfig is looked at before anything is registered."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pulumi
import pytest

from components.kubeconfig import require_context

if TYPE_CHECKING:
    from pathlib import Path


def _file(path: Path, *contexts: str) -> str:
    path.write_text(json.dumps({"contexts": [{"name": name} for name in contexts]}))
    return str(path)


def test_a_context_in_any_file_of_kubeconfig_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [_file(tmp_path / "one", "other"), _file(tmp_path / "two", "lab-acme")]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(files))
    require_context("lab-acme", "never said")


@pytest.mark.parametrize("content", [None, "", "[", "contexts: null", "contexts: [3]", "just text"])
def test_without_the_context_the_run_stops_with_what_to_do(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("KUBECONFIG", str(file))
    with pytest.raises(pulumi.RunError) as stopped:
        require_context("lab-acme", "run this first")
    assert str(stopped.value) == f"{file} has no context lab-acme: run this first"


def test_without_kubeconfig_the_file_in_the_home_folder_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".kube").mkdir()
    _file(tmp_path / ".kube" / "config", "lab-acme")
    require_context("lab-acme", "never said")
