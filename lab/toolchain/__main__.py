"""`python -m lab.toolchain build [--jobs N] [TOOL ...] | path [TOOL] | status`."""

from __future__ import annotations

import argparse
import sys

from lab import toolchain
from lab.toolchain import locate, pins


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 if it did what was asked, 1 with a plain message if it could not."""
    names = [part.name for part in toolchain.PARTS]
    parser = argparse.ArgumentParser(prog="python -m lab.toolchain", description=toolchain.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="make the tools available, building what is not installed")
    build.add_argument("--jobs", type=int, metavar="N", help="builds at the same time (default: by cores and memory)")
    build.add_argument(
        "tools", nargs="*", metavar="TOOL", help=f"some of {', '.join(names)}; default: all that the lab runs"
    )
    path = commands.add_parser("path", help="print a tool's file, or the folders to put before PATH")
    path.add_argument("tool", nargs="?", metavar="TOOL")
    commands.add_parser("status", help="print where each tool is; exits 1 if one that the lab runs is not there")
    chosen = parser.parse_args(arguments)
    unknown = {*getattr(chosen, "tools", []), *filter(None, [getattr(chosen, "tool", None)])} - set(names)
    if unknown:
        parser.error(f"no lab tool is called {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    try:
        if chosen.command == "build":
            toolchain.build(chosen.tools, jobs=chosen.jobs, report=_line)
        elif chosen.command == "path":
            _line(str(toolchain.tool(chosen.tool)) if chosen.tool else toolchain.search_path())
        else:
            return _status()
    except (toolchain.BuildError, toolchain.GoError, toolchain.ToolMissingError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _status() -> int:
    missing = 0
    for part in toolchain.PARTS:
        found = toolchain.find(part.name)
        missing += found is None and not part.only_tests
        where = f"{found.origin}: {found.file}" if found else f"not there; `{locate.command(part)}` makes it"
        _line(f"{part.name:28} {pins.version(part):10} {where}")
    return 1 if missing else 0


def _line(text: str) -> None:
    print(text, flush=True)  # builds take minutes: a line must not wait in a buffer


if __name__ == "__main__":
    sys.exit(main())
