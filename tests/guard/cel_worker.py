"""Judges many requests by many policies offline: one JSON order a line on standard input, one answer a line.

A program of its own, since the evaluator's library ends with a crash at the interpreter's exit after null results.
Orders:
* {"judge": a policy's spec, "cases": [{"object", "oldObject", "request"}, …], "params": …} gives each case's refusals;
  with "keep": true, the cases are kept.
* {"policy": the key, "expected": [[refused, [words, …], clean], …]} says what is known of the cases kept last; null.
* {"policy": the key, "spec": …} gives "killed" if a kept case tells the policy from the known: another verdict, an
  expression's error where `clean` says that there is none, or no message with all of the words. Null where none does,
  "invalid" for a policy that the API server would not take.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from cel_expr_python import cel

from tests.manifests.cel_child import _ENV, _NAMES, inlined

Spec = dict[str, Any]


class InvalidError(Exception):
    """An expression does not compile."""


class Policy:
    """A policy whose expressions are compiled when they are first needed."""

    def __init__(self, spec: Spec) -> None:
        """Compile nothing yet."""
        self._variables = {item["name"]: item["expression"] for item in spec.get("variables", [])}
        self._conditions = [item["expression"] for item in spec.get("matchConditions", [])]
        self._rules = spec["validations"]
        self._matches = spec["matchConstraints"]["resourceRules"]
        self._compiled: dict[str, Any] = {}

    def compile(self) -> None:
        """Compile everything; raise InvalidError where the API server would refuse the policy."""
        for text in [*self._conditions, *self._variables.values(), *(rule["expression"] for rule in self._rules)]:
            self._expression(text)

    def refusals(self, case: Case) -> list[str]:
        """Give the messages of the rules that refuse; an expression that fails refuses, as failurePolicy Fail does."""
        if not self._matched(case):
            return []
        for condition in self._conditions:
            passed = self._value(condition, case)
            if passed is None:
                return ["error: a match condition failed"]
            if passed is not True:
                return []
        said = []
        for rule in self._rules:
            passed = self._value(rule["expression"], case)
            if passed is None:
                said.append(f"error: {rule['expression']}")
            elif passed is not True:
                said.append(self._message(rule, case))
        return said

    def _matched(self, case: Case) -> bool:
        return any(
            case.resource in rule["resources"] and case.operation in rule["operations"] for rule in self._matches
        )

    def _message(self, rule: dict[str, Any], case: Case) -> str:
        text = self._value(rule["messageExpression"], case) if "messageExpression" in rule else None
        usable = isinstance(text, str) and text.strip() and len(text) <= 5 * 1024 and "\n" not in text
        return str(text) if usable else str(rule["message"])

    def _value(self, text: str, case: Case) -> Any:
        """Evaluate; None for an error."""
        try:
            result = self._expression(text).eval(activation=case.activation)
        except RuntimeError:
            return None
        return None if result.type() == cel.Type.ERROR else result.plain_value()

    def _expression(self, text: str) -> Any:
        if text not in self._compiled:
            whole = inlined(text, self._variables)
            if whole not in _COMPILED:
                try:
                    _COMPILED[whole] = _ENV.compile(whole)
                except (RuntimeError, ValueError) as error:
                    raise InvalidError(str(error)) from error
            self._compiled[text] = _COMPILED[whole]
        return self._compiled[text]


class Case:
    """A request with one parameter, as data for expressions."""

    def __init__(self, given: dict[str, Any], params: dict[str, Any] | None) -> None:
        """Convert it once."""
        self.resource = given["resource"]
        self.operation = given["request"]["operation"]
        self.activation = _ENV.Activation({**{name: given.get(name) for name in _NAMES}, "params": params})


_COMPILED: dict[str, Any] = {}
_LAST: list[Case] = []
_KEPT: dict[str, list[tuple[Case, list[Any]]]] = {}


def answer(order: dict[str, Any]) -> Any:
    """Do what one line asks for."""
    if "spec" in order:
        return _told(order["spec"], _KEPT[order["policy"]])
    if "expected" in order:
        _KEPT.setdefault(order["policy"], []).extend(zip(_LAST, order["expected"], strict=True))
        return None
    policy = Policy(order["judge"])
    cases = [Case(given, order.get("params")) for given in order["cases"]]
    if "keep" in order:
        _LAST[:] = cases
    return [policy.refusals(case) for case in cases]


def _told(spec: Spec, kept: list[tuple[Case, list[Any]]]) -> str | None:
    policy = Policy(spec)
    try:
        policy.compile()
    except InvalidError:
        return "invalid"
    for index, (case, expected) in enumerate(kept):
        if _differs(policy.refusals(case), *expected):
            kept.insert(0, kept.pop(index))  # what told one mutant is likely to tell the next
            return "killed"
    return None


def _differs(found: list[str], refused: bool, promised: list[list[str]], clean: bool) -> bool:  # noqa: FBT001 - from JSON
    if bool(found) != refused or (clean and any(text.startswith("error: ") for text in found)):
        return True
    return not all(any(all(word in text for word in words) for text in found) for words in promised)


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()
        if len(_COMPILED) > 5000:
            _COMPILED.clear()
    os._exit(0)


if __name__ == "__main__":
    main()
