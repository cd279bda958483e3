"""Git repositories for tests, made by plumbing alone: a copy of this project, and branches with anything in them."""

from __future__ import annotations

import itertools
import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

WHO = "A Person <person@example.org> 1700000000 +0000"


@dataclass(frozen=True)
class Special:
    """Something else than a plain file: git's mode, and its content (a link's target, a submodule's commit)."""

    mode: str
    content: str


@dataclass
class Repo:
    """A repository that only grows; commits are named by their ids."""

    folder: Path
    base: str = ""
    _names: Iterator[int] = field(default_factory=itertools.count)
    _read: dict[str, str] = field(default_factory=dict)

    @classmethod
    def empty(cls, folder: Path) -> Repo:
        """Make one without any commit."""
        folder.mkdir()
        repo = cls(folder)
        repo.git("init", "--quiet", "--initial-branch", "main")
        return repo

    @classmethod
    def of_project(cls, folder: Path) -> Repo:
        """Make one whose first commit, `base`, is this project as it is on disk."""
        repo = cls.empty(folder)
        repo.git("--work-tree", str(ROOT), "add", "--all", cwd=ROOT)
        tree = repo.git("write-tree")
        repo.base = repo.git("commit-tree", tree, "-m", "the project")
        repo.git("update-ref", "refs/heads/main", repo.base)
        return repo

    def git(self, *arguments: str, stdin: bytes | None = None, cwd: Path | None = None) -> str:
        """Run git; give what it printed."""
        env = {
            "PATH": os.environ["PATH"],
            "GIT_DIR": str(self.folder / ".git"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **{
                f"GIT_{who}_{what}": "person@example.org"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
        }
        done = subprocess.run(
            ["git", *arguments], cwd=cwd or self.folder, env=env, input=stdin, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def commit(self, changes: Mapping[str, str | bytes | Special | None], *parents: str) -> str:
        """Commit changes on the first parent's tree (without parents: on nothing); give the commit's id."""
        ref = f"refs/heads/made-{next(self._names)}"
        lines = [f"commit {ref}\ncommitter {WHO}\ndata 4\nmade\n".encode()]
        lines += [f"{'merge' if place else 'from'} {parent}\n".encode() for place, parent in enumerate(parents)]
        lines += [_line(path, change) for path, change in changes.items()]
        self.git("fast-import", "--quiet", "--force", stdin=b"".join(lines))
        return self.git("rev-parse", ref)

    def read(self, path: str, commit: str = "") -> str:
        """Give a file's text."""
        name = f"{commit or self.base}:{path}"
        if name not in self._read:
            self._read[name] = self.git("cat-file", "blob", name) + "\n"
        return self._read[name]

    def raw_tree(self, *entries: tuple[str, str, str]) -> str:
        """Write a tree object of (mode, name, id) as it is, legal or not; give its id."""
        body = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(oid) for mode, name, oid in entries)
        return self.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=body)


def _line(path: str, change: str | bytes | Special | None) -> bytes:
    name = '"' + "".join(f"\\{byte:03o}" for byte in path.encode("utf-8", "surrogateescape")) + '"'
    if change is None:
        return f"D {name}\n".encode()
    if isinstance(change, Special) and change.mode == "160000":
        return f"M 160000 {change.content} {name}\n".encode()
    mode = change.mode if isinstance(change, Special) else "100644"
    content = change.content if isinstance(change, Special) else change
    data = content if isinstance(content, bytes) else content.encode()
    return f"M {mode} inline {name}\ndata {len(data)}\n".encode() + data + b"\n"
