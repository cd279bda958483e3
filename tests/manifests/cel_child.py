"""Evaluates ValidatingAdmissionPolicies offline: one JSON request a line on standard input, one answer a line.

A program of its own, since the evaluator's library ends with a crash at the interpreter's exit after null results.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from typing import Any

from cel_expr_python import cel
from cel_expr_python.ext import ext_optional, ext_strings

_NAMES = ("object", "oldObject", "request", "params")
_ENV = cel.NewEnv(
    variables=dict.fromkeys(_NAMES, cel.Type.DYN),
    extensions=[ext_optional.ExtOptional(), ext_strings.ExtStrings()],
)


@functools.cache
def compiled(expression: str) -> Any:
    return _ENV.compile(expression)


def inlined(expression: str, variables: dict[str, str]) -> str:
    """Put each variable's own expression in its place, as the API server evaluates them: only when they are used."""
    return re.sub(r"\bvariables\.(\w+)", lambda match: f"({inlined(variables[match[1]], variables)})", expression)


def value(expression: str, variables: dict[str, str], data: dict[str, Any]) -> Any:
    result = compiled(inlined(expression, variables)).eval(data=data)
    if result.type() == cel.Type.ERROR:
        raise ValueError(str(result.value()))
    return result.plain_value()


def judge(asked: dict[str, Any]) -> dict[str, Any]:
    """Give {"skipped": bool, "refusals": [...]}; an expression that fails refuses, as failurePolicy Fail does."""
    spec = asked["policy"]
    data = {name: asked.get(name) for name in _NAMES}
    for condition in spec.get("matchConditions", []):
        if value(condition["expression"], {}, data) is not True:
            return {"skipped": True, "refusals": []}
    variables = {item["name"]: item["expression"] for item in spec.get("variables", [])}
    refusals = []
    for rule in spec["validations"]:
        try:
            passed = value(rule["expression"], variables, data)
        except (RuntimeError, ValueError) as error:
            refusals.append({"message": f"error: {error}", "reason": "error"})
            continue
        if passed is not True:
            refusals.append({"message": _message(rule, variables, data), "reason": rule.get("reason")})
    return {"skipped": False, "refusals": refusals}


def _message(rule: dict[str, Any], variables: dict[str, str], data: dict[str, Any]) -> str:
    if "messageExpression" not in rule:
        return str(rule["message"])
    return str(value(rule["messageExpression"], variables, data))


def main() -> None:
    for line in sys.stdin:
        sys.stdout.write(json.dumps(judge(json.loads(line))) + "\n")
        sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
