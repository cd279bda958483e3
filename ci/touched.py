"""`changed-stacks`: the stacks that a change can touch, so that nothing else needs to run."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ci.git import FILE
from ci.pull_request import in_order, path_of, stack_at
from settings.digest import digest
from settings.load import load
from settings.problems import SettingsError
from settings.stack import EnvironmentSettings

if TYPE_CHECKING:
    from ci.git import Repository, Tree
    from settings.environment import Environment

NOTHING = (
    ".ci/",
    ".github/",
    ".gitignore",
    "LICENSE",
    "Makefile",
    "README.md",
    "ci/",
    "docs/",
    "lab/",
    "policy/README.md",
    "pyproject.toml",
    "requirements-dev.in",
    "requirements.in",
    "stacks/environment.schema.json",
    "stacks/tenant.schema.json",
    "tests/",
)
"""What neither the engine, nor the program, nor the pack reads. Anything else that is no stack file touches all stacks.

`requirements-dev.txt` is not here: `make setup` installs from it.
"""


def touched(repository: Repository, base: str, head: str) -> list[str]:
    """List the stacks with a file at HEAD that HEAD changes, since it left BASE, in the order in which they run."""
    start, end = repository.commit(base), repository.commit(head)
    after = repository.tree(end)
    return in_order(
        _between(repository, repository.tree(repository.fork_point(start, end)), after) & set(stacks(after))
    )


def landed(repository: Repository, base: str, head: str) -> list[str]:
    """List the stacks that the commits on a branch after `base` (an id) touch, each commit for itself.

    What a later commit takes back counts too: an `up` may have run in between. Where `base` is no commit of the
    branch's own (it merged, it was rewritten, none is known), that is every stack.
    """
    line = repository.line(repository.commit(head))
    trees = [repository.tree(commit) for commit in line[: line.index(base) + 1]] if base in line else []
    there = set(stacks(trees[0] if trees else repository.tree(line[0])))
    if not trees:
        return in_order(there)
    found = set[str]().union(*(_between(repository, before, after) for after, before in pairwise(trees)))
    return in_order(found & there)


def _between(repository: Repository, before: Tree, after: Tree) -> set[str]:
    """Name the stacks that a change from one tree to another touches; some may have no file any more."""
    there = stacks(after)
    found: set[str] = set()
    for path in {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}:
        stack = stack_at(path)
        if stack is None:
            found |= set() if _nothing(path) else set(there)
        elif "-" in stack:
            found.add(stack)
        else:
            found |= {stack} | _tenants(
                stack, _environment(repository, before, stack), _environment(repository, after, stack), there
            )
    return found


def stacks(tree: Tree) -> list[str]:
    """List the stacks that have a file, environments before tenants."""
    return in_order(stack for path, entry in tree.items() if entry.mode == FILE and (stack := stack_at(path)))


def _nothing(path: str) -> bool:
    return any(path.startswith(name) if name.endswith("/") else path == name for name in NOTHING)


def _tenants(name: str, before: Environment | None, after: Environment | None, there: list[str]) -> set[str]:
    """Name the tenants' stacks for which an environment's file changed: all where it can not be read."""
    mine = {stack.partition("-")[2]: stack for stack in there if stack.startswith(f"{name}-")}
    if before is None or after is None:
        return set(mine.values())
    return {stack for tenant, stack in mine.items() if _digest(before, tenant) != _digest(after, tenant)}


def _digest(environment: Environment, tenant: str) -> str | None:
    return digest(environment, tenant) if tenant in environment.tenants else None


def _environment(repository: Repository, tree: Tree, name: str) -> Environment | None:
    """Read a version of an environment's file as data; None where there is none, or one that is refused."""
    entry = tree.get(path_of(name))
    if entry is None or entry.mode != FILE:
        return None
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"Pulumi.{name}.yaml").write_bytes(repository.blobs([entry.oid])[entry.oid])
        try:
            settings = load(name, Path(folder))
        except SettingsError:
            return None
    return settings.environment if isinstance(settings, EnvironmentSettings) else None
