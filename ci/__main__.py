"""`python -m ci preview | changed-stacks | up`.

Exit codes: 0 fine, 1 refused, 2 a wrong command or something that can not be judged, 3 fine as far as it goes:
an admin must review other paths, or other stacks' files were not asked for.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

from ci.git import Repository
from ci.preview import FINE, REFUSED, preview
from ci.problems import CiError
from ci.pull_request import examine, in_order
from ci.run import Options, up
from ci.touched import landed, touched
from ci.workplace import ROOT
from settings.problems import SettingsError

CANNOT = 2


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code is in this file's first lines."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options, Repository(options.repository))
    except CiError as error:
        sys.stderr.write(f"{error}\n")
        return CANNOT
    except SettingsError as error:
        sys.stderr.write(f"on BASE: {error}\n")
        return REFUSED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ci", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repository", type=Path, default=ROOT, help="the clone to read from; default: this one")
    commands = parser.add_subparsers(dest="command", required=True)
    judge = commands.add_parser("preview", help="judge a pull request by the protected branch, and preview its stacks")
    judge.add_argument("base", help="the protected branch")
    judge.add_argument("head", help="the pull request")
    judge.add_argument("--check-only", action="store_true", help="no engine, no credentials: the checks alone")
    judge.set_defaults(run=_preview)
    run = commands.add_parser("up", help="run `pulumi up` of one stack from a commit of the protected branch")
    run.add_argument("ref")
    run.set_defaults(run=_up)
    for command, needed in ((judge, False), (run, True)):
        command.add_argument("--stack", required=needed, help="one stack; its variables are those of this process")
        command.add_argument("--envs", type=Path, metavar="DIR", help="variables of each stack: DIR/env-<stack>")
        command.add_argument(
            "--pass", dest="passed", default="", metavar="NAMES", help="further variables for the engine"
        )
    changed = commands.add_parser("changed-stacks", help="list the stacks that a change touches, environments first")
    changed.add_argument("base", help="where the change begins")
    changed.add_argument("head")
    changed.add_argument(
        "--only", choices=("environments", "tenants", "laid-over"), help="laid-over: what a preview takes"
    )
    changed.add_argument(
        "--landed",
        action="store_true",
        help="each commit of a branch after BASE, for itself; all stacks if it has no BASE",
    )
    changed.add_argument("--format", choices=("text", "json"), default="text")
    changed.set_defaults(run=_changed)
    return parser


def _preview(options: argparse.Namespace, repository: Repository) -> int:
    asked = Options(options.stack, not options.check_only, options.envs, tuple(options.passed.split()))
    return preview(repository, options.base, options.head, asked, _say)


def _up(options: argparse.Namespace, repository: Repository) -> int:
    asked = Options(options.stack, environments=options.envs, passed=tuple(options.passed.split()))
    return FINE if up(repository, options.ref, asked, _say) else REFUSED


def _changed(options: argparse.Namespace, repository: Repository) -> int:
    if options.only == "laid-over":
        found = in_order(examine(repository, options.base, options.head).laid_over)
    else:
        found = (landed if options.landed else touched)(repository, options.base, options.head)
    if options.only in ("environments", "tenants"):
        found = [stack for stack in found if ("-" in stack) == (options.only == "tenants")]
    if options.format == "json":
        _say(json.dumps(found))
    elif found:
        _say("\n".join(found))
    return FINE


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # what is private is removed on the way
    sys.exit(main())
