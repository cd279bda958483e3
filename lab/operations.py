"""`python -m lab.operations …`: an operation in the lab, where the clouds are simulated and answer on loopback."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from lab.clouds.rest import serving
from lab.clouds.state import ENVIRONMENT, HCLOUD
from operations.__main__ import main
from operations.hetzner import ENDPOINT
from operations.https import Server, Servers

if TYPE_CHECKING:
    from collections.abc import Sequence

CLOUDS = Path(".lab/clouds")


class LabServers(Servers):
    """The stand-ins of all endpoints, below one base."""

    def __init__(self, base: str) -> None:
        """Take the URL that `serving` gives."""
        self._base = base

    def at(self, endpoint: str, ca: str | None = None) -> Server:
        """Give the stand-in's server; it has no certificate, so none is asked for."""
        del ca
        return Server(f"{self._base}/{HCLOUD if endpoint == ENDPOINT else quote(endpoint, safe='')}")


def run(arguments: Sequence[str]) -> int:
    """Run an operation as `python -m operations` does."""
    with serving(Path(os.environ.get(ENVIRONMENT, CLOUDS))) as base:
        return main(list(arguments), LabServers(base))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
