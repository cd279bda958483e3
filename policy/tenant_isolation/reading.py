"""The one way in which rules look at a resource's inputs.

The SDK hands inputs over in proxies that are neither `dict` nor `list` and that raise `UnknownValueError` where a value
is not known yet, even on `"key" in props`; an error that escapes is reported as *advisory*, whatever the policy's level
(pulumi_policy 1.21, `policy.py`, `Analyze`). So rules never touch a proxy: they ask `read`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final

from pulumi_policy.proxy import UnknownValueError

PROXY_KEY = "__target"
"""Asked for this key, a proxy gives what it wraps, unchecked: no input may be read under this name."""


class Missing(Enum):
    """Why there is no value."""

    ABSENT = "absent"
    UNKNOWN = "unknown"


ABSENT: Final = Missing.ABSENT
UNKNOWN: Final = Missing.UNKNOWN


def read(props: object, *path: str | int) -> Any:
    """Give the value at a path of names and positions as plain data, `ABSENT`, or `UNKNOWN`.

    Null is absent. A path that goes through something unknown is unknown, and one through anything that has no such
    name or position is absent. Dicts and lists come whole; unknown values inside them are `UNKNOWN`.
    """
    found = props
    for step in path:
        found = _step(found, step)
        if isinstance(found, Missing):
            return found
    return _plain(found)


def _step(holder: object, step: str | int) -> Any:
    if step == PROXY_KEY:
        return UNKNOWN
    try:
        if isinstance(holder, Mapping) or (_is_list(holder) and isinstance(step, int)):
            value = holder[step]  # type: ignore[index]  # either of the two takes the step
        else:
            return ABSENT
    except UnknownValueError:
        return UNKNOWN
    except (KeyError, IndexError):
        return ABSENT
    return ABSENT if value is None else value


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        parts = {str(key): _plain(_step(value, key)) for key in value}
        return {key: part for key, part in parts.items() if part is not ABSENT}
    if _is_list(value):
        return [_plain(_step(value, i)) for i in range(len(value))]  # type: ignore[arg-type]  # a sequence
    return value


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def whole_number(value: object) -> int | None:
    """Give a number that is whole as int (from the engine every one is a float), or None: a text is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not value.is_integer():
        return None
    return int(value)
