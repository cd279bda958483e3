"""Show a command as a person would type it, run it, and keep what it printed."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from lab.env_file import full_environment

if TYPE_CHECKING:
    from pathlib import Path

    from lab.layout import Layout

PASSING = re.compile(
    r"^\s*$|^@ |\b(creating|updating|deleting|refreshing|reading) \(\d+s\)(?!.*error)|running( lab stand-in.*)?$|"
    r" (read|refresh|refreshing|same|running)( |$)(?!.*error)|^ {4}[\w.-]+:\S+ \S+$|"
    r"(Loading policy packs|: (starting|done)$)"
)
"""What the engine prints while it is at something, and says again when it is done; and what stays as it is."""

console = Console(highlight=False, soft_wrap=True)


class DemoError(RuntimeError):
    """A step did not end as it should."""


@dataclass(frozen=True)
class Done:
    """A command's exit code and everything that it printed."""

    code: int
    output: str


def title(text: str) -> None:
    """Print a step's heading."""
    console.print(f"\n[bold cyan]== {escape(text)}[/]")


def say(text: str) -> None:
    """Print one line."""
    console.print(escape(text))


def run(layout: Layout, stack: str, *command: str, folder: Path | None = None) -> Done:
    """Run a command with a stack's own environment in `folder` (default: the lab's copy), showing what gets done."""
    where = folder or layout.project
    console.print(f"[bold]$ (. .lab/{layout.environment_file(stack).name}; {escape(' '.join(command))})[/]")
    lines: list[str] = []
    with subprocess.Popen(
        command,
        cwd=where,
        env=full_environment(layout, stack),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout or ():
            if not PASSING.search(line.rstrip()) and (not lines or lines[-1].strip() != line.strip()):
                console.print(f"  {escape(line.rstrip())}", style="dim")
            lines.append(line)
    return Done(process.returncode, "".join(lines))


def must(done: Done, what: str) -> Done:
    """Give back a command that succeeded; stop the demo at one that did not."""
    if done.code:
        message = f"{what} failed with exit code {done.code}"
        raise DemoError(message)
    return done
