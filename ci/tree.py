"""Write a commit's tree into an empty folder, byte for byte."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ci.git import PROGRAM, SUBMODULE, SYMLINK
from ci.problems import CiError, shown

if TYPE_CHECKING:
    from ci.git import Repository, Tree

_NEVER = {"", ".", "..", ".git"}


def write(repository: Repository, tree: Tree, folder: Path) -> None:
    """Write every file; symbolic links stay links, and submodules stay out, as in a plain checkout.

    Raises CiError for a path that would leave the folder, which only a malformed commit has.
    """
    contents = repository.blobs(entry.oid for entry in tree.values() if entry.mode != SUBMODULE)
    for path, entry in tree.items():
        if _NEVER & set(path.lower().split("/")):
            message = f"the commit is malformed: it has the path {shown(path)}"
            raise CiError(message)
        if entry.mode == SUBMODULE:
            continue
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if entry.mode == SYMLINK:
            target.symlink_to(os.fsdecode(contents[entry.oid]))
        else:
            target.write_bytes(contents[entry.oid])
            target.chmod(0o755 if entry.mode == PROGRAM else 0o644)


def lay_over(folder: Path, path: str, content: bytes) -> None:
    """Put one file into a written tree, in the place of the base's; never through a link."""
    target = Path(folder, path)
    if target.parent.is_symlink() or target.is_symlink():
        message = f"{shown(path)} is reached through a symbolic link on BASE: an admin mends that first"
        raise CiError(message)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
