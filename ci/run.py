"""One stack's run of the engine in a tree that was written and checked: with which variables, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ci import child
from ci.check import check
from ci.engine import Run, pulumi
from ci.problems import CiError, shown
from ci.pull_request import path_of
from ci.workplace import workplace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ci.git import Repository
    from ci.workplace import Workplace


@dataclass(frozen=True)
class Options:
    """What is asked: the stack (None: those of the pull request's files), with the engine or the checks alone.

    `environments` is a folder with a file `env-<stack>` for each stack; without it a stack's variables are this
    process's own, which therefore can be one stack's only. `passed` are further variables that the engine is given.
    """

    stack: str | None = None
    engine: bool = True
    environments: Path | None = None
    passed: tuple[str, ...] = ()


def run(  # noqa: PLR0913, PLR0917 - what is run, where, with what
    command: Literal["preview", "up"],
    stack: str,
    tree: Path,
    place: Workplace,
    options: Options,
    say: Callable[[str], None],
) -> bool:
    """Run the engine; say whether it went well."""
    say(f"== {stack}: {command} with BASE's program, policy pack and config")
    plain = child.plain(place.home)
    code = pulumi(command, Run(stack, tree, place.folder, plain, _variables(stack, place, options)))
    say(f"== {stack}: {command}: {'fine' if code == 0 else f'refused (exit code {code})'}")
    return code == 0


def up(repository: Repository, ref: str, options: Options, say: Callable[[str], None]) -> bool:
    """Run `up` of a stack from a commit of the protected branch alone; say whether it went well."""
    commit = repository.commit(ref)
    base, stack = repository.tree(commit), options.stack or ""
    if path_of(stack) not in base:
        message = f"{ref} has no {shown(path_of(stack))}"
        raise CiError(message)
    say(f"BASE {commit}")
    with workplace(repository, base) as place:
        tree = place.tree(stack)
        wrong = check(stack, tree, child.plain(place.home), None)
        if wrong:
            say(f"== {stack}: check: refused\n{wrong}")
            return False
        return run("up", stack, tree, place, options, say)


def _variables(stack: str, place: Workplace, options: Options) -> dict[str, str]:
    if options.environments is None:
        return child.engine(stack, place.home, passed=options.passed)
    # Written by the operator for this stack, so all of it is meant for the engine.
    given = {"PATH": child.plain(place.home)["PATH"], **child.read_file(options.environments / f"env-{stack}")}
    passed = {*options.passed, *given} - {"PATH"}
    return child.engine(stack, place.home, given=given, passed=sorted(passed))
