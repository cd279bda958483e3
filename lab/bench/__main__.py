"""Print the speed figures; the lab for (c) and the API servers for (d) are their own, in temporary folders."""

from __future__ import annotations

import tempfile
from pathlib import Path

from lab.bench.admission import admission_ratio
from lab.bench.pack import pack_cost
from lab.bench.preview import preview_ratio
from lab.bench.pure import check_time, render_time
from lab.layout import Layout
from lab.up import remove

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Print (a) to (e)."""
    print(check_time(ROOT), flush=True)
    print(render_time(), flush=True)
    layout = Layout(ROOT, Path(tempfile.mkdtemp(prefix="hybrid-bench-")))
    try:
        print(preview_ratio(layout), flush=True)
    finally:
        remove(layout)
    with tempfile.TemporaryDirectory(prefix="hybrid-bench-") as folder:
        print(admission_ratio(Path(folder)), flush=True)
    print(pack_cost(ROOT), flush=True)


main()
