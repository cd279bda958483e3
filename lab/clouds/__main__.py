"""`python -m lab.clouds machines [--json] [--templates] [--state DIR]`."""

import argparse
import json
import os
import sys
from pathlib import Path

from lab.clouds.machines import lines, machines
from lab.clouds.state import ENVIRONMENT


def main() -> None:
    """List the machines that exist in the simulated clouds."""
    parser = argparse.ArgumentParser(prog="python -m lab.clouds", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("machines", help="list the machines of all simulated endpoints")
    listing.add_argument("--json", action="store_true", help="as JSON on standard output")
    listing.add_argument("--templates", action="store_true", help="Proxmox templates too")
    listing.add_argument("--state", type=Path, help=f"the state folder; default: ${ENVIRONMENT}")
    options = parser.parse_args()
    folder = options.state or (Path(os.environ[ENVIRONMENT]) if os.environ.get(ENVIRONMENT) else None)
    if folder is None or not folder.is_dir():
        sys.exit(f"no state folder: give --state DIR or set {ENVIRONMENT} (source .lab/env-<stack> does)")
    found = machines(folder, templates=options.templates)
    print(json.dumps(found, indent=1) if options.json else "\n".join(lines(found)))


if __name__ == "__main__":
    main()
