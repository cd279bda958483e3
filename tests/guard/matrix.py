"""The guard's case matrix as requests: those that need no conversion between versions, which only a server does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.generations import KINDS, api_version
from manifests.guard_cases import cases
from settings.environment import Environment
from tests.guard.offline import Request

if TYPE_CHECKING:
    from manifests.guard_cases import Case

Body = dict[str, Any]


def matrix(stack: Body) -> list[tuple[Case, Request]]:
    """Give every case of an environment with its request."""
    environment = Environment.model_validate(stack)
    generation = environment.management.generation
    users = {"controller": environment.management.controllers.capmox, "admin": "admin"}
    found = []
    for case in cases(environment):
        kind = case.body["kind"]
        if kind in KINDS and case.body["apiVersion"] != api_version(kind, generation):
            continue
        user = users.get(case.user, f"system:serviceaccount:{case.namespace}:hybrid")
        found.append((case, Request(case.namespace, case.operation, case.body, case.old, user)))
    return found
