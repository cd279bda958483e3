"""`python -m manifests`: a stack's Kubernetes objects as files, and the policy pack's configuration."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from manifests.policy_config import policy_config
from manifests.render import NotOurFolder, files, manifests, write
from settings.load import load
from settings.problems import SettingsError


def main(arguments: list[str] | None = None) -> int:
    """Run one command; give 0, or 1 for settings or a folder that is refused."""
    options = _parser().parse_args(arguments)
    try:
        return _render(options) if options.command == "render" else _policy_config(options)
    except (SettingsError, NotOurFolder, OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manifests", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    render = commands.add_parser("render", help="write every Kubernetes object of a stack as YAML")
    render.add_argument("stack")
    render.add_argument("--out", type=Path, required=True, help="folder; made, or emptied of earlier output")
    config = commands.add_parser("policy-config", help="write the policy pack's configuration as JSON")
    config.add_argument("environment")
    config.add_argument("--out", type=Path, help="file; standard output without it")
    for command in (render, config):
        command.add_argument("--stacks", type=Path, default=Path("stacks"), help="folder of the stack files")
    return parser


def _render(options: argparse.Namespace) -> int:
    texts = files(options.stack, manifests(load(options.stack, options.stacks)))
    write(options.out, texts)
    sys.stdout.write(f"{len(texts)} objects of stack {options.stack} in {options.out}\n")
    return 0


def _policy_config(options: argparse.Namespace) -> int:
    text = json.dumps(policy_config(options.stacks, options.environment), indent=2) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
