"""The make targets, in a clone."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.ci.examples import good

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ci.repository import Repo


EVIL = "$(touch${IFS}evil);`touch${IFS}evil`'\"$(shell${IFS}touch${IFS}evil)"
"""A legal name of a branch."""


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run make without making .venv, whose files are older than a fresh clone's."""
    command = ["make", "-o", ".venv/.requirements", *words]
    return subprocess.run(
        command, cwd=folder, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )


def test_ci_preview_and_changed_stacks_judge_a_branch(repo: Repo, clone: Path) -> None:
    head = repo.commit({**good(repo), "__main__.py": "x"}, repo.base)
    repo.git(f"--git-dir={clone}/.git", "fetch", "--quiet", str(repo.folder), f"{head}:refs/heads/{EVIL}")
    judged = make(clone, "ci-preview", "BASE=main", f"HEAD={EVIL}", "CHECK=1")
    assert judged.returncode == 2  # make's own code for any failure of a command
    assert judged.stdout.endswith("== lab-acme: check: fine\nneeds an admin's review\n")
    assert "Error 3" in judged.stderr
    changed = make(clone, "changed-stacks", "BASE=main", f"HEAD={EVIL}")
    assert (changed.returncode, changed.stdout) == (0, "lab\nlab-acme\nlab-globex\n")
    assert make(clone, "changed-stacks", "BASE=main", "FORMAT=json").stdout == "[]\n"
    assert not (clone / "evil").exists()


def test_what_is_missing_is_said(clone: Path) -> None:
    for words, said in (
        (["ci-preview"], "say which: make ci-preview BASE=main HEAD=branch"),
        (["ci-preview", "BASE=main"], "say which: make ci-preview BASE=main HEAD=branch"),
        (["changed-stacks"], "say which: make changed-stacks BASE=main"),
        (["ci-up"], "say which: make ci-up STACK=lab-acme"),
    ):
        done = make(clone, *words)
        assert done.returncode == 2
        assert said in done.stderr
