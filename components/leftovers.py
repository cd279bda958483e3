"""Files that must not outlive the program, however it ends: the engine kills it where a policy or a resource fails."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_WATCH = """
import os, sys
for line in sys.stdin.readlines():
    number, _, path = line.rstrip("\\n").partition(" ")
    try:
        if os.lstat(path).st_ino == int(number):
            os.unlink(path)
    except OSError:
        pass
"""
"""Reads until its input ends, which is when the program is gone, then deletes what was named: inode, path."""


class Leftovers:
    """Deletes files after this process, by a small process that waits for its end."""

    def __init__(self) -> None:
        """Begin with none, and no process."""
        self._watcher: subprocess.Popen[str] | None = None

    def remember(self, number: int, *paths: Path) -> None:
        """Have a file deleted that has this inode, under each name that it has or gets; another of the name stays."""
        if self._watcher is None:
            # In a session of its own, so that whoever kills the program's does not kill it. It holds none of the
            # program's outputs, whose end the engine waits for.
            self._watcher = subprocess.Popen(  # noqa: S603 - a fixed program, no shell
                [sys.executable, "-I", "-S", "-c", _WATCH],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
        if self._watcher.stdin is not None:
            self._watcher.stdin.writelines(f"{number} {path.absolute()}\n" for path in paths)
            self._watcher.stdin.flush()
