"""A server process that outlives the program that started it, and is ended only if it is surely that process."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_TERM_SECONDS = 20.0
_KILL_SECONDS = 10.0
_POLL_SECONDS = 0.05
_TAIL_LINES = 15
_TAIL_WIDTH = 300  # etcd writes stack traces into one line


@dataclass(frozen=True)
class Process:
    """One server of a state folder: `<state>/<name>.pid`, `<state>/<name>.log`.

    `marker` is text that stands in its command line and in no other process's: the folder of its data.
    """

    name: str
    state: Path
    marker: str

    @property
    def pid_file(self) -> Path:
        """Where the process id is recorded."""
        return self.state / f"{self.name}.pid"

    @property
    def log_file(self) -> Path:
        """Where its output goes."""
        return self.state / f"{self.name}.log"

    def pid(self) -> int | None:
        """Return the recorded process id if that process still is this server, else `None`."""
        try:
            pid = int(self.pid_file.read_text())
        except (FileNotFoundError, ValueError):
            return None
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)  # our own child that ended stays a zombie until it is asked for
        return pid if self.marker in command_line(pid) else None

    def start(self, command: Sequence[str]) -> None:
        """Start the server in a session of its own, so that a Ctrl-C of the starter does not reach it."""
        with self.log_file.open("wb") as log:
            started = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd=self.state,
            )
        self.pid_file.write_text(f"{started.pid}\n")
        while self.marker not in command_line(started.pid) and started.poll() is None:
            time.sleep(_POLL_SECONDS)  # for an instant a new process has no command line
        started.returncode = started.returncode or 0  # it shall outlive this object, which would warn about that

    def stop(self) -> None:
        """End the server if it runs: ask, wait, then kill. Returns when it is gone."""
        for sign, seconds in ((signal.SIGTERM, _TERM_SECONDS), (signal.SIGKILL, _KILL_SECONDS)):
            pid = self.pid()
            if pid is None:
                break
            with suppress(ProcessLookupError):
                os.kill(pid, sign)
            deadline = time.monotonic() + seconds
            while self.pid() is not None and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
        self.pid_file.unlink(missing_ok=True)

    def tail(self) -> str:
        """Return the last lines of its log, indented, for an error message."""
        lines = self.log_file.read_text(errors="replace").splitlines() if self.log_file.exists() else []
        return "\n".join(f"  {line[:_TAIL_WIDTH]}" for line in lines[-_TAIL_LINES:]) or "  (its log is empty)"


def command_line(pid: int) -> str:
    """Return the command line of a process, empty if it is gone or has only its exit code left."""
    proc = Path("/proc")
    if (proc / "self").exists():
        try:
            return (proc / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return ""
    ask = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(ask, capture_output=True, text=True, check=False).stdout
