"""Plain data as YAML text, always the same for the same data."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import yaml
from yaml import events

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
"""What no YAML reader takes for anything but text, but for these words: numbers, times and the like begin otherwise."""

_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}

_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""The C one where the library was built with it. It is fed with events: finding out what a value is takes longest."""

_AS_IT_IS = (True, False)
_AS_TEXT = (False, True)


def yaml_text(data: Any) -> str:
    """Write data (dicts, lists, text, numbers, booleans) as block YAML, keys in their order.

    What YAML 1.1 and 1.2 readers could read differently (1e3, 0o17, 12:30, no) is in quotes.
    """
    text: str = yaml.emit(_document(data), Dumper=_DUMPER, allow_unicode=True, width=1_000_000)
    return text


def _document(data: Any) -> Iterator[events.Event]:
    yield events.StreamStartEvent()
    yield events.DocumentStartEvent(explicit=False)
    yield from _events(data)
    yield events.DocumentEndEvent(explicit=False)
    yield events.StreamEndEvent()


def _events(data: Any) -> Iterator[events.Event]:
    if isinstance(data, str):
        yield _text(data)
    elif isinstance(data, dict):
        yield events.MappingStartEvent(None, None, True, flow_style=not data)  # noqa: FBT003 - positional there
        for key, value in data.items():
            yield _text(key)
            yield from _events(value)
        yield events.MappingEndEvent()
    elif isinstance(data, list | tuple):
        yield events.SequenceStartEvent(None, None, True, flow_style=not data)  # noqa: FBT003 - positional there
        for item in data:
            yield from _events(item)
        yield events.SequenceEndEvent()
    elif isinstance(data, bool | int):
        yield events.ScalarEvent(None, None, _AS_IT_IS, str(data).lower())
    else:
        message = f"not plain data: {data!r}"
        raise TypeError(message)


@functools.lru_cache(maxsize=4096)
def _text(value: str) -> events.Event:
    if "\n" in value:
        return events.ScalarEvent(None, None, _AS_TEXT, value, style="|")
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return events.ScalarEvent(None, None, _AS_IT_IS, value)
    return events.ScalarEvent(None, None, _AS_TEXT, value, style='"')
