"""`make mutation-pack`: every part of the pack's judgement broken once; each must change a verdict that is tested.

The verdicts are those of `cases.py` and `environment_cases.py`, of the sweep over unknown values, and of the tables in
`test_config.py` and `test_reading.py`. A mutant that none of them tells from the pack survives, unless it is listed in
`equivalent.yaml` with the reason why nothing could tell it. Of all others at least `ENOUGH` must be killed.
"""

from __future__ import annotations

import argparse
import ast
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "policy"
sys.path.insert(0, str(PACK))


from tests.policy import test_config, test_reading, test_unknowns  # noqa: E402 - likewise
from tests.policy.analyzer import UNKNOWN  # noqa: E402 - likewise
from tests.policy.cases import TENANT, Example, put, tenant_cases  # noqa: E402 - likewise
from tests.policy.environment_cases import ENVIRONMENT, environment_cases  # noqa: E402 - likewise
from tests.policy.examples import CONFIG  # noqa: E402 - likewise
from tests.policy.mutants import Mutant, mutants  # noqa: E402 - likewise
from tests.policy.offline import arguments, judged  # noqa: E402 - likewise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ENOUGH = 0.95
NAME = "tenant_isolation"
LEFT_OUT = ("__init__", "schema")
"""The schema is the engine's to check."""

EQUIVALENT = Path(__file__).with_name("equivalent.yaml")


@dataclass
class Report:
    """What a run found."""

    killed: int = 0
    equivalent: list[str] = field(default_factory=list)
    survivors: list[str] = field(default_factory=list)
    left_out: int = 0
    seconds: float = 0.0

    @property
    def score(self) -> float:
        """Give the share that was killed of those that could be."""
        tried = self.killed + len(self.survivors)
        return self.killed / tried if tried else 0.0

    def __str__(self) -> str:
        """Give a summary and every survivor, a line each."""
        line = (
            f"pack: {self.killed} mutants killed, {len(self.survivors)} survive ({self.score:.1%} killed), "
            f"{len(self.equivalent)} equivalent (listed), {self.left_out} not tried; {self.seconds:.0f} s"
        )
        return "\n".join([line, *(f"survives: {key}" for key in self.survivors)])


class Package:
    """The pack's modules, compiled once, and made anew with one of them broken."""

    def __init__(self) -> None:
        """Compile them, in an order in which each finds what it imports."""
        self.paths = {path.stem: path for path in sorted((PACK / NAME).glob("*.py")) if path.stem not in LEFT_OUT}
        self._codes = {stem: compile(path.read_text(), str(path), "exec") for stem, path in self.paths.items()}
        imports = {stem: _imported(path) for stem, path in self.paths.items()}
        self._order: list[str] = []
        while len(self._order) < len(self.paths):
            self._order += [
                stem for stem in self.paths if stem not in self._order and imports[stem] <= {*self._order, *LEFT_OUT}
            ]

    @contextmanager
    def with_(self, mutant: Mutant | None) -> Iterator[dict[str, ModuleType]]:
        """Make all modules anew, and put the old ones back at the end."""
        before = {key: module for key, module in sys.modules.items() if key.startswith(f"{NAME}.")}
        made: dict[str, ModuleType] = {}
        try:
            for stem in self._order:
                module = ModuleType(f"{NAME}.{stem}")
                sys.modules[module.__name__] = made[stem] = module
                setattr(sys.modules[NAME], stem, module)
                broken = mutant is not None and stem == mutant.module
                code = compile(mutant.tree, stem, "exec") if mutant is not None and broken else self._codes[stem]
                exec(code, module.__dict__)  # noqa: S102 - our own source
            made["policy"].__dict__["VALIDATE"] = made["policy"].tenant_isolation().validate
            yield made
        finally:
            sys.modules.update(before)
            for stem in self._order:
                setattr(sys.modules[NAME], stem, before[f"{NAME}.{stem}"])


def _imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module == NAME:
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{NAME}."):
            found.add((node.module or "").partition(".")[2])
    return found


def checks() -> list[Any]:
    """Give what must hold of the pack, each as a function of its modules that says whether it does."""
    return [*_verdicts(), *_unknowns(), *_configs(), *_readings()]


def _verdicts() -> Iterator[Any]:
    for case in [*tenant_cases(), *environment_cases()]:
        yield _verdict(arguments(case.example, CONFIG, case.provider_name), case.says)
    for key in ("stacks", "locations", "networks"):
        config = {name: part for name, part in CONFIG.items() if name != key}
        yield _verdict(arguments(TENANT[0], config), "The pack's config is not usable: it has no `")
    broken = arguments(TENANT[0], CONFIG)
    broken.urn = "urn:pulumi:::hybrid::x::y"
    yield _verdict(broken, "is not in the pack's config")


def _verdict(given: Any, says: str | None) -> Any:
    def holds(modules: Mapping[str, Any]) -> bool:
        said = judged(modules["policy"].VALIDATE, given)
        return said == [] if says is None else any(says in message for message in said)

    return holds


def _unknowns() -> Iterator[Any]:
    for example in [*TENANT, *ENVIRONMENT]:
        free = test_unknowns.NOT_JUDGED.get(example.name, set())
        for path in test_unknowns.paths(example.props):
            props = put(example.props, path, UNKNOWN)
            changed = Example(example.name, example.token, props, example.provider, example.stack)
            yield _verdict(arguments(changed, CONFIG), None if path in free else "")


