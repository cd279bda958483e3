"""`python -m manifests`: a stack's objects or an environment's guard as files, and the pack's configuration."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from manifests.output import FILE, FOLDER, UnwritableError, writing
from manifests.policy_config import policy_config
from manifests.render import NotOurFolder, files, manifests, write
from manifests.render_guard import GUARD, guard_files
from settings.load import load
from settings.problems import SettingsError
from settings.stack import EnvironmentSettings


def main(arguments: list[str] | None = None) -> int:
    """Run one command; give 0, or 1 for settings or a folder that is refused."""
    options = _parser().parse_args(arguments)
    try:
        return _COMMANDS[options.command](options)
    except (SettingsError, NotOurFolder, UnwritableError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manifests", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    render = commands.add_parser("render", help="write every Kubernetes object of a stack as YAML")
    render.add_argument("stack")
    render.add_argument("--out", type=Path, required=True, help="folder; made, or emptied of earlier output")
    guard = commands.add_parser(
        "render-guard", help="write the objects that isolate tenants, and their cases for Chainsaw"
    )
    guard.add_argument("environment")
    guard.add_argument("--out", type=Path, required=True, help="folder; made, or emptied of earlier output")
    config = commands.add_parser("policy-config", help="write the policy pack's configuration as JSON")
    config.add_argument("environment")
    config.add_argument("--out", type=Path, help="file; standard output without it")
    for command in (render, guard, config):
        command.add_argument("--stacks", type=Path, default=Path("stacks"), help="folder of the stack files")
    return parser


def _render(options: argparse.Namespace) -> int:
    texts = files(options.stack, manifests(load(options.stack, options.stacks)))
    with writing(options.out, FOLDER):
        write(options.out, texts)
    sys.stdout.write(f"{len(texts)} objects of stack {options.stack} in {options.out}\n")
    return 0


def _render_guard(options: argparse.Namespace) -> int:
    settings = load(options.environment, options.stacks)
    if not isinstance(settings, EnvironmentSettings):
        message = f"{options.environment} is a tenant's stack; the guard is an environment's"
        raise ValueError(message)  # noqa: TRY004 - said as every other refusal
    texts = guard_files(settings)
    with writing(options.out, FOLDER):
        write(options.out, texts, GUARD)
    sys.stdout.write(f"The guard of {options.environment} is in {options.out}; README.md there says how to use it\n")
    return 0


def _policy_config(options: argparse.Namespace) -> int:
    text = json.dumps(policy_config(options.stacks, options.environment), indent=2) + "\n"
    if options.out:
        with writing(options.out, FILE):
            options.out.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


_COMMANDS = {"render": _render, "render-guard": _render_guard, "policy-config": _policy_config}


if __name__ == "__main__":
    sys.exit(main())
