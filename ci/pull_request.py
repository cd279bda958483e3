"""What a pull request changes, and the little of it that is taken: tenants' stack files that the base has too."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ci.git import FILE, PROGRAM, SUBMODULE, SYMLINK
from ci.problems import CiError
from settings.outer import identity
from settings.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ci.git import Entry, Repository, Tree

LARGEST = 256 * 1024
"""Bytes of a stack file; the whole example is 2 KiB."""
_STACK_FILE = re.compile(r"stacks/Pulumi\.([a-z0-9-]+)\.yaml")
_KINDS = {SYMLINK: "a symbolic link", SUBMODULE: "a submodule", PROGRAM: "an executable file"}


def stack_at(path: str) -> str | None:
    """Name the stack whose file lies at exactly this path of the tree."""
    match = _STACK_FILE.fullmatch(path)
    return match[1] if match and not isinstance(identity(match[1]), Problem) else None


def tenants_stack_at(path: str) -> str | None:
    """Name the tenant's stack whose file lies at exactly this path of the tree."""
    stack = stack_at(path)
    return stack if stack and "-" in stack else None


def path_of(stack: str) -> str:
    """Give the path of a stack's file in the tree."""
    return f"stacks/Pulumi.{stack}.yaml"


def in_order(stacks: Iterable[str]) -> list[str]:
    """Sort stacks: environments before tenants."""
    return sorted(stacks, key=lambda name: ("-" in name, name))


@dataclass
class PullRequest:
    """A pull request, by three commits' ids: the protected branch's, its own, and where it left the branch.

    `laid_over` and `new` are stacks with the content's place in git: files that the base has too, and first files of
    stacks. `refused` and `admins` are paths with the reason why.
    """

    base: str
    head: str
    start: str
    tree: Tree
    laid_over: dict[str, Entry] = field(default_factory=dict)
    new: dict[str, Entry] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    admins: dict[str, str] = field(default_factory=dict)


def examine(repository: Repository, base_ref: str, head_ref: str) -> PullRequest:
    """Compare HEAD with the commit where it left BASE, so that what others landed on BASE since is not counted.

    Only the two ends count: what a commit in between did and a later one took back is nowhere. Raises CiError.
    """
    base, head = repository.commit(base_ref), repository.commit(head_ref)
    start = repository.fork_point(base, head)
    tree, before, after = (repository.tree(commit) for commit in (base, start, head))
    if "Pulumi.yaml" not in tree:
        message = f"{base_ref} has no Pulumi.yaml at its top: it is not this project"
        raise CiError(message)
    found = PullRequest(base, head, start, tree)
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path) != tree.get(path):
            _sort_in(found, path, before.get(path), after.get(path))
    return found


def _sort_in(found: PullRequest, path: str, before: Entry | None, after: Entry | None) -> None:
    stack, base = tenants_stack_at(path), found.tree.get(path)
    if stack is None:
        found.admins[path] = "added" if before is None else "deleted" if after is None else "changed"
    elif after is None:
        found.admins[path] = "deleted: destroy the stack first, then an admin takes its file away"
    elif after.mode != FILE:
        found.refused[path] = (
            f"is {_KINDS.get(after.mode, f'of mode {after.mode}')}: a stack file is a plain file (100644)"
        )
    elif after.size > LARGEST:
        found.refused[path] = f"has {after.size} bytes: a stack file has {LARGEST} at most"
    elif base != before:
        found.refused[path] = "was changed on BASE too since the branch left it: merge BASE into the branch, then again"
    elif base is None:
        found.new[stack] = after
        found.admins[path] = "a new stack: an admin makes it, and lands its first file (docs/ci.md)"
    elif base.mode != FILE:
        found.refused[path] = "is no plain file on BASE: an admin mends that first"
    else:
        found.laid_over[stack] = after
