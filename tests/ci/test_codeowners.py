"""CODEOWNERS: everything is the admins', but for each tenant's own file, which its team approves too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from ci.pull_request import path_of, tenants_stack_at
from ci.touched import stacks
from tests.ci.examples import attacks, strange_names
from tests.conftest import ROOT

if TYPE_CHECKING:
    from ci.git import Repository
    from tests.ci.repository import Repo

ADMINS = "@example-org/platform-admins"


def lines(text: str) -> list[tuple[str, list[str]]]:
    return [(words[0], words[1:]) for line in text.splitlines() if (words := line.split()) and words[0][0] != "#"]


LINES = lines((ROOT / ".github" / "CODEOWNERS").read_text())


def owners(path: str) -> list[str]:
    """Give a path's owners: of the last line that matches, whatever others match.

    Only the two forms that the file may use are read: `*`, which is everything, and a whole path from the top, which
    is also a folder of that name with all in it.
    """
    found: list[str] = []
    for pattern, names in LINES:
        if pattern in ("*", f"/{path}") or f"/{path}".startswith(f"{pattern}/"):
            found = names
    return found


def test_the_file_has_no_other_pattern_than_all_and_one_stack_file() -> None:
    assert LINES[0] == ("*", [ADMINS])
    for pattern, names in LINES[1:]:
        assert tenants_stack_at(pattern.removeprefix("/")), pattern
        assert pattern.startswith("/"), pattern
        assert names[-1] == ADMINS, pattern
        assert len(names) == 2, pattern
    assert len({pattern for pattern, _ in LINES}) == len(LINES)


def test_every_tenant_has_a_line_of_its_own_team_and_no_line_is_left_over(repo: Repo, repository: Repository) -> None:
    tenants = [stack for stack in stacks(repository.tree(repo.base)) if "-" in stack]
    assert tenants
    assert {pattern for pattern, _ in LINES[1:]} == {f"/{path_of(stack)}" for stack in tenants}
    teams = [owners(path_of(stack))[0] for stack in tenants]
    assert len(set(teams)) == len(tenants)
    assert ADMINS not in teams


def test_every_path_of_the_project_but_tenants_stack_files_is_the_admins_alone(
    repo: Repo, repository: Repository
) -> None:
    tree = repository.tree(repo.base)
    assert {path for path in tree if owners(path) != [ADMINS]} == {path for path in tree if tenants_stack_at(path)}
    for path in (
        "stacks/Pulumi.lab.yaml",
        "stacks/tenant.schema.json",
        ".github/CODEOWNERS",
        ".github/workflows/merge.yml",
    ):
        assert path in tree
        assert owners(path) == [ADMINS]


def test_what_an_attacker_adds_is_the_admins_alone(repo: Repo) -> None:
    for changes in attacks(repo).values():
        assert all(owners(path) == [ADMINS] for path in changes)
    assert all(owners(path) == [ADMINS] for path in strange_names(repo))
    assert owners("stacks/Pulumi.lab-evil.yaml") == [ADMINS]


@given(
    st.one_of(
        st.text(min_size=1), st.from_regex(re.compile(r"[Ss]tacks/Pulumi\.lab-?[a-z]{0,5}\.ya?ml"), fullmatch=True)
    )
)
def test_any_path_is_the_admins_alone_unless_it_is_exactly_a_tenants_file(path: str) -> None:
    ours = {pattern.removeprefix("/") for pattern, _ in LINES[1:]}
    assert (owners(path) == [ADMINS]) == (path not in ours)
