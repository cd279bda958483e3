"""Figure (c): the preview of a tenant's stack against a program of bare registrations of the same resources."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from lab.env_file import full_environment
from lab.up import LabError, pulumi, refresh_tenant_kubeconfig, up

if TYPE_CHECKING:
    from lab.layout import Layout

STACK = "lab-acme"
PAIRS = 7
TARGET = 1.3


def preview_ratio(layout: Layout) -> str:
    """Bring up environment and tenant in `layout`'s lab, then time both programs' previews in turn."""
    up(layout, None, lambda _: None)
    pulumi(layout, "lab", "up", "--yes", "-s", "lab")
    refresh_tenant_kubeconfig(layout, STACK)
    pulumi(layout, STACK, "up", "--yes", "-s", STACK)
    bare = _bare_project(layout)
    ours, theirs = [], []
    for _ in range(PAIRS + 1):
        ours.append(_time(layout, layout.project))
        theirs.append(_time(layout, bare))
    ratios = sorted(a / b for a, b in zip(ours[1:], theirs[1:], strict=True))  # the first pair warms the caches
    return (
        f"(c) preview of {STACK}: {median(ours[1:]):.2f} s, bare registrations {median(theirs[1:]):.2f} s, "
        f"ratio {median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f} over {PAIRS} pairs; target <= {TARGET})"
    )


def _bare_project(layout: Layout) -> Path:
    folder = layout.home / "bare"
    folder.mkdir()
    for name in ("Pulumi.yaml", "stacks", ".venv"):
        source = layout.project / name
        if source.is_symlink():
            (folder / name).symlink_to(source.readlink())
        elif source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy2(source, folder / name)
    shutil.copy2(Path(__file__).with_name("bare.py"), folder / "__main__.py")
    exported = pulumi(layout, STACK, "stack", "export", "--show-secrets", "-s", STACK)
    resources = json.loads(exported)["deployment"]["resources"]
    (folder / "resources.json").write_text(json.dumps(resources))
    return folder


def _time(layout: Layout, folder: Path) -> float:
    command = ["pulumi", "preview", "--expect-no-changes", "-s", STACK]
    began = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=full_environment(layout, STACK), capture_output=True, text=True, check=False
    )
    took = time.perf_counter() - began
    if done.returncode:
        message = f"preview in {folder.name}: {done.stdout}{done.stderr}"
        raise LabError(message)
    return took
