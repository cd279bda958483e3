"""Stack files for tests: the lab's, edited in one place or several, and checked."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from settings.load import load, look_at_environment
from settings.problems import Problem, SettingsError
from settings.stackfile import read

if TYPE_CHECKING:
    from collections.abc import Mapping

STACKS = Path(__file__).parents[2] / "stacks"
GONE = object()
"""An edit that takes a key out."""

Edits = dict[str | tuple[str, ...], Any]
"""Place to new value. `lab:` before a place means the environment's file, whichever stack is checked."""


@cache
def _read(stack: str) -> dict[str, Any]:
    config: dict[str, Any] = read(STACKS / f"Pulumi.{stack}.yaml")["config"]
    return config


def settings_of(stack: str) -> dict[str, Any]:
    """Give what the lab's own file of a stack says, to change at will."""
    (found,) = _read(stack).values()
    return deepcopy(found)


def edit(base: dict[str, Any], place: str | tuple[str, ...], value: Any) -> None:
    """Set (or take out) what stands at a dotted place; a tuple where a key has a dot itself."""
    steps = list(place) if isinstance(place, tuple) else place.split(".")
    here: Any = base
    for step in steps[:-1]:
        here = here[int(step)] if isinstance(here, list) else here.setdefault(step, {})
    last: Any = int(steps[-1]) if isinstance(here, list) else steps[-1]
    if value is GONE:
        del here[last]
    else:
        here[last] = deepcopy(value)


def write(folder: Path, stack: str, settings: Any, **beside: Any) -> None:
    """Write a stack file; JSON is YAML."""
    key = "hybrid:tenant" if "-" in stack else "hybrid:environment"
    text = json.dumps({"config": {key: settings}} | beside)
    (folder / f"Pulumi.{stack}.yaml").write_text(text, encoding="utf-8")


def edited(stack: str, edits: Mapping[str | tuple[str, ...], Any]) -> dict[str, dict[str, Any]]:
    """Give the settings of the lab's environment and of a stack of it, with edits."""
    files = {name: settings_of(name) for name in ("lab", stack)}
    for place, value in edits.items():
        if isinstance(place, str) and place.startswith("lab:"):
            edit(files["lab"], place.removeprefix("lab:"), value)
        else:
            edit(files[stack], place, value)
    return files


def write_edited(folder: Path, stack: str, edits: Mapping[str | tuple[str, ...], Any]) -> None:
    """Write the files of `edited`."""
    for name, settings in edited(stack, edits).items():
        write(folder, name, settings)


def of_environment(settings: dict[str, Any]) -> list[Problem]:
    """Check an environment's settings alone, without the text of a file, and give every error."""
    _, found = look_at_environment(settings)
    return sorted((p for p in found if p.severity == "error"), key=lambda p: (p.path, p.code))


def problems(folder: Path, stack: str) -> list[Problem]:
    """Check a stack's file and give every error; none when it is accepted."""
    try:
        load(stack, folder)
    except SettingsError as error:
        return error.problems
    return []


def said(folder: Path, stack: str) -> list[tuple[str, str]]:
    """Give the codes and paths of every error."""
    return [(problem.code, problem.path) for problem in problems(folder, stack)]
