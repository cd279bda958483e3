"""What stops a command here, in words for the person who reads the log."""

from __future__ import annotations


class CiError(Exception):
    """Something that can not be judged as it is; the message says what to do instead."""


def shown(path: str) -> str:
    r"""Write a path so that it breaks no line and begins no workflow command (`a\n::error::` becomes `'a\\n…'`)."""
    plain = path.isascii() and path.isprintable() and not path.startswith((":", " "))
    return path if plain else ascii(path)
