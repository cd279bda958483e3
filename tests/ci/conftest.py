"""A repository of this project that all tests here share: it only grows, and no test looks at another's branches."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from ci.git import Repository
from tests.ci.repository import Repo

if TYPE_CHECKING:
    import pathlib


@pytest.fixture(scope="session")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Give the repository; `repo.base` is the protected branch."""
    folder: pathlib.Path = tmp_path_factory.mktemp("ci") / "repo"
    return Repo.of_project(folder)


@pytest.fixture(scope="session")
def repository(repo: Repo) -> Repository:
    """Give it as the commands read it."""
    return Repository(repo.folder)


@pytest.fixture
def clone(repo: Repo, tmp_path: pathlib.Path) -> pathlib.Path:
    """Give a clone of the protected branch, as a runner has it, that uses the packages here."""
    folder = tmp_path / "clone"
    repo.git("clone", "--quiet", "--branch", "main", str(repo.folder), str(folder))
    (folder / ".venv").symlink_to(sys.prefix)
    return folder
