"""The check of a stack file that was laid over the base's tree, before the engine reads it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from ci.pull_request import path_of
from settings import stackfile
from settings.outer import BESIDE_CONFIG
from settings.problems import Problem, SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def check(stack: str, tree: Path, environment: Mapping[str, str], before: Path | None) -> str | None:
    """Say what is wrong with a stack's file in a written tree, or None. The rules are the tree's own.

    `before` is a copy of the base's file: the lines in which the engine keeps how the stack's secrets are encrypted
    must stay as they are there, else a pull request could have them encrypted for somebody else. None: there is none.
    """
    done = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-m", "settings", "check", stack, "--stacks", "stacks"],
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    said = [done.stdout.strip(), done.stderr.strip()] if done.returncode else []
    problems = list(encryption(tree / path_of(stack), before))
    if problems:
        said.append(str(SettingsError(stack, problems)))
    return "\n".join(line for line in said if line) or None


def encryption(after: Path, before: Path | None) -> list[Problem]:
    """Report the encryption lines of a stack file that are not as in its copy `before`; no value is shown."""
    now, unreadable = stackfile.examine(after)
    if unreadable or before is None:
        return []  # the settings have told what is wrong with the text; an admin looks at a stack's first file
    then = stackfile.read(before)
    why = "the stack's encryption is the admins': whoever sets it can read what is encrypted with it"
    return [
        Problem(
            "ENCRYPTION_CHANGED", key, None, why, "leave the line as it is on BASE" if key in then else "leave it out"
        )
        for key in BESIDE_CONFIG
        if (key in now, now.get(key)) != (key in then, then.get(key))
    ]
