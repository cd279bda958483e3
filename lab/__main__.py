"""`python -m lab up [--crds DIR] | down | remove | demo | demo-clean | machines`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lab.cluster import ClusterError
from lab.crds import CrdError
from lab.demo.run import clean, demo
from lab.demo.shell import DemoError
from lab.layout import Layout
from lab.toolchain import BuildError, GoError, ToolMissingError
from lab.up import LabError, down, next_steps, remove, up
from settings.problems import SettingsError

STILL_UP = "the lab may still run: `make demo` begins again with what is there, `make demo-clean` takes everything down"
LAYOUT = Layout.of(Path(__file__).resolve().parents[1])


def main() -> int:
    """Run one command; 1 with a plain message where it can not be done."""
    parser = argparse.ArgumentParser(prog="python -m lab", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    start = commands.add_parser("up", help="start the lab")
    start.add_argument("--crds", type=Path, help="folder with the CRDs to load; permissive ones without it")
    commands.add_parser("down", help="stop the lab, keep its data")
    commands.add_parser("remove", help="stop the lab and delete .lab/")
    show = commands.add_parser("demo", help="start the lab and do in it what a platform engineer does")
    show.add_argument("--crds", type=Path, help="as above")
    commands.add_parser("demo-clean", help="destroy the demo's stacks, stop the lab and delete .lab/")
    given = parser.parse_args()
    try:
        if given.command == "up":
            up(LAYOUT, given.crds, _line)
            _line(next_steps(LAYOUT))
        elif given.command == "demo":
            demo(LAYOUT, given.crds)
        elif given.command == "demo-clean":
            clean(LAYOUT)
        elif given.command == "down":
            down(LAYOUT)
        else:
            remove(LAYOUT)
    except (LabError, DemoError, ClusterError, CrdError, BuildError, GoError, ToolMissingError, SettingsError) as error:
        print(f"{error}\n{STILL_UP if given.command == 'demo' else ''}".rstrip(), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"stopped\n{STILL_UP}", file=sys.stderr)
        return 130
    return 0


def _line(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
