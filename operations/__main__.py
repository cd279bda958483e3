"""`python -m operations`: `tenant-kubeconfig`, `move-versions`, `audit` and `break-glass`, each of one stack."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

from manifests.output import FILE, UnwritableError, writing
from operations.api import Api, UnreadableError
from operations.audit import audit, failed
from operations.canaries import NotInForceError
from operations.https import Servers
from operations.opening import HOURS, MOST_HOURS, OpeningError, break_glass, close
from operations.private import write_private
from operations.table import show
from operations.tenant_kubeconfig import NotYetError, tenant_kubeconfig, tenant_of
from operations.versions import NotMovedError, move
from settings.load import load
from settings.problems import SettingsError
from settings.stack import EnvironmentSettings, TenantSettings


class UsageError(RuntimeError):
    """A command for another kind of stack."""


_REFUSALS = (
    SettingsError,
    NotYetError,
    OpeningError,
    NotInForceError,
    UnreadableError,
    UnwritableError,
    UsageError,
    NotMovedError,
)


def main(arguments: list[str] | None = None, servers: Servers | None = None) -> int:
    """Run one operation; 1 where it can not be done, or the audit found what is wrong.

    `servers` finds the infrastructure's own APIs elsewhere than their endpoints say (the lab's stand-ins).
    """
    parser = argparse.ArgumentParser(prog="python -m operations", description=__doc__)
    parser.add_argument("--stacks", type=Path, default=Path("stacks"), help="the folder of the stack files")
    commands = parser.add_subparsers(required=True, dest="command")
    kubeconfig = commands.add_parser("tenant-kubeconfig", help="write the kubeconfig of a tenant's stack")
    kubeconfig.add_argument("stack")
    kubeconfig.add_argument("--out", type=Path, required=True)
    moving = commands.add_parser("move-versions", help="take a tenant's objects over into the generation")
    moving.add_argument("stack")
    looking = commands.add_parser("audit", help="ask the cluster whether it refuses and admits what it must")
    looking.add_argument("stack", help="the environment")
    looking.add_argument("--format", choices=("text", "json"), default="text")
    glass = commands.add_parser("break-glass", help="let a binding warn instead of refuse, or close it again")
    glass.add_argument("stack", help="the environment")
    which = glass.add_mutually_exclusive_group(required=True)
    which.add_argument("--zone", help="both bindings of a zone")
    which.add_argument("--binding", help="one binding by its name")
    glass.add_argument("--why", default="")
    glass.add_argument("--hours", type=_hours, default=HOURS, help="how long it is meant to stay open")
    glass.add_argument("--close", action="store_true")
    given = parser.parse_args(arguments)
    try:
        if given.command == "audit":
            return _audit(given, servers or Servers())
        return _COMMANDS[given.command](given)
    except _REFUSALS as error:
        print(error, file=sys.stderr)  # noqa: T201 - a command's output
        return 1


def _hours(text: str) -> float:
    """Read a time for which a binding may stay open."""
    try:
        hours = float(text)
    except ValueError:
        hours = math.nan
    if not 0 < hours <= MOST_HOURS:  # also false of what is not a number
        message = f"`{text}` is not a number of hours above 0 and up to {MOST_HOURS} (a week)"
        raise argparse.ArgumentTypeError(message)
    return hours


def _tenant(given: argparse.Namespace) -> TenantSettings:
    settings = load(given.stack, given.stacks)
    if not isinstance(settings, TenantSettings):
        message = f"{given.stack} is an environment; a tenant's stack is named <environment>-<tenant>"
        raise UsageError(message)
    return settings


def _move(given: argparse.Namespace) -> int:
    settings = _tenant(given)
    lines = move(Api(settings.environment.management.context), settings)
    generation = settings.environment.management.generation
    print("\n".join(lines or [f"everything of {given.stack} is in the versions of {generation}"]))  # noqa: T201 - a command's output
    return 0


def _kubeconfig(given: argparse.Namespace) -> int:
    settings = _tenant(given)
    text = json.dumps(tenant_kubeconfig(tenant_of(settings)), indent=2)
    with writing(given.out, FILE):
        write_private(given.out, text + "\n")
    print(f"{given.out}: context {given.stack}")  # noqa: T201 - a command's output
    return 0


def _audit(given: argparse.Namespace, servers: Servers) -> int:
    settings = _environment(given)
    findings = audit(Api(settings.environment.management.context), settings, servers)
    print(show(findings, as_json=given.format == "json"))  # noqa: T201 - a command's output
    return int(failed(findings))


def _glass(given: argparse.Namespace) -> int:
    settings = _environment(given)
    api = Api(settings.environment.management.context)
    if given.close:
        lines = close(api, settings, zone=given.zone, binding=given.binding)
    else:
        lines = break_glass(api, settings, zone=given.zone, binding=given.binding, why=given.why, hours=given.hours)
    print("\n".join(lines))  # noqa: T201 - a command's output
    return 0


def _environment(given: argparse.Namespace) -> EnvironmentSettings:
    settings = load(given.stack, given.stacks)
    if not isinstance(settings, EnvironmentSettings):
        message = f"{given.stack} is a tenant's stack; name its environment"
        raise UsageError(message)
    return settings


_COMMANDS = {"tenant-kubeconfig": _kubeconfig, "move-versions": _move, "break-glass": _glass}


if __name__ == "__main__":
    sys.exit(main())
