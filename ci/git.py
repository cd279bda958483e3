"""Read commits as plain data: trees and blobs by git's plumbing, never a checkout, so nothing in a commit takes effect.

`cat-file` gives a blob as it is stored. A checkout or `git archive` would obey the commit's `.gitattributes` (filters,
`export-subst`, `export-ignore`, line ends) and its submodules; a diff would obey attributes and rename settings.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci.problems import CiError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FILE, PROGRAM, SYMLINK, SUBMODULE = "100644", "100755", "120000", "160000"
LONGEST = 32 * 1024 * 1024
"""Bytes of the list of a commit's paths; the project's is 30 KiB."""
_QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


_CERTAIN = re.compile(r"HEAD|[0-9a-f]{40}([0-9a-f]{24})?")
"""What git takes as it is, whatever tags have the same name."""


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

        # Without GIT_DIR, GIT_ALTERNATE_OBJECT_DIRECTORIES, GIT_CONFIG_* and all else that makes git look elsewhere.
        self._environment = {**{key: os.environ[key] for key in ("PATH", "TMPDIR") if key in os.environ}, **_QUIET}

    def _run(self, *arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(  # noqa: S603 - git itself, with arguments and no shell
            [self._program, "-C", str(self._folder), *arguments],
            env=self._environment,
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

    def _listed(self, commit: str) -> bytes:
        """List a tree, and stop where it has no end: a few objects that name each other make billions of paths."""
        words = ("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        with subprocess.Popen(  # noqa: S603 - as above
            [self._program, "-C", str(self._folder), *words],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        ) as running:
            listed = running.stdout.read(LONGEST + 1) if running.stdout else b""
            if len(listed) > LONGEST:
                running.kill()
        if len(listed) > LONGEST:
            message = f"commit {commit} has more than {LONGEST} bytes of paths: it is not this project"
            raise CiError(message)
        if running.returncode:
            message = f"git has no whole commit {commit}: fetch it again"
            raise CiError(message)
        return listed

    def commit(self, ref: str) -> str:
        """Give the id of the commit that a branch, tag or id names.

        A name that fits several is refused: git would take a tag `main` for BASE, which whoever may push can make and
        which an ordinary fetch brings along.
        """
        done = self._run(
            "-c", "core.warnAmbiguousRefs=true", "rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}"
        )
        if done.returncode or not ref:
            message = f"{shown(ref)} names no commit in {self._folder}: fetch it first, or correct the name"
            raise CiError(message)
        if b"is ambiguous" in done.stderr and not _CERTAIN.fullmatch(ref):
            message = f"{shown(ref)} fits several branches or tags: write it in full, for example refs/heads/main"
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

    def line(self, commit: str) -> list[str]:
        """List a branch's own commits (a merge's first parents), newest first, from the commit's id."""
        return self._must("rev-list", "--first-parent", commit).decode().split()

    def tree(self, commit: str) -> Tree:
        """List a commit's whole tree."""
        found: Tree = {}
        for record in self._listed(commit).split(b"\0")[:-1]:
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
