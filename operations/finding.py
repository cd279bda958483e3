"""One row of the audit's table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["ok", "WRONG", "not checked"]

ANSWER = "; the answer: "
"""What stands in a detail between the audit's own words and the API server's."""


@dataclass(frozen=True)
class Finding:
    """One row of the audit's table; `group` says of which rows a person wants to read one line and a count."""

    part: str
    what: str
    outcome: Outcome
    detail: str = ""
    group: str = ""
