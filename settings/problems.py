"""What a settings check says: one problem a line, all of them at once."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a stack file.

    `code` is stable (tests and tools may rely on it), `path` is the dotted place below `hybrid:environment` or
    `hybrid:tenant` (`locations.lab.storage`), `value` is what stands there, `why` says why it is refused and `fix`
    what to write instead. A warning does not refuse the file.
    """

    code: str
    path: str
    value: Any
    why: str
    fix: str
    severity: Severity = field(default="error", compare=False)

    def as_json(self) -> dict[str, Any]:
        """Give `{code, path, value, why, fix}` with a value that JSON can carry."""
        return {
            "code": self.code,
            "path": self.path,
            "value": json.loads(json.dumps(self.value, default=str)),
            "why": self.why,
            "fix": self.fix,
        }

    def __str__(self) -> str:
        """Give the lines that a person reads; nothing of the file breaks them or speaks to a terminal."""
        shown = json.dumps(self.value, default=str, ensure_ascii=False)
        return f"{_plain(f'{self.path}: {shown}: {self.why}')} [{self.code}]\n    fix: {_plain(self.fix)}"


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


class SettingsError(Exception):
    """A stack file that is refused, with every problem found in it."""

    def __init__(self, stack: str, problems: list[Problem]) -> None:
        """Keep the problems in the order of their paths."""
        self.stack = stack
        self.problems = sorted(problems, key=lambda problem: (problem.path, problem.code))
        super().__init__(str(self))

    def __str__(self) -> str:
        """Give the whole list, ready to print."""
        count = len(self.problems)
        head = f"stack {self.stack}: {count} problem{'s' if count != 1 else ''} in its settings"
        return "\n".join([head, *(f"  {line}" for problem in self.problems for line in str(problem).split("\n"))])
