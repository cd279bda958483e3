"""One JSON file per endpoint: locked, written atomically, safe for many plugin processes at once."""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

HCLOUD = "hcloud"
ENVIRONMENT = "HYBRID_LAB_CLOUDS"


def state_name(endpoint: str) -> str:
    """Return the name of an endpoint's state file without `.json`.

    `https://pve.lab.example:8006/` and `https://pve.lab.example:8006/api2/json` are the same Proxmox endpoint, and both
    are `pve.lab.example_8006`; `hcloud` is Hetzner Cloud.
    """
    if endpoint == HCLOUD:
        return HCLOUD
    url = urlsplit(endpoint)
    host = f"{url.hostname or endpoint}_{url.port or 443}"
    return re.sub(r"[^A-Za-z0-9._-]", "_", host)


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock of one state file, across processes."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def read(folder: Path, endpoint: str) -> dict[str, Any] | None:
    """Return an endpoint's state, or None when it was never seeded."""
    path = folder / f"{state_name(endpoint)}.json"
    try:
        state: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    return state


@contextmanager
def look(folder: Path, endpoint: str) -> Iterator[dict[str, Any]]:
    """Yield an endpoint's state (empty when never seeded) for a call that changes nothing; takes no lock."""
    yield read(folder, endpoint) or {}


@contextmanager
def edit(folder: Path, endpoint: str) -> Iterator[dict[str, Any]]:
    """Change an endpoint's state by hand, as somebody with the cloud's own console would.

    Yields the state (empty when never seeded) and writes it when the block ends well; an exception writes nothing.
    """
    name = state_name(endpoint)
    path = folder / f"{name}.json"
    with locked(folder, name):
        before = path.read_text() if path.exists() else "{}"
        state: dict[str, Any] = json.loads(before)
        yield state
        after = json.dumps(state)  # not indented: that would take the slow encoder
        if after != before:
            write_atomically(path, after.encode())


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old or the new content, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    new.write_bytes(content)
    new.replace(path)


def all_states(folder: Path) -> dict[str, dict[str, Any]]:
    """Return every endpoint's state by the name of its file, in order of name."""
    return {
        path.stem: json.loads(path.read_text())
        for path in sorted(folder.glob("*.json"))
        if path.name != "faults.json" and not path.name.startswith(".")
    }
