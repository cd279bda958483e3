"""Read commits as plain data: trees and blobs by git's plumbing, never a checkout, so nothing in a commit takes effect.

`cat-file` gives a blob as it is stored. A checkout or `git archive` would obey the commit's `.gitattributes` (filters,
`export-subst`, `export-ignore`, line ends) and its submodules; a diff would obey attributes and rename settings.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci.problems import CiError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FILE, PROGRAM, SYMLINK, SUBMODULE = "100644", "100755", "120000", "160000"
_QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


@dataclass(frozen=True)
class Entry:
    """What stands at a path of a commit: git's mode, the object's id, and a blob's size in bytes (else 0)."""

    mode: str
    oid: str
    size: int


Tree = dict[str, Entry]
"""The whole tree of a commit, by path; what is not UTF-8 in a path is carried as Python's surrogates."""


class Repository:
    """A clone, whose own configuration is trusted: a commit can not change it."""

    def __init__(self, folder: Path) -> None:
        """Take a folder in the clone."""
        program = shutil.which("git")
        if program is None:
            message = "git is not installed"
            raise CiError(message)
        self._program, self._folder = program, folder

    def _run(self, *arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        # Without GIT_DIR, GIT_ALTERNATE_OBJECT_DIRECTORIES, GIT_CONFIG_* and all else that makes git look elsewhere.
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "TMPDIR")}
        return subprocess.run(  # noqa: S603 - git itself, with arguments and no shell
            [self._program, "-C", str(self._folder), *arguments],
            env={**kept, **_QUIET},
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            check=False,
        )

    def _must(self, *arguments: str, stdin: bytes | None = None) -> bytes:
        done = self._run(*arguments, stdin=stdin)
        if done.returncode:
            message = f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}"
            raise CiError(message)
        return done.stdout

    def commit(self, ref: str) -> str:
        """Give the id of the commit that a branch, tag or id names."""
        done = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        if done.returncode or not ref:
            message = f"{shown(ref)} names no commit in {self._folder}: fetch it first, or correct the name"
            raise CiError(message)
        return done.stdout.decode().strip()

    def fork_point(self, base: str, head: str) -> str:
        """Give the one commit from which `head` left `base` (two commits' ids)."""
        if self._must("rev-parse", "--is-shallow-repository").strip() == b"true":
            message = "this clone is shallow, so where HEAD left BASE is not in it: fetch the whole history"
            raise CiError(message)
        found = self._run("merge-base", "--all", base, head).stdout.decode().split()
        if len(found) == 1:
            return found[0]
        if not found:
            message = "BASE and HEAD have no common commit: begin the branch on BASE"
        else:
            message = f"BASE and HEAD have {len(found)} nearest common commits: merge BASE into the branch, then again"
        raise CiError(message)

    def tree(self, commit: str) -> Tree:
        """List a commit's whole tree."""
        found: Tree = {}
        for record in self._must("ls-tree", "-r", "-z", "-l", "--full-tree", commit).split(b"\0")[:-1]:
            about, _, name = record.partition(b"\t")
            mode, _, oid, size = about.decode().split()
            path = name.decode("utf-8", "surrogateescape")
            if path in found:
                message = f"commit {commit} is malformed: {shown(path)} stands in it twice"
                raise CiError(message)
            found[path] = Entry(mode, oid, int(size) if size.isdigit() else 0)
        return found

    def blobs(self, oids: Iterable[str]) -> dict[str, bytes]:
        """Read blobs as they are stored, by id."""
        wanted = list(dict.fromkeys(oids))
        answer = self._must("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in wanted).encode())
        found: dict[str, bytes] = {}
        at = 0
        for oid in wanted:
            end = answer.index(b"\n", at)
            kind, _, size = answer[at:end].removeprefix(f"{oid} ".encode()).partition(b" ")
            if kind != b"blob":
                message = f"git has no blob {oid}: {answer[at:end].decode(errors='replace')}"
                raise CiError(message)
            found[oid] = answer[end + 1 : end + 1 + int(size)]
            at = end + 1 + int(size) + 1
        return found
