"""The installed Go: is it there, and new enough for the pins."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING

from lab.toolchain import pins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.toolchain.parts import Part


class GoError(RuntimeError):
    """Go is missing or too old; the message says which release is needed."""


def release(text: str) -> tuple[int, ...]:
    """Return the numbers of `go1.26.8`; of a pre-release `go1.26rc1` (1, 26), which is less than (1, 26, 0)."""
    match = re.match(r"go(\d+(?:\.\d+)*)", text)
    return tuple(int(number) for number in match[1].split(".")) if match else ()


def check(parts: Iterable[Part]) -> None:
    """Raise `GoError` unless the installed Go can build these parts."""
    wanted = list(parts)
    needed = max(pins.go_release((part.folder / "go.mod").read_text()) for part in wanted)
    text = ".".join(str(number) for number in needed)
    names = ", ".join(part.name for part in wanted)
    go = shutil.which("go")
    if go is None:
        message = (
            f"Go {text} or newer is needed to build {names}, and no `go` is on PATH. "
            "Install Go, or put these tools on PATH."
        )
        raise GoError(message)
    found, policy = _installed(go)
    if release(found) < needed and policy == "local":
        message = (
            f"Go {text} or newer is needed to build {names}; `{go}` is {found or 'of unknown version'} and "
            f"GOTOOLCHAIN=local keeps it from fetching a newer one. Install a newer Go, or unset GOTOOLCHAIN."
        )
        raise GoError(message)


def _installed(go: str) -> tuple[str, str]:
    with tempfile.TemporaryDirectory() as empty:  # away from any go.mod, whose toolchain line would be obeyed
        command = [go, "env", "GOVERSION", "GOTOOLCHAIN"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=empty)
    lines = [*answer.stdout.splitlines(), "", ""]
    return lines[0], lines[1]
