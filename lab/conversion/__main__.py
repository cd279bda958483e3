"""`python -m lab.conversion --state=DIR --port=N`: serve until ended, for the API server of that state folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from lab.conversion.server import listening

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m lab.conversion", description=__doc__)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    given = parser.parse_args()
    listening(given.state, given.port).serve_forever()