def _configs() -> Iterator[Any]:
    for change, says in _table_of(test_config.test_a_config_that_is_not_whole_is_refused):
        yield _refusal(test_config.changed(change), says)
    edges = [[{**CONFIG["networks"][0], "vlan": vlan}] for vlan in (1, 4094)]
    for config in ({**CONFIG, "networks": []}, CONFIG, *({**CONFIG, "networks": rows} for rows in edges)):
        yield lambda modules, config=config: bool(modules["config"].table(config))
    for urn, stack in (("urn:pulumi:lab::a::b::c", "lab"), ("lab", None), ("urn:pulumi:lab", None), ("x:lab::a", None)):
        yield lambda modules, urn=urn, stack=stack: modules["policy"].stack_of(urn) == stack
    for written, read in _table_of(test_config.test_endpoints_are_compared_in_one_form):
        yield lambda modules, written=written, read=read: modules["endpoints"].normal(written) == read


def _refusal(config: Mapping[str, Any], says: str) -> Any:
    def holds(modules: Mapping[str, Any]) -> bool:
        try:
            modules["config"].table(config)
        except modules["config"].ConfigError as error:
            return says in str(error)
        return False

    return holds


def _readings() -> Iterator[Any]:
    for path, value in _table_of(test_reading.test_a_path_gives_a_value_or_absent_or_unknown):
        yield lambda modules, path=path, value=value: _same(modules["reading"].read(test_reading.PROPS, *path), value)


def _same(found: Any, value: Any) -> bool:
    """Compare, with markers of another copy of the module by their names."""
    return repr(found) == repr(value)


def _table_of(test: Any) -> list[Any]:
    """Give the rows of a test's `parametrize`."""
    rows: list[Any] = test.pytestmark[0].args[1]
    return rows


class Run:
    """The checks by the functions of the pack that they run, and in each those first that killed a mutant there."""

    def __init__(self) -> None:
        """Make sure that they hold of the pack as it is."""
        self.package = Package()
        self._checks = checks()
        self._of: dict[str, list[int]] = {}
        with self.package.with_(None) as modules:
            failing = [index for index in range(len(self._checks)) if not self._seen(index, modules)]
        if failing:
            message = f"checks {failing} do not hold of the pack itself"
            raise ValueError(message)

    def _seen(self, index: int, modules: Mapping[str, ModuleType]) -> bool:
        """Run a check and note which functions it runs."""
        seen: set[str] = set()

        def note(frame: FrameType, event: str, _: object) -> None:
            code = frame.f_code
            if event == "call" and code.co_filename.startswith(str(PACK)):
                stem = Path(code.co_filename).stem
                seen.update({stem, f"{stem}.{code.co_qualname.partition('.<locals>')[0]}"})

        sys.setprofile(note)
        try:
            return bool(self._checks[index](modules))
        finally:
            sys.setprofile(None)
            for place in seen:
                self._of.setdefault(place, []).append(index)

    def mutants(self) -> list[Mutant]:
        """Give the mutants of every module."""
        return [mutant for path in self.package.paths.values() for mutant in mutants(path)]

    def is_killed(self, mutant: Mutant) -> bool:
        """Say whether a check tells the mutant from the pack; what can not even be loaded is told."""
        try:
            with self.package.with_(mutant) as modules:
                order = self._of.get(mutant.where) or self._of.get(mutant.module, [])
                for place, index in enumerate(order):
                    if not self._holds(index, modules):
                        order.insert(0, order.pop(place))  # its neighbours often fall by the same
                        return True
        except Exception:  # noqa: BLE001 - whatever a broken module does when it is loaded
            return True
        return False

    def _holds(self, index: int, modules: Mapping[str, ModuleType]) -> bool:
        try:
            return bool(self._checks[index](modules))
        except Exception:  # noqa: BLE001 - a verdict that ends in an error is another one
            return False


def reasons() -> set[str]:
    """Read the list of equivalent mutants."""
    listed: list[dict[str, Any]] = YAML(typ="safe", pure=True).load(EQUIVALENT.read_text(encoding="utf-8")) or []
    return {key for item in listed for key in item["mutants"]}


def run(seconds: float | None = None, seed: int | None = None) -> Report:
    """Try all mutants, or those for which there is time, in an order that `seed` gives."""
    began, listed, report = time.monotonic(), reasons(), Report()
    one = Run()
    todo = one.mutants()
    if seed is not None:
        Random(seed).shuffle(todo)  # noqa: S311 - not for secrets
    first = time.monotonic()
    for index, mutant in enumerate(todo):
        if seconds is not None and time.monotonic() - first > seconds:
            report.left_out = len(todo) - index
            break
        if one.is_killed(mutant):
            report.killed += 1
        elif mutant.key in listed:
            report.equivalent.append(mutant.key)
        else:
            report.survivors.append(mutant.key)
    report.seconds = time.monotonic() - began
    return report


def main() -> None:
    """Run from the command line; status 1 if too many survive, or if the list of equivalent ones is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, help="time limit; all mutants without it")
    parser.add_argument("--seed", type=int, help="try them in an order of its own")
    given = parser.parse_args()
    report = run(given.seconds, given.seed)
    sys.stdout.write(f"{report}\n")
    stale = [] if given.seconds else sorted(reasons() - set(report.equivalent))
    sys.stdout.writelines(f"listed, but no mutant or not equivalent: {key}\n" for key in stale)
    sys.exit(bool(report.score < ENOUGH or stale))


if __name__ == "__main__":
    main()
