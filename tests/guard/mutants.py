"""Policies with one thing in their expressions broken: each comparison, conjunct, quantifier, `has()`, `?`, default.

A mutant that the evaluator does not compile is none: the API server would not take such a policy either.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests.guard.cel_syntax import Node, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Spec = dict[str, Any]

_COMPARISONS = {"==": ("!=",), "!=": ("==",), "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<")}
_QUANTIFIERS = {"all": "exists", "exists": "all", "exists_one": "exists"}
_CONDITIONS = {
    "has": "has",
    "hasValue": "has",
    "filter": "filter",
    "startsWith": "test",
    "endsWith": "test",
    "contains": "test",
    "matches": "test",
}
_VALUES = ("size", "lowerAscii", "string", "dyn", "join", "map", "value", "int", "type", "split")
"""What makes a value of a value: nothing in them can be broken but what they are given."""
_TEXT_ONLY = "messageExpression"


@dataclass(frozen=True)
class Change:
    """One thing broken in an expression: the text from `start` to `end` replaced."""

    kind: str
    start: int
    end: int
    new: str

    def applied(self, text: str) -> str:
        """Give the broken expression."""
        return text[: self.start] + self.new + text[self.end :]


@dataclass(frozen=True)
class Mutant:
    """A policy with one thing broken.

    `place` names the expression: "variables.foreign", "validations[2].expression"; `number` tells the same change at
    several places of it apart, from 0.
    """

    policy: str
    place: str
    kind: str
    number: int
    old: str
    new: str
    spec: Spec

    @property
    def key(self) -> str:
        """Name the mutant for a person and for the list of equivalent ones."""
        which = f" [{self.number}]" if self.number else ""
        return f"{self.policy} {self.place} {self.kind}{which}: {self.old.strip()} -> {self.new.strip() or 'nothing'}"


def mutants(name: str, spec: Spec) -> Iterator[Mutant]:
    """Give all mutants of a policy: of its expressions in their order, then of what it matches."""
    places = [
        (f"variables.{item['name']}", ("variables", index)) for index, item in enumerate(spec.get("variables", []))
    ]
    places += [
        (f"matchConditions.{item['name']}", ("matchConditions", index))
        for index, item in enumerate(spec.get("matchConditions", []))
    ]
    places += [(f"validations[{index}]", ("validations", index)) for index in range(len(spec["validations"]))]
    for place, (part, index) in places:
        for field in ("expression", _TEXT_ONLY):
            text = spec[part][index].get(field)
            if text is None:
                continue
            shown = f"{place}.{field}" if part == "validations" else place
            seen: Counter[tuple[str, str]] = Counter()
            for change in changes(text):
                broken = copy.deepcopy(spec)
                broken[part][index][field] = change.applied(text)
                old = text[change.start : change.end]
                yield Mutant(name, shown, change.kind, seen[old, change.new], old, change.new, broken)
                seen[old, change.new] += 1
    yield from _outer(name, spec)


def _outer(name: str, spec: Spec) -> Iterator[Mutant]:
    """Leave out one rule, one matched resource or one operation."""
    for index, rule in enumerate(spec["validations"]):
        broken = copy.deepcopy(spec)
        del broken["validations"][index]
        yield Mutant(name, f"validations[{index}]", "rule", 0, rule["message"], "", broken)
    for number, rule in enumerate(spec["matchConstraints"]["resourceRules"]):
        for part in ("resources", "operations"):
            for index, item in enumerate(rule[part]):
                broken = copy.deepcopy(spec)
                del broken["matchConstraints"]["resourceRules"][number][part][index]
                yield Mutant(name, f"resourceRules[{number}].{part}", part, 0, item, "", broken)
    for index, condition in enumerate(spec.get("matchConditions", [])):
        broken = copy.deepcopy(spec)
        del broken["matchConditions"][index]
        yield Mutant(name, "matchConditions", "condition", 0, condition["name"], "", broken)


def changes(text: str) -> list[Change]:
    """Give every single change of an expression, in the order of their places; no two give the same text."""
    found: dict[str, Change] = {}
    for node in parse(text).walk():
        for change in _of(node, text):
            found.setdefault(change.applied(text), change)
    found.pop(text, None)
    return sorted(found.values(), key=lambda change: (change.start, change.end, change.new))


def _of(node: Node, text: str) -> Iterator[Change]:
    breaker = _BREAKERS.get(node.kind)
    if breaker:
        yield from breaker(node, text)


def _of_chain(node: Node, _: str) -> Iterator[Change]:
    """Leave out one operand, and take the other operator between two."""
    neutral, other = ("true", "||") if node.kind == "and" else ("false", "&&")
    for part in node.parts:
        yield Change("conjunct" if node.kind == "and" else "disjunct", part.start, part.end, neutral)
    for left, right in pairwise(node.parts):
        yield Change("operator", left.end, right.start, f" {other} ")


def _of_comparison(node: Node, _: str) -> Iterator[Change]:
    for new in _COMPARISONS[node.name]:
        yield Change("comparison", node.mark, node.mark + len(node.name), new)


def _of_in(node: Node, text: str) -> Iterator[Change]:
    yield Change("comparison", node.start, node.end, f"!({text[node.start : node.end]})")


def _of_not(node: Node, _: str) -> Iterator[Change]:
    yield Change("negation", node.start, node.start + 1, "")


def _of_ternary(node: Node, text: str) -> Iterator[Change]:
    for chosen in node.parts[1:]:
        yield Change("ternary", node.start, node.end, f"({text[chosen.start : chosen.end]})")


def _of_select(node: Node, _: str) -> Iterator[Change]:
    """Read an optional field as one that is there; below an optional field "." means the same as ".?"."""
    if node.optional and not node.parts[0].optional:
        yield Change("optional", node.mark, node.mark + 2, ".")


def _of_leaf(node: Node, _: str) -> Iterator[Change]:
    if node.name.isdigit():
        yield Change("number", node.start, node.end, str(int(node.name) + 1))


def _of_list(node: Node, text: str) -> Iterator[Change]:
    """Leave out one element, and read an optional one as if it were there."""
    for part, flag in zip(node.parts, node.flags, strict=True):
        kept = [
            f"{'' if mark is None else '?'}{text[other.start : other.end]}"
            for other, mark in zip(node.parts, node.flags, strict=True)
            if other is not part
        ]
        yield Change("element", node.start, node.end, f"[{', '.join(kept)}]")
        if flag is not None:
            yield Change("optional", flag, part.end, f"{text[part.start : part.end]}.value()")


def _of_call(node: Node, text: str) -> Iterator[Change]:
    if node.name in _QUANTIFIERS:
        yield Change("quantifier", node.mark, node.mark + len(node.name), _QUANTIFIERS[node.name])
    elif node.name == "orValue":
        yield Change("default", node.parts[0].end, node.end, ".value()")
    elif node.name in _CONDITIONS:
        kind = _CONDITIONS[node.name]
        whole = node.parts[2] if kind == "filter" else node
        yield Change(kind, whole.start, whole.end, "true")
        yield Change(kind, whole.start, whole.end, "false")
        if node.name == "matches":
            yield from _of_pattern(node.parts[1], text)
    elif node.name not in _VALUES:
        message = f"it is not known how to break {node.name} in {text[node.start : node.end]}"
        raise ValueError(message)


def _of_pattern(pattern: Node, text: str) -> Iterator[Change]:
    """Leave out an anchor."""
    written = text[pattern.start : pattern.end]
    for place in (written.find("^"), written.rfind("$")):
        if place >= 0:
            yield Change("anchor", pattern.start + place, pattern.start + place + 1, "")


_BREAKERS: dict[str, Callable[[Node, str], Iterator[Change]]] = {
    "and": _of_chain,
    "or": _of_chain,
    "compare": _of_comparison,
    "in": _of_in,
    "not": _of_not,
    "ternary": _of_ternary,
    "select": _of_select,
    "leaf": _of_leaf,
    "list": _of_list,
    "call": _of_call,
}
