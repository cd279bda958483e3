"""`python -m operations tenant-kubeconfig STACK --out FILE`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from operations.private import write_private
from operations.tenant_kubeconfig import NotYetError, tenant_kubeconfig, tenant_of
from settings.load import load
from settings.problems import SettingsError
from settings.stack import TenantSettings


def main() -> int:
    """Run one operation; 1 where it can not be done."""
    parser = argparse.ArgumentParser(prog="python -m operations", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    kubeconfig = commands.add_parser("tenant-kubeconfig", help="write the kubeconfig of a tenant's stack")
    kubeconfig.add_argument("stack")
    kubeconfig.add_argument("--out", type=Path, required=True)
    kubeconfig.add_argument("--stacks", type=Path, default=Path("stacks"))
    given = parser.parse_args()
    try:
        settings = load(given.stack, given.stacks)
        if not isinstance(settings, TenantSettings):
            print(f"{given.stack} is an environment; a tenant's stack is named <environment>-<tenant>", file=sys.stderr)  # noqa: T201 - a command's output
            return 1
        text = json.dumps(tenant_kubeconfig(tenant_of(settings)), indent=2)
    except (SettingsError, NotYetError) as error:
        print(error, file=sys.stderr)  # noqa: T201 - a command's output
        return 1
    try:
        write_private(given.out, text + "\n")
    except OSError as error:
        print(f"{given.out}: {error.strerror}", file=sys.stderr)  # noqa: T201 - a command's output
        return 1
    print(f"{given.out}: context {given.stack}")  # noqa: T201 - a command's output
    return 0


sys.exit(main())
