"""A clean tree of the base for each stack, in a private folder that is gone afterwards."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci import tree as trees
from ci.problems import CiError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ci.git import Repository, Tree

ROOT = Path(__file__).resolve().parent.parent
"""The project whose code runs here: in CI the checkout of the protected branch."""
_PINS = ("requirements.txt", "requirements-dev.txt")


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
        (folder / ".venv").symlink_to(sys.prefix)
        return folder


@contextmanager
def workplace(repository: Repository, base: Tree) -> Iterator[Workplace]:
    """Give a folder that only this user can read; raises CiError where the packages here are not the base's."""
    pinned = {name: base[name].oid for name in _PINS if name in base}
    contents = repository.blobs(pinned.values())
    for name in _PINS:
        here = ROOT / name
        if name not in pinned or not here.is_file() or contents[pinned[name]] != here.read_bytes():
            message = f"{name} here is not BASE's, and so the packages may not be: check BASE out and run `make setup`"
            raise CiError(message)
    with tempfile.TemporaryDirectory(prefix="hybrid-ci-") as name:
        found = Workplace(repository, base, Path(name))
        found.home.mkdir()
        yield found
