"""Print the speed figures; the lab for (c) is one of its own, in a temporary folder."""

from __future__ import annotations

import tempfile
from pathlib import Path

from lab.bench.preview import preview_ratio
from lab.bench.pure import check_time, render_time
from lab.layout import Layout
from lab.up import remove

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Print (a), (b) and (c)."""
    print(check_time(ROOT), flush=True)
    print(render_time(), flush=True)
    layout = Layout(ROOT, Path(tempfile.mkdtemp(prefix="hybrid-bench-")))
    try:
        print(preview_ratio(layout), flush=True)
    finally:
        remove(layout)


main()
