"""Figures (a) and (b): what needs no engine."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from lab.bench import large
from manifests.tenant import tenant
from settings.load import load
from settings.stack import TenantSettings

RUNS = 5
CHECK_TENANTS, CHECK_POOLS = 64, 3
RENDER_TENANTS, RENDER_POOLS = 64, 16
RENDER_TARGET = 3.0


def check_time(root: Path) -> str:
    """Time `python -m settings check` of one tenant among 64 with 3 pools each, as a whole process."""
    with tempfile.TemporaryDirectory() as folder:
        large.write(Path(folder), CHECK_TENANTS, CHECK_POOLS)
        times = []
        for stack in ("bench", "bench-t063"):
            command = [sys.executable, "-m", "settings", "check", stack, "--stacks", folder]
            runs = []
            for _ in range(RUNS):
                began = time.perf_counter()
                subprocess.run(command, cwd=root, check=True, capture_output=True)
                runs.append(time.perf_counter() - began)
            times.append(f"{stack} {median(runs):.2f} s")
    return f"(a) make check, {CHECK_TENANTS} tenants x {CHECK_POOLS} pools: {', '.join(times)} (median of {RUNS})"


def render_time() -> str:
    """Time the rendering of 1,024 pools' objects, their stack files loaded before."""
    with tempfile.TemporaryDirectory() as folder:
        large.write(Path(folder), RENDER_TENANTS, RENDER_POOLS)
        loaded = [load(f"bench-t{index:03}", Path(folder)) for index in range(RENDER_TENANTS)]
    stacks = [settings for settings in loaded if isinstance(settings, TenantSettings)]
    began = time.perf_counter()
    objects = sum(len(tenant(settings)) for settings in stacks)
    took = time.perf_counter() - began
    pools = sum(len(cluster.pools) for settings in stacks for cluster in settings.clusters.values())
    return f"(b) rendering {pools} pools, {objects} objects: {took:.2f} s (target < {RENDER_TARGET:.0f} s)"
