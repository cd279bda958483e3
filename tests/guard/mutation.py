"""`make mutation`: every part of the policies' expressions broken once; each break must change a verdict that is known.

The requests are the guard's case matrix and drawn ones, whose right verdicts are those of the promise (the differential
test compares them). A mutant that no request tells from the policy must be listed in `equivalent.yaml` with the reason.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from manifests.generations import GENERATIONS
from tests.guard import control_planes
from tests.guard.draws import KINDS, Draw
from tests.guard.environments import full, guard
from tests.guard.matrix import matrix
from tests.guard.mutants import Mutant, mutants
from tests.guard.offline import Request, Worker
from tests.guard.promise import Promise

if TYPE_CHECKING:
    from tests.guard.offline import Guard

EQUIVALENT = Path(__file__).with_name("equivalent.yaml")
REQUESTS = 600
"""Requests for each kind of object."""

OTHERS = 20
"""Requests for kinds that a policy does not match, kept to tell that it does not."""

INVALID = "invalid"
Body = dict[str, Any]
Words = tuple[str, ...]
_NUMBERS = count()


@dataclass
class Report:
    """What a run found: mutants by their fate, and the seconds it took."""

    killed: int = 0
    invalid: int = 0
    equivalent: list[str] = field(default_factory=list)
    survivors: list[str] = field(default_factory=list)
    left_out: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def __str__(self) -> str:
        """Give a summary and every survivor, a line each."""
        lines = [
            (
                f"{self.killed} mutants killed, {len(self.survivors)} survive, {len(self.equivalent)} equivalent"
                f" (listed), {self.invalid} are no policies, {self.left_out} not tried; {self.seconds:.0f} s"
            ),
            "tried: " + ", ".join(f"{kind} {count}" for kind, count in sorted(self.kinds.items())),
        ]
        return "\n".join([*lines, *(f"survives: {key}" for key in self.survivors)])


def reasons() -> dict[str, tuple[str, ...]]:
    """Read the list of equivalent mutants: by key the generations in which it is one."""
    listed: list[dict[str, Any]] = YAML(typ="safe", pure=True).load(EQUIVALENT.read_text(encoding="utf-8"))
    return {key: tuple(item.get("generations", GENERATIONS)) for item in listed for key in item["mutants"]}


def requests(environment: Body) -> list[Request]:
    """Give the requests: always the same for one environment."""
    draws = {kind: Draw(Random(kind), environment) for kind in KINDS}  # noqa: S311 - not for secrets
    drawn = [draw.request((kind,)) for kind, draw in draws.items() for _ in range(REQUESTS)]
    draw = draws[KINDS[0]]
    return [*drawn, *draw.corners(), *control_planes.every(draw.namespaces[0], newer=draw.newer)]


class Run:
    """The mutants of one generation's policies and the requests to tell them by."""

    def __init__(self, worker: Worker, generation: str) -> None:
        """Judge every request by the policies as they are: that is what a mutant must differ from."""
        self.worker = worker
        self._number = next(_NUMBERS)
        environment = full(generation)
        self.guard: Guard = guard(environment)
        promise = Promise(environment)
        asked: list[tuple[Request, list[Words]]] = [
            (request, [(case.message,)] if case.message else []) for case, request in matrix(environment)
        ]
        asked += [(request, [item.words for item in promise.broken(request)]) for request in requests(environment)]
        for bound in self.guard.bound:
            resources = bound.spec["matchConstraints"]["resourceRules"][0]["resources"]
            matched = [item for item in asked if item[0].resource in resources]
            others = [item for item in asked if item[0].resource not in resources][:OTHERS]
            self._keep(bound.policy, bound.spec, matched + others, bound.params)
            if bound.params:
                body = matched[0][0].body
                unchanged = Request(matched[0][0].namespace, "update", body, body)
                self._keep(bound.policy, bound.spec, [*matched[:1], (unchanged, [])], None)
        for bound in self.guard.bound:
            if self._told(bound.policy, bound.spec) is not None:
                message = f"{bound.policy} itself ends in an error"
                raise ValueError(message)

    def _key(self, policy: str) -> str:
        return f"{self._number} {policy}"

    def _keep(self, policy: str, spec: Body, asked: list[tuple[Request, list[Words]]], params: Body | None) -> None:
        """Keep requests with one parameter and their verdicts; of the promised words, those that the policy says."""
        cases = [request.data for request, _ in asked]
        said = self.worker.order(judge=spec, cases=cases, params=params, keep=True)
        # Without its parameter a policy refuses; whether by a rule or by an error does not matter.
        clean = params is not None or "paramKind" not in spec
        expected = []
        for (_, promised), refusals in zip(asked, said, strict=True):
            own = [
                words for words in promised if words and any(all(word in text for word in words) for text in refusals)
            ]
            expected.append((bool(refusals), own, clean))
        self.worker.order(policy=self._key(policy), expected=expected)

    def _told(self, policy: str, spec: Body) -> Any:
        return self.worker.order(policy=self._key(policy), spec=spec)

    def mutants(self) -> list[Mutant]:
        """Give the mutants of every policy."""
        specs = {bound.policy: bound.spec for bound in self.guard.bound}
        return [mutant for name in sorted(specs) for mutant in mutants(name, specs[name])]

    def fate(self, mutant: Mutant) -> Any:
        """Say "killed" if a request tells it from the policy, None or "invalid"."""
        return self._told(mutant.policy, mutant.spec)


def run(worker: Worker, seconds: float | None = None, seed: int | None = None) -> Report:
    """Try all mutants, or those for which there is time, in an order that `seed` gives."""
    began, listed, report = time.monotonic(), reasons(), Report()
    for generation in GENERATIONS:
        one = Run(worker, generation)
        first = time.monotonic()
        todo = one.mutants()
        if seed is not None:
            Random(seed).shuffle(todo)  # noqa: S311 - not for secrets
        for index, mutant in enumerate(todo):
            if seconds is not None and time.monotonic() - first > seconds / len(GENERATIONS):
                report.left_out += len(todo) - index
                break
            _count(report, mutant, one.fate(mutant), listed, generation)
    report.seconds = time.monotonic() - began
    return report


def _count(report: Report, mutant: Mutant, fate: Any, listed: dict[str, tuple[str, ...]], generation: str) -> None:
    if fate == INVALID:
        report.invalid += 1
        return
    report.kinds[mutant.kind] += 1
    if fate is not None:
        report.killed += 1
    elif generation in listed.get(mutant.key, ()):
        report.equivalent.append(mutant.key)
    else:
        report.survivors.append(f"{mutant.key} ({generation})")


def main() -> None:
    """Run from the command line; status 1 if a mutant survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, help="time limit; all mutants without it")
    parser.add_argument("--seed", type=int, help="try them in an order of its own")
    given = parser.parse_args()
    with Worker() as worker:
        report = run(worker, given.seconds, given.seed)
    sys.stdout.write(f"{report}\n")
    sys.stdout.flush()
    listed = reasons()
    stale = [] if given.seconds else sorted(set(listed) - set(report.equivalent))
    sys.stdout.writelines(f"listed, but no mutant or not equivalent: {key}\n" for key in stale)
    sys.exit(bool(report.survivors or stale))


if __name__ == "__main__":
    main()
