"""Where a tool is: on `PATH`, in Pulumi's plugin cache, or built earlier."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lab.toolchain import pins
from lab.toolchain.parts import LAB, part

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.toolchain.parts import Part

Origin = Literal["PATH", "plugin cache", "built"]
_ASK_SECONDS = 30


class ToolMissingError(RuntimeError):
    """A tool is neither installed in its pinned version nor built yet."""


@dataclass(frozen=True)
class Tool:
    """A tool that can be run: its part, the file, and where it came from."""

    part: Part
    file: Path
    origin: Origin


def cache() -> Path:
    """Return the folder of built tools, shared by all checkouts of one user: `~/.cache/hybrid-lab` by default."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hybrid-lab"


def plugin_folder(wanted: Part) -> Path:
    """Return where Pulumi's own installation of a plugin of the pinned version lies."""
    home = os.environ.get("PULUMI_HOME")
    kind_and_name = wanted.name.removeprefix("pulumi-")
    return (Path(home) if home else Path.home() / ".pulumi") / "plugins" / f"{kind_and_name}-v{pins.version(wanted)}"


def built_file(wanted: Part) -> Path:
    """Return where a build of the part lies, whether it is there or not."""
    return cache() / pins.key(wanted) / "bin" / wanted.name


def find(name: str) -> Tool | None:
    """Return the tool of that name in exactly its pinned version, or `None`."""
    wanted = part(name)
    if wanted.ask:
        on_path = shutil.which(wanted.name)
        if on_path and _reports(on_path, wanted):
            return Tool(wanted, Path(on_path), "PATH")
    else:
        plugin = plugin_folder(wanted) / wanted.name
        if plugin.is_file():
            return Tool(wanted, plugin, "plugin cache")
    built = built_file(wanted)
    return Tool(wanted, built, "built") if built.is_file() else None


def tool(name: str) -> Path:
    """Return the file of a tool; `ToolMissingError` says how to get it."""
    found = find(name)
    if found is None:
        message = f"{name} {pins.version(part(name))} is not there yet: run `{command(part(name))}`"
        raise ToolMissingError(message)
    return found.file


def command(wanted: Part) -> str:
    """Return the command that makes a tool."""
    return "python -m lab.toolchain build" + (f" {wanted.name}" if wanted.only_tests else "")


def search_path(names: Iterable[str] = ()) -> str:
    """Return the folders of built tools, joined as `PATH` wants them, to put before the user's own `PATH`.

    Without names: of all tools that the lab runs. Tools that the user has are left to the user's `PATH`, so that
    nothing else there changes its order. Raises `ToolMissingError`.
    """
    files = [tool(name) for name in (names or (each.name for each in LAB))]
    return os.pathsep.join(str(file.parent) for file in files if file.is_relative_to(cache()))


def _reports(file: str, wanted: Part) -> bool:
    environment = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        answer = subprocess.run(
            [file, *wanted.ask], capture_output=True, text=True, timeout=_ASK_SECONDS, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return False  # not a program, or not for this machine: as good as absent
    return answer.returncode == 0 and pins.says(answer.stdout, pins.version(wanted))
