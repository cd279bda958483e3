"""Places in a stack file: how a path is written, and which values may be shown."""

from __future__ import annotations

from difflib import get_close_matches
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Place = tuple[str | int, ...]
"""Keys and list indexes from the top of a stack file, or of `hybrid:environment` or `hybrid:tenant`."""

ENVIRONMENT_KEY = "hybrid:environment"
TENANT_KEY = "hybrid:tenant"
CREDENTIALS_KEY = "hybrid:credentials"


class Unread(Enum):
    """What stands for something in a file that could not be read; what is wrong with it has been told."""

    HERE = "could not be read"


UNREAD = Unread.HERE
_ROOTS = (("config", ENVIRONMENT_KEY), ("config", TENANT_KEY))
_SECRET_WORDS = ("token", "secret", "password", "credential", "key", "secure", "passphrase")


def dotted(place: Place) -> str:
    """Write a place inside `hybrid:environment` or `hybrid:tenant`: `locations.lab.storage`."""
    return ".".join(str(step) for step in place)


def below_root(place: Place) -> str:
    """Write a place counted from the top of the file, as problems name it.

    Below the two keys that hold settings: the rest. Anywhere else: the first key that is not `config`, never more,
    since what lies deeper may be a secret.
    """
    if place[:2] in _ROOTS:
        return dotted(place[2:]) or str(place[1])
    return str(place[1] if place[0] == "config" and len(place) > 1 else place[0])


def may_be_secret(place: Place) -> bool:
    """Say whether what stands at a place (counted from the top of the file) must not be shown."""
    return place[:2] not in _ROOTS or named_like_a_secret(place[2:])


def named_like_a_secret(place: Place) -> bool:
    """Say whether a key on the way to a place sounds like a secret's, or is one's that a private key may stand in."""
    return any(str(step).lower() == "ca" or word in str(step).lower() for step in place for word in _SECRET_WORDS)


def looks_like_a_key(value: Any) -> bool:
    """Say whether a value holds the beginning of something in PEM, wherever it stands."""
    return "-----BEGIN" in str(value)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Find the known word that was probably meant, or None."""
    known = sorted(known)
    folded = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), list(folded), n=1, cutoff=0.7)
    return folded[close[0]] if close else None


def names(known: Iterable[Any]) -> str:
    """List names for a person: sorted, or `none`."""
    return ", ".join(sorted(str(name) for name in known)) or "none"


def choose(word: Any, known: Iterable[str]) -> str:
    """Say which names there are, and which one was probably meant."""
    known = sorted(known)
    close = nearest(word, known) if isinstance(word, str) else None
    meant = f"did you mean {close}? " if close else ""
    return f"{meant}there is: {names(known)}"
