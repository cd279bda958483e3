"""The rendered policies as the API server applies them, without one: match, parameter, conditions, rules."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manifests.generations import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

Body = dict[str, Any]
_ROOT = Path(__file__).resolve().parents[2]
_PLURALS = {"Scale": "kamajicontrolplanes/scale", "Secret": "secrets"}


@dataclass(frozen=True)
class Request:
    """A request to the API server: `operation` is "create" or "update", `user` a user's name there.

    `dry_run` is left out if it is None.
    """

    namespace: str
    operation: str
    body: Body
    old: Body | None = None
    user: str = "admin"
    dry_run: bool | None = False

    @property
    def resource(self) -> str:
        """Name what is asked for, as rules do."""
        kind = self.body["kind"]
        return KINDS[kind].plural if kind in KINDS else _PLURALS.get(kind, f"{kind.lower()}s")

    @property
    def data(self) -> Body:
        """Give what expressions see but for `params`."""
        group, _, version = self.body["apiVersion"].rpartition("/")
        resource, _, subresource = self.resource.partition("/")
        asked: Body = {
            "namespace": self.namespace,
            "name": self.body["metadata"].get("name", ""),
            "operation": self.operation.upper(),
            "subResource": subresource,
            "kind": {"group": group, "version": version, "kind": self.body["kind"]},
            "resource": {"group": group, "version": version, "resource": resource},
            "userInfo": {"username": self.user, "groups": groups(self.user)},
        }
        if self.dry_run is not None:
            asked["dryRun"] = self.dry_run
        return {"resource": self.resource, "object": self.body, "oldObject": self.old, "request": asked}


def groups(user: str) -> list[str]:
    """Give the groups that the API server puts a user in."""
    if user.startswith("system:serviceaccount:"):
        return [
            "system:serviceaccounts",
            user.replace("account:", "accounts:").rpartition(":")[0],
            "system:authenticated",
        ]
    return ["system:masters", "system:authenticated"]


@dataclass(frozen=True)
class Bound:
    """A policy with one binding and its parameter (None where the binding has none)."""

    policy: str
    spec: Body
    binding: str
    params: Body | None


class Guard:
    """All policies of an environment that are bound."""

    def __init__(self, bodies: Iterable[Body]) -> None:
        """Find policies, bindings and their parameters among an environment's objects."""
        found = list(bodies)
        named = {(body["kind"], body["metadata"]["name"]): body for body in found}
        self.bound = []
        for body in found:
            if body["kind"] != "ValidatingAdmissionPolicyBinding":
                continue
            spec = named["ValidatingAdmissionPolicy", body["spec"]["policyName"]]["spec"]
            params = None
            if "paramKind" in spec:
                params = named[spec["paramKind"]["kind"], body["spec"]["paramRef"]["name"]]
            self.bound.append(Bound(body["spec"]["policyName"], spec, body["metadata"]["name"], params))


class Worker:
    """The evaluator's process; use as a context."""

    def __init__(self) -> None:
        """Start it."""
        command = [sys.executable, "-m", "tests.guard.cel_worker"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT)

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=30)

    def order(self, **order: Any) -> Any:
        """Send one order, give its answer."""
        if self._process.stdin is None or self._process.stdout is None:
            message = "the evaluator has no pipes"
            raise RuntimeError(message)
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            message = f"the evaluator ended with {self._process.wait()}"
            raise RuntimeError(message)
        return json.loads(answer)

    def judge(self, guard: Guard, requests: Sequence[Request]) -> list[list[str]]:
        """Give for each request the messages of all refusals, each with the binding's name before it."""
        said: list[list[str]] = [[] for _ in requests]
        cases = [request.data for request in requests]
        for bound in guard.bound:
            found = self.order(judge=bound.spec, cases=cases, params=bound.params)
            for messages, refusals in zip(said, found, strict=True):
                messages.extend(f"{bound.binding}: {text}" for text in refusals)
        return said
