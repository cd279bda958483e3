"""`python -m settings check STACK` and `python -m settings schema environment|tenant`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_STACKS = Path(__file__).resolve().parent.parent / "stacks"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 when the stack is accepted, 1 when it is refused (2, from argparse, for a wrong command)."""
    parser = argparse.ArgumentParser(prog="python -m settings", description="Check stack files without the engine.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="say everything that is wrong with a stack file")
    check.add_argument("stack", help="the stack's name, for example lab-acme")
    check.add_argument("--stacks", type=Path, default=_STACKS, help="the folder of the stack files")
    check.add_argument("--format", choices=("text", "json"), default="text")
    schema = commands.add_parser("schema", help="print the JSON Schema of a kind of stack file")
    schema.add_argument("kind", choices=("environment", "tenant"))
    chosen = parser.parse_args(arguments)
    if chosen.command == "schema":
        return _schema(chosen.kind)
    return _check(chosen.stack, chosen.stacks, as_json=chosen.format == "json")


def _check(stack: str, stacks: Path, *, as_json: bool) -> int:
    from settings.load import load  # noqa: PLC0415 - --help and usage errors need no models
    from settings.problems import SettingsError  # noqa: PLC0415 - as above

    try:
        settings = load(stack, stacks)
    except SettingsError as error:
        print(json.dumps([problem.as_json() for problem in error.problems], indent=2) if as_json else error)  # noqa: T201 - a command prints
        return 1
    for warning in settings.warnings:
        print(f"warning: {warning}", file=sys.stderr)  # noqa: T201 - as above
    print("[]" if as_json else f"stack {stack}: settings are fine")  # noqa: T201 - as above
    return 0


def _schema(kind: str) -> int:
    from settings.schema import stack_file_schema  # noqa: PLC0415 - only this command needs it

    print(json.dumps(stack_file_schema(kind), indent=2))  # noqa: T201 - a command prints
    return 0


if __name__ == "__main__":
    sys.exit(main())
