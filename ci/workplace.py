"""A clean tree of the base for each stack, in a private folder that is gone afterwards."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci import tree as trees
from ci.problems import CiError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ci.git import Repository, Tree

ROOT = Path(__file__).resolve().parent.parent
"""The project whose code runs here: in CI the checkout of the protected branch."""
_JUDGES = ("Makefile", "ci/", "requirements-dev.txt", "requirements.txt", "settings/")
"""What judges from here, and what says which packages are installed: no pull request's, so the same as BASE's."""


@dataclass(frozen=True)
class Workplace:
    """Where runs take place: `folder` is private, `home` the empty HOME of every child."""

    repository: Repository
    base: Tree
    folder: Path

    @property
    def home(self) -> Path:
        """An empty HOME."""
        return self.folder / "home"

    def tree(self, stack: str) -> Path:
        """Write the base's tree for a stack, with the environment of Python packages that runs here."""
        folder = self.folder / stack
        folder.mkdir()
        trees.write(self.repository, self.base, folder)
        if (folder / ".venv").exists():
            message = "BASE has a .venv in git: take it out, `make setup` makes it"
            raise CiError(message)
        (folder / ".venv").symlink_to(sys.prefix)
        return folder


@contextmanager
def workplace(repository: Repository, base: Tree) -> Iterator[Workplace]:
    """Give a folder that only this user can read; raises CiError where what judges here is not the base's."""
    judges = {path: entry.oid for path, entry in base.items() if path.startswith(_JUDGES)}
    contents = repository.blobs(judges.values())
    for path, oid in judges.items():
        here = ROOT / path
        if not here.is_file() or contents[oid] != here.read_bytes():
            message = (
                f"{shown(path)} here is not BASE's, and would judge: check BASE out, `make setup`, and run it there"
            )
            raise CiError(message)
    with tempfile.TemporaryDirectory(prefix="hybrid-ci-") as name:
        found = Workplace(repository, base, Path(name))
        found.home.mkdir()
        yield found
