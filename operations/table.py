"""The audit's findings as text for a person, or as JSON."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from operations.finding import Finding

_ORDER = ("ok", "not checked", "WRONG")
"""What is wrong stands last, beside the prompt."""


def show(findings: Sequence[Finding], *, as_json: bool = False) -> str:
    """Give a table in columns, and a last line that counts; details of what is wrong stand below it.

    Rows of one group are one line with their number and the first of them; JSON has every row.
    """
    if as_json:
        return json.dumps([asdict(item) for item in findings], indent=2)
    outcome, part = (max(len(value) for value in column) for column in _columns(findings))
    lines = []
    for group in sorted(_groups(findings), key=lambda group: _ORDER.index(group[0].outcome)):
        item = group[0]
        head, below = f"{item.outcome:<{outcome}}  {item.part:<{part}}  ", f"{'':<{outcome}}  {'':<{part}}    "
        if len(group) > 1:
            lines += [f"{head}{item.group} ({len(group)} times)", f"{below}for example {_example(item)}"]
        elif item.outcome == "ok":
            lines.append(f"{head}{item.what}: {item.detail}" if item.detail else f"{head}{item.what}")
        else:
            lines += [f"{head}{item.what}", *([f"{below}{item.detail}"] if item.detail else [])]
    counted = Counter(item.outcome for item in findings)
    wrong, unchecked = counted["WRONG"], counted["not checked"]
    said = f"{wrong} wrong, {unchecked} not checked, {counted['ok']} as they must be"
    return "\n".join([*lines, f"{said}; docs/guard.md says what to do" if wrong else said])


def _groups(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Put rows of one outcome, part and group together; a row without a group stays alone."""
    found: dict[object, list[Finding]] = {}
    for index, item in enumerate(findings):
        key = (item.outcome, item.part, item.group) if item.group else index
        found.setdefault(key, []).append(item)
    return list(found.values())


def _example(item: Finding) -> str:
    """Give a row without what its group says already."""
    where, _, why = item.group.partition(": ")
    what = item.what.removeprefix(f"{where}: ")
    detail = item.detail.removeprefix(why).removeprefix("; ")
    return f"{what}; {detail}" if detail else what


def _columns(findings: Sequence[Finding]) -> tuple[list[str], list[str]]:
    return ["WRONG", *(item.outcome for item in findings)], ["", *(item.part for item in findings)]
