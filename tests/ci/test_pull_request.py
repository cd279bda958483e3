"""What of a pull request is taken, what is refused, and what is left to an admin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ci.__main__ import main
from ci.git import Repository
from ci.problems import CiError, shown
from ci.pull_request import LARGEST, examine
from tests.ci.examples import ACME, GLOBEX, LAB, attacks, edited, good, strange_names
from tests.ci.repository import Repo, Special
from tests.ci.test_codeowners import ADMINS, owners

if TYPE_CHECKING:
    from pathlib import Path


def test_a_tenants_change_of_its_own_file_is_taken_and_needs_nobody(repo: Repo, repository: Repository) -> None:
    found = examine(repository, repo.base, repo.commit(good(repo), repo.base))
    assert (list(found.laid_over), found.refused, found.admins) == (["lab-acme"], {}, {})
    content = repository.blobs([found.laid_over["lab-acme"].oid])[found.laid_over["lab-acme"].oid]
    assert content.decode() == good(repo)[ACME]


def test_every_other_path_counts_for_nothing_and_is_listed(repo: Repo, repository: Repository) -> None:
    tree = repository.tree(repo.base)
    for name, changes in attacks(repo).items():
        head = repo.commit({**changes, **good(repo)}, repo.base)
        found = examine(repository, "main", head)
        assert found.tree == tree, name
        assert list(found.laid_over) == ["lab-acme"], name
        assert set(found.admins) == set(changes), name
        assert (found.refused, found.new) == ({}, {}), name


def test_the_command_lists_each_path_says_that_an_admin_must_look_and_exits_with_3(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, changes in attacks(repo).items():
        code = main(
            ["--repository", str(repo.folder), "preview", "main", repo.commit(changes, repo.base), "--check-only"]
        )
        said = capsys.readouterr().out
        assert code == 3, name
        assert f"needs an admin's review, and counts for nothing here ({len(changes)}):\n" in said, name
        assert all(f"\n  {shown(path)}: " in said for path in changes), name
        assert said.endswith("\nneeds an admin's review\n"), name
        assert "\n::" not in said


def test_a_name_that_is_nearly_a_stack_files_is_no_stack_file(repo: Repo, repository: Repository) -> None:
    for path, why in strange_names(repo).items():
        found = examine(repository, repo.base, repo.commit({path: "config: {}\n", **good(repo)}, repo.base))
        assert found.admins == {path: "added"}, why
        assert list(found.laid_over) == ["lab-acme"], why


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (Special("120000", "Pulumi.lab-globex.yaml"), "is a symbolic link: a stack file is a plain file (100644)"),
        (Special("120000", "/etc/passwd"), "is a symbolic link: a stack file is a plain file (100644)"),
        (Special("160000", "1" * 40), "is a submodule: a stack file is a plain file (100644)"),
        (Special("100755", "config: {}\n"), "is an executable file: a stack file is a plain file (100644)"),
        ("#" * (LARGEST + 1), f"has {LARGEST + 1} bytes: a stack file has {LARGEST} at most"),
    ],
    ids=["link", "link out of the tree", "submodule", "executable", "large"],
)
def test_a_stack_file_that_is_no_small_plain_file_is_refused(
    repo: Repo, capsys: pytest.CaptureFixture[str], change: str | Special, why: str
) -> None:
    code = main(
        ["--repository", str(repo.folder), "preview", repo.base, repo.commit({ACME: change}, repo.base), "--check-only"]
    )
    said = capsys.readouterr().out
    assert code == 1
    assert f"\nrefused: {ACME} {why}\n" in said
    assert said.endswith("\nrefused\n")
    assert "laid over" not in said


def test_a_file_of_the_largest_size_is_taken(repo: Repo, repository: Repository) -> None:
    found = examine(repository, repo.base, repo.commit({ACME: "#" * LARGEST}, repo.base))
    assert list(found.laid_over) == ["lab-acme"]


def test_a_link_in_place_of_the_folder_of_stacks_takes_nothing(repo: Repo, repository: Repository) -> None:
    there = [path for path in repository.tree(repo.base) if path.startswith("stacks/")]
    head = repo.commit({**dict.fromkeys(there), "stacks": Special("120000", "/elsewhere")}, repo.base)
    found = examine(repository, repo.base, head)
    assert (found.laid_over, found.new, found.refused) == ({}, {}, {})
    assert set(found.admins) == {*there, "stacks"}


def test_a_folder_in_place_of_a_stack_file_is_an_admins_though_its_code_owner_is_the_tenant(
    repo: Repo, repository: Repository
) -> None:
    inside = f"{ACME}/__init__.py"
    assert owners(inside) != [ADMINS]
    found = examine(repository, repo.base, repo.commit({ACME: None, inside: "x"}, repo.base))
    assert (found.laid_over, found.new, found.refused) == ({}, {}, {})
    assert set(found.admins) == {ACME, inside}


def test_deleting_and_renaming_a_stack_file_is_an_admins(repo: Repo, repository: Repository) -> None:
    head = repo.commit({ACME: None, "stacks/Pulumi.lab-other.yaml": repo.read(ACME)}, repo.base)
    found = examine(repository, repo.base, head)
    assert found.laid_over == {}
    assert found.admins[ACME].startswith("deleted: destroy the stack first")
    assert found.admins["stacks/Pulumi.lab-other.yaml"].startswith("a new stack: an admin makes it")


def test_the_first_file_of_a_stack_is_checked_and_left_to_an_admin(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    head = repo.commit({"stacks/Pulumi.lab-evil.yaml": repo.read(ACME)}, repo.base)
    assert main(["--repository", str(repo.folder), "preview", repo.base, head, "--check-only"]) == 1
    said = capsys.readouterr().out
    assert "stacks/Pulumi.lab-evil.yaml: a new stack: an admin makes it, and lands its first file" in said
    assert "stack lab-evil: " in said
    assert "[UNKNOWN_TENANT]" in said


def test_another_tenants_file_is_laid_over_as_that_tenants_stack(repo: Repo, repository: Repository) -> None:
    change = {GLOBEX: edited(repo, GLOBEX, "replicas: 2", "replicas: 3")}
    found = examine(repository, repo.base, repo.commit({**good(repo), **change}, repo.base))
    assert list(found.laid_over) == ["lab-acme", "lab-globex"]
    assert found.admins == {}


def test_what_others_landed_on_the_base_since_is_not_the_pull_requests(repo: Repo, repository: Repository) -> None:
    later = repo.commit({"policy/README.md": "newer\n", LAB: edited(repo, LAB, "vlan: 201", "vlan: 209")}, repo.base)
    found = examine(repository, later, repo.commit(good(repo), repo.base))
    assert found.start == repo.base
    assert (list(found.laid_over), found.admins) == (["lab-acme"], {})
    assert found.tree == repository.tree(later)  # and it is judged by the newer


def test_a_file_that_the_base_changed_too_has_to_be_merged_first(repo: Repo, repository: Repository) -> None:
    later = repo.commit({ACME: edited(repo, ACME, "tier: db", "tier: web")}, repo.base)
    mine = repo.commit(good(repo), repo.base)
    assert examine(repository, later, mine).refused == {
        ACME: "was changed on BASE too since the branch left it: merge BASE into the branch, then again"
    }
    both = edited(repo, ACME, "tier: db", "tier: web").replace("cpx32, replicas: 2", "cpx32, replicas: 3")
    merged = repo.commit({ACME: both}, mine, later)
    found = examine(repository, later, merged)
    assert (list(found.laid_over), found.refused) == (["lab-acme"], {})


def test_a_file_that_the_base_deleted_meanwhile_is_refused(repo: Repo, repository: Repository) -> None:
    later = repo.commit({ACME: None}, repo.base)
    assert set(examine(repository, later, repo.commit(good(repo), repo.base)).refused) == {ACME}


def test_what_the_base_has_in_the_same_words_is_no_change(repo: Repo, repository: Repository) -> None:
    later = repo.commit({**good(repo), "docs/new.md": "x", "docs/other.md": "x"}, repo.base)
    found = examine(repository, later, repo.commit({**good(repo), "docs/new.md": "x"}, repo.base))
    assert found.start == repo.base
    assert (found.laid_over, found.refused, found.admins) == ({}, {}, {})


def test_a_file_that_is_a_link_on_the_base_is_an_admins_to_mend(repo: Repo, repository: Repository) -> None:
    base = repo.commit({ACME: Special("120000", "Pulumi.lab-globex.yaml")}, repo.base)
    found = examine(repository, base, repo.commit(good(repo), base))
    assert found.refused == {ACME: "is no plain file on BASE: an admin mends that first"}
    assert found.laid_over == {}


def test_an_early_commit_that_a_later_one_takes_back_counts_for_nothing(repo: Repo, repository: Repository) -> None:
    bad = repo.commit({"policy/__main__.py": "", "sitecustomize.py": "x", ACME: Special("120000", "x")}, repo.base)
    back = repo.commit(
        {"policy/__main__.py": repo.read("policy/__main__.py"), "sitecustomize.py": None, **good(repo)}, bad
    )
    found = examine(repository, repo.base, back)
    assert (list(found.laid_over), found.refused, found.admins) == (["lab-acme"], {}, {})


def test_a_merge_of_the_base_hides_nothing(repo: Repo, repository: Repository) -> None:
    later = repo.commit({"policy/README.md": "newer\n"}, repo.base)
    mine = repo.commit(good(repo), repo.base)
    honest = repo.commit({"policy/README.md": "newer\n"}, mine, later)
    assert examine(repository, later, honest).admins == {}
    evil = repo.commit({"policy/README.md": "newer\n", "policy/__main__.py": ""}, mine, later)
    assert examine(repository, later, evil).admins == {"policy/__main__.py": "changed"}
    undone = repo.commit({}, mine, later)  # a merge that drops what the base had changed
    assert examine(repository, later, undone).admins == {"policy/README.md": "changed"}


def test_histories_that_cross_or_have_nothing_in_common_are_not_guessed_at(repo: Repo, repository: Repository) -> None:
    left, right = (repo.commit({f"docs/{name}.md": "x"}, repo.base) for name in ("left", "right"))
    one, two = repo.commit({}, left, right), repo.commit({}, right, left)
    with pytest.raises(CiError, match="have 2 nearest common commits: merge BASE into the branch"):
        examine(repository, one, two)
    alone = repo.commit({"Pulumi.yaml": "x"})
    with pytest.raises(CiError, match="no common commit"):
        examine(repository, repo.base, alone)


def test_a_shallow_clone_is_refused(repo: Repo, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    head = repo.commit(good(repo), repo.base)
    repo.git("update-ref", "refs/heads/shallow", head)
    repo.git("clone", "--quiet", "--depth", "1", "--branch", "shallow", f"file://{repo.folder}", str(shallow))
    with pytest.raises(CiError, match="this clone is shallow"):
        examine(Repository(shallow), head, head)


@pytest.mark.parametrize("ref", ["", "no-such-branch", "--output=/tmp/x", "main:stacks", "$(id)"])
def test_what_names_no_commit_is_refused(repo: Repo, ref: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--repository", str(repo.folder), "preview", "--check-only", "--", "main", ref]) == 2
    assert "names no commit in" in capsys.readouterr().err


def test_a_name_that_a_tag_takes_from_a_branch_is_refused(tmp_path: Path) -> None:
    """Git prefers the tag, which whoever may push can make, and an ordinary fetch brings it along."""
    repo = Repo.empty(tmp_path / "tagged")
    repo.base = repo.commit({"a": "x"})
    evil = repo.commit({"a": "evil"}, repo.base)
    repo.git("update-ref", "refs/heads/main", repo.base)
    repo.git("config", "core.warnAmbiguousRefs", "false")
    found = Repository(repo.folder)
    assert found.commit("main") == repo.base
    short = repo.base[:9]
    assert found.commit(short) == repo.base
    for name in ("main", short, repo.base, "HEAD"):
        repo.git("update-ref", f"refs/tags/{name}", evil)
    for name in ("main", short):
        with pytest.raises(
            CiError, match=f"{name} fits several branches or tags: write it in full, for example refs/h"
        ):
            found.commit(name)
    for name in ("refs/heads/main", repo.base, "HEAD"):
        assert found.commit(name) == repo.base


def test_another_project_is_not_judged(repo: Repo, repository: Repository) -> None:
    with pytest.raises(CiError, match=r"has no Pulumi\.yaml at its top"):
        examine(repository, repo.commit({"Pulumi.yaml": None}, repo.base), repo.base)
