"""Numbers as they come from the engine: every one a float."""

from __future__ import annotations


def whole_number(value: object) -> int | None:
    """Give a number that is whole as int, or None: a text that looks like a number is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not value.is_integer():
        return None
    return int(value)
