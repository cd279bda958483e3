"""Processes that the host starts: each in a session of its own, none outliving the host."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path


class Children:
    """The programs, packs and plugins that run now."""

    def __init__(self) -> None:
        """Start with none."""
        self._running: set[int] = set()
        self._lock = threading.Lock()

    def start(
        self,
        command: Sequence[str],
        *,
        cwd: str | Path,
        env: Mapping[str, str],
        capture: bool = False,
    ) -> "subprocess.Popen[bytes]":
        """Start `command` in a new session, so that a signal to the engine's group does not reach it.

        The engine decides when a program ends; a program that saw the user's Ctrl-C itself would only add a Python
        traceback. With `capture` the outputs are pipes, else they are the host's, which the engine logs.
        """
        pipe = subprocess.PIPE if capture else None
        child = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, start_new_session=True
        )
        with self._lock:
            self._running.add(child.pid)
        return child

    def wait(self, child: "subprocess.Popen[bytes]") -> int:
        """Wait for `child` and forget it; a process killed by signal N counts as exit code 128 + N."""
        code = child.wait()
        with self._lock:
            self._running.discard(child.pid)
        return code if code >= 0 else 128 - code

    def kill(self, child: "subprocess.Popen[bytes]") -> None:
        """Kill `child` and all that it started, if it still runs."""
        with self._lock:
            if child.pid in self._running:
                _kill_session(child.pid)

    def kill_all(self) -> None:
        """Kill everything that still runs."""
        with self._lock:
            for pid in self._running:
                _kill_session(pid)


def _kill_session(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
