"""The NoCloud ISO from which a direct VM reads its machine configuration at first boot."""

from __future__ import annotations

import hashlib
import io
import os
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pycdlib

from components.leftovers import Leftovers

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(".build/iso")
EPOCH = 1_000_000_000.0
"""The time that every date in an ISO shows, so that equal contents are equal bytes."""

LEFT = 24 * 3600.0
"""Seconds after which a file is of no run that still goes on."""

_leftovers = Leftovers()


def content_hash(hostname: str, user_data: str) -> str:
    """Give 16 hexadecimal digits that change exactly when the ISO's contents do."""
    return hashlib.sha256(f"{hostname}\0{user_data}".encode()).hexdigest()[:16]


def seed_iso(hostname: str, user_data: str) -> bytes:
    """Make the ISO: volume `cidata` with `user-data` and `meta-data`; the same bytes on every run and machine."""
    meta_data = f"instance-id: {hostname}-{content_hash(hostname, user_data)}\nlocal-hostname: {hostname}\n"
    image = io.BytesIO()
    with _stopped_clock():
        iso = pycdlib.PyCdlib()
        iso.new(interchange_level=3, joliet=3, rock_ridge="1.09", vol_ident="cidata")
        for name, text in (("user-data", user_data), ("meta-data", meta_data)):
            data = text.encode()
            iso.add_fp(
                io.BytesIO(data),
                len(data),
                f"/{name.upper().replace('-', '')}.;1",
                rr_name=name,
                joliet_path=f"/{name}",
            )
        iso.write_fp(image)
        iso.close()
    return image.getvalue()


def write_seed(hostname: str, user_data: str) -> Path:
    """Write the ISO for its owner's eyes only and give its path, `.build/iso/<hash>.iso`.

    It is there until the program has ended, well or not, which is after the last upload.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    _remove_old()
    path = FOLDER / f"{content_hash(hostname, user_data)}.iso"
    part = path.with_suffix(f".{os.getpid()}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        _leftovers.remember(os.fstat(file.fileno()).st_ino, part, path)
        file.write(seed_iso(hostname, user_data))
    part.replace(path)
    return path


def _remove_old() -> None:
    """Take away what a machine that crashed has left."""
    for path in (*FOLDER.glob("*.iso"), *FOLDER.glob("*.part")):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > LEFT:
                path.unlink()


@contextmanager
def _stopped_clock() -> Iterator[None]:
    # pycdlib has no setting for its dates: it asks `time` for the moment and for the local zone.
    with mock.patch.object(time, "time", return_value=EPOCH), mock.patch.object(time, "localtime", time.gmtime):
        yield
