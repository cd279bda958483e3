"""What is said where a command can not write what it was told to write."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = "a folder that is new, empty, or holds only rendered files, where you may write"
FILE = "a file in a folder that is there and in which you may write"


class UnwritableError(Exception):
    """A place that can not be written; the message says which, why, and what to name instead."""


@contextmanager
def writing(target: Path, instead: str) -> Iterator[None]:
    """Raise UnwritableError for what the operating system refuses while `target` is written."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        message = f"OUT={target} can not be written: {reason}; name {instead}"
        raise UnwritableError(message) from None
