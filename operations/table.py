"""The audit's findings as text for a person, or as JSON."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from operations.audit import Finding


def show(findings: Sequence[Finding], *, as_json: bool = False) -> str:
    """Give one line a finding, in columns, and a last line that counts; details of what is wrong stand below it."""
    if as_json:
        return json.dumps([asdict(item) for item in findings], indent=2)
    outcome, part = (max(len(value) for value in column) for column in _columns(findings))
    lines = []
    for item in findings:
        line = f"{item.outcome:<{outcome}}  {item.part:<{part}}  {item.what}"
        if item.outcome == "ok":
            lines.append(f"{line}: {item.detail}" if item.detail else line)
        else:
            lines += [line, *([f"{'':<{outcome}}  {'':<{part}}    {item.detail}"] if item.detail else [])]
    counted = Counter(item.outcome for item in findings)
    wrong, unchecked = counted["WRONG"], counted["not checked"]
    return "\n".join([*lines, f"{wrong} wrong, {unchecked} not checked, {counted['ok']} as they must be"])


def _columns(findings: Sequence[Finding]) -> tuple[list[str], list[str]]:
    return ["WRONG", *(item.outcome for item in findings)], ["", *(item.part for item in findings)]
