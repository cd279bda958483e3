"""`ci-preview`: say what a pull request changes, check what is taken of it, and preview its stacks by the base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci import child
from ci import tree as trees
from ci.check import check
from ci.problems import CiError, shown
from ci.pull_request import examine, in_order, path_of
from ci.run import run
from ci.workplace import workplace

if TYPE_CHECKING:
    from collections.abc import Callable

    from ci.git import Repository
    from ci.pull_request import PullRequest
    from ci.run import Options
    from ci.workplace import Workplace

FINE, REFUSED, MORE = 0, 1, 3


def preview(repository: Repository, base: str, head: str, options: Options, say: Callable[[str], None]) -> int:
    """Judge HEAD by BASE; give FINE, REFUSED, or MORE where an admin or another run must look too. Raises CiError."""
    request = examine(repository, base, head)
    say(f"BASE {request.base}\nHEAD {request.head}, left BASE at {request.start}")
    for path, why in request.refused.items():
        say(f"refused: {shown(path)} {why}")
    for path in map(path_of, in_order(request.laid_over)):
        say(f"laid over BASE: {path}")
    if request.admins:
        say(f"needs an admin's review, and counts for nothing here ({len(request.admins)}):")
        for path, why in request.admins.items():
            say(f"  {shown(path)}: {why}")
    with workplace(repository, request.tree) as place:
        went_well = [_stack(place, request, stack, options, say) for stack in _stacks(request, options)]
    if request.refused or not all(went_well):
        say("refused")
        return REFUSED
    left_out = in_order({*request.laid_over, *request.new} - {options.stack}) if options.stack else []
    if left_out:
        say(f"not judged here, since {options.stack} alone was asked for: {', '.join(left_out)}")
    say("needs an admin's review" if request.admins else "fine as far as it goes" if left_out else "fine")
    return MORE if request.admins or left_out else FINE


def _stacks(request: PullRequest, options: Options) -> list[str]:
    if options.stack is None:
        found = in_order({*request.laid_over, *request.new})
        if options.engine and options.environments is None and len(request.laid_over) > 1:
            message = (
                f"{', '.join(in_order(request.laid_over))}: each has a passphrase and a kubeconfig of its own, "
                "so name one with STACK, or give ENVS, a folder with a file env-<stack> for each"
            )
            raise CiError(message)
        return found
    if path_of(options.stack) not in request.tree:
        message = f"BASE has no {shown(path_of(options.stack))}: an admin lands a stack's first file"
        raise CiError(message)
    if path_of(options.stack) in request.refused:
        return []
    return [options.stack]


def _stack(place: Workplace, request: PullRequest, stack: str, options: Options, say: Callable[[str], None]) -> bool:
    """Check one stack's file and preview the stack; say whether both went well."""
    tree, path = place.tree(stack), path_of(stack)
    taken = request.laid_over.get(stack) or request.new.get(stack)
    before = None
    if taken:
        if path in request.tree:
            before = place.folder / f"before-{stack}"
            (tree / path).rename(before)
        trees.lay_over(tree, path, place.repository.blobs([taken.oid])[taken.oid])
    plain = child.plain(place.home)
    wrong = check(stack, tree, plain, before)
    say(f"== {stack}: check: {'refused' if wrong else 'fine'}")
    if wrong:
        say(wrong)
        return False
    if not options.engine or stack in request.new:
        return True
    return run("preview", stack, tree, place, options, say)
