"""One request to the management cluster with its verdict, and the collecting of them in pairs."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from settings.environment import Generation

Operation = Literal["create", "update"]
Verdict = Literal["admit", "deny"]
User = Literal["controller", "tenant", "admin"]
Body = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One request. Objects whose name is of no matter are named after the case, so that no two meet."""

    name: str
    """A sentence, unique among the cases of an environment."""
    policy: str
    """The policy that decides it."""
    generation: Generation
    namespace: str
    operation: Operation
    body: Body
    """The object as it is sent; for an update the whole new object."""
    old: Body | None
    """The object before an update, of the same name. What only a server sets is not there, but for the
    `deletionTimestamp` of one that is being deleted: a server has it after a DELETE, since it has a finalizer."""
    verdict: Verdict
    message: str | None
    """A part of the refusal, None where several policies word it or nothing is refused."""
    twin: str
    """The name of a case of the other verdict that differs in nothing but what decides."""
    user: User
    """Who sends it: capmox's controller, the tenant's own identity in the namespace, or an administrator."""
    also: tuple[str, ...] = ()
    """Other policies that refuse it too: a server names one of them all, whichever it asks first."""
    before: bool = False
    """Whether `old` is refused itself: then it can only have been made before the guard was there."""

    @property
    def deleting(self) -> bool:
        """Tell whether the object is being deleted already."""
        return self.old is not None and "deletionTimestamp" in self.old["metadata"]

    @property
    def policies(self) -> tuple[str, ...]:
        """Name every policy that a refusal may come from."""
        return (self.policy, *self.also)


@dataclass(frozen=True)
class Request:
    """What a case sends, without its verdict; `namespace` is the body's."""

    text: str
    body: Body
    old: Body | None = None
    user: User = "admin"
    before: bool = False


class Matrix:
    """Collects the cases of one policy: each refusal names the request that must pass beside it."""

    def __init__(self, policy: str, generation: Generation) -> None:
        """Begin with nothing."""
        self._policy = policy
        self._generation = generation
        self._admitted: dict[str, Case] = {}
        self._denied: dict[str, Case] = {}

    def refuse(self, request: Request, *, twin: Request, says: str | None = None, also: Iterable[str] = ()) -> None:
        """Add a refusal and, if it is not there yet, its twin. `says` is a part of the refusal."""
        if request.text in self._denied or request.text in self._admitted or twin.text in self._denied:
            message = f"a case is there twice: {request.text}"
            raise ValueError(message)
        denied = self._case(request, "deny", twin.text)
        self._denied[request.text] = replace(denied, message=says, also=tuple(also))
        self._admitted.setdefault(twin.text, self._case(twin, "admit", request.text))

    def all(self) -> list[Case]:
        """Give the cases, each admitted one before the first refusal that has it as its twin."""
        placed: dict[str, Case] = {}
        for case in self._denied.values():
            placed.setdefault(case.twin, self._admitted[case.twin])
            placed[case.name] = case
        return list(placed.values())

    def _case(self, request: Request, verdict: Verdict, twin: str) -> Case:
        body, old = copy.deepcopy(request.body), copy.deepcopy(request.old)
        name = body["metadata"].get("name") or f"guard-{hashlib.sha256(request.text.encode()).hexdigest()[:10]}"
        for each in (body, old):
            if each is not None:
                each["metadata"] = {"name": name, **each["metadata"]}
        return Case(
            name=request.text,
            policy=self._policy,
            generation=self._generation,
            namespace=body["metadata"]["namespace"],
            operation="create" if old is None else "update",
            body=body,
            old=old,
            verdict=verdict,
            message=None,
            twin=twin,
            user=request.user,
            before=request.before,
        )
