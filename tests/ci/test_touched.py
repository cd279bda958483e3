"""Which stacks a change touches: as a property over generated repositories, and case by case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci.__main__ import main
from ci.git import Repository
from ci.pull_request import stack_at
from ci.touched import NOTHING, landed, touched
from tests.ci.examples import ACME, GLOBEX, LAB, edited, good
from tests.ci.repository import Repo, Special

if TYPE_CHECKING:
    from collections.abc import Callable

ALL = ["lab", "lab-acme", "lab-globex"]
FREE = (
    "docs/new.md",
    "tests/test_new.py",
    "README.md",
    "lab/new.py",
    ".github/workflows/x.yml",
    "stacks/tenant.schema.json",
)
PROGRAM = (
    "__main__.py",
    "Pulumi.yaml",
    "components/new.py",
    "settings/load.py",
    "manifests/new.py",
    "operations/new.py",
    "policy/__main__.py",
    "policy/PulumiPolicy.yaml",
    "requirements.txt",
    "requirements-dev.txt",
    "something/new",
    "stacks/sub/Pulumi.lab.yaml",
)
ROW = "globex-lab: {tenant: globex, location: lab, vlan: 202,"

Edit = tuple[str, str, str, set[str]]
ROWS: list[Edit] = [
    (LAB, "vlan: 201,", "vlan: 211,", {"lab", "lab-acme"}),
    (LAB, ROW, ROW.replace("202", "212"), {"lab", "lab-globex"}),
    (LAB, "pve1: {memory: 256Gi}, pve2", "pve1: {memory: 512Gi}, pve2", set(ALL)),  # a location of both
    (LAB, "dc1: {memory: 512Gi}", "dc1: {memory: 256Gi}", {"lab", "lab-acme"}),  # a location of one
    (LAB, "reserved: {dc: [10-99]}", "reserved: {dc: [10-98]}", {"lab"}),  # no tenant uses it
    (LAB, "# Its credentials", "# The credentials", {"lab"}),
    (ACME, "tier: db", "tier: web", {"lab-acme"}),
    (GLOBEX, "replicas: 2", "replicas: 3", {"lab-globex"}),
]


@settings(max_examples=20)  # each makes commits
@given(
    rows=st.sets(st.sampled_from(range(len(ROWS))), max_size=3),
    free=st.sets(st.sampled_from(FREE), max_size=3),
    program=st.sampled_from([None, None, None, *PROGRAM]),
    commits=st.integers(min_value=1, max_value=3),
    others=st.booleans(),
)
def test_a_change_touches_the_stacks_that_its_parts_touch_and_no_other(  # noqa: PLR0913 - the parts of a change
    repo: Repo, rows: set[int], free: set[str], program: str | None, commits: int, *, others: bool
) -> None:
    texts: dict[str, str] = {}
    expected: set[str] = set()
    for path, old, new, stacks in (ROWS[row] for row in sorted(rows)):
        text = texts.get(path, repo.read(path))
        assert text.count(old) == 1, old
        texts[path] = text.replace(old, new)
        expected |= stacks
    changes = [*texts.items(), *((path, "changed\n") for path in sorted(free))]
    if program:
        changes.append((program, "changed\n"))
        expected = set(ALL)
    head = repo.base
    for part in range(commits):  # in how many commits makes no difference
        head = repo.commit(dict(changes[part::commits]), head)
    base = repo.commit({"__main__.py": "others\n", GLOBEX: "others\n"}, repo.base) if others else repo.base
    found = touched(Repository(repo.folder), base, head)
    assert found == [stack for stack in ALL if stack in expected]
    assert found == sorted(found, key=lambda stack: "-" in stack)  # environments first


def test_every_path_of_the_project_is_meant_to_touch_all_stacks_or_none(repo: Repo, repository: Repository) -> None:
    tree = repository.tree(repo.base)
    rest = {path.split("/", maxsplit=1)[0] for path in tree if not path.startswith(NOTHING)}
    assert rest == {
        "Pulumi.yaml", "__main__.py", "components", "manifests", "operations", "policy", "requirements.txt",
        "requirements-dev.txt", "settings", "stacks",
    }  # fmt: skip
    assert {path for path in tree if path.startswith("stacks/") and not path.startswith(NOTHING)} == {ACME, GLOBEX, LAB}
    there = [name for name in NOTHING if name != "LICENSE"]
    assert all(any(path == name or path.startswith(name) for path in tree) for name in there)


def test_what_others_landed_since_is_not_counted(repo: Repo, repository: Repository) -> None:
    later = repo.commit({"__main__.py": "others\n"}, repo.base)
    assert touched(repository, later, repo.commit(good(repo), repo.base)) == ["lab-acme"]


def test_a_deleted_stack_is_not_listed_and_a_new_one_is(repo: Repo, repository: Repository) -> None:
    head = repo.commit({ACME: None, "stacks/Pulumi.lab-new.yaml": "config: {}\n"}, repo.base)
    assert touched(repository, repo.base, head) == ["lab-new"]
    gone = repo.commit({"stacks/Pulumi.lab-new.yaml": None, "__main__.py": "x"}, head)
    assert touched(repository, head, gone) == ["lab", "lab-globex"]


def test_a_tenant_that_comes_or_goes_in_the_environment_touches_its_stack(repo: Repo, repository: Repository) -> None:
    text = edited(
        repo,
        LAB,
        "globex: {namespace: tenant-globex",
        "newco: {namespace: tenant-newco, clusters: []}\n      globex: {namespace: tenant-globex",
    )
    with_file = repo.commit({"stacks/Pulumi.lab-newco.yaml": "config: {}\n"}, repo.base)
    assert touched(repository, with_file, repo.commit({LAB: text}, with_file)) == ["lab", "lab-newco"]


@pytest.mark.parametrize("text", ["", "config: {}\n", "{", "config:\n  hybrid:environment: {tenants: {}}\n"])
def test_an_environment_that_can_not_be_read_touches_all_its_tenants(
    repo: Repo, repository: Repository, text: str
) -> None:
    broken = repo.commit({LAB: text}, repo.base)
    assert touched(repository, repo.base, broken) == ALL
    assert touched(repository, broken, repo.commit({LAB: repo.read(LAB)}, broken)) == ALL
    linked = repo.commit({LAB: Special("120000", "Pulumi.other.yaml")}, repo.base)
    assert touched(repository, repo.base, linked) == ALL[1:]


def test_another_environment_and_its_tenants_are_left_alone(repo: Repo, repository: Repository) -> None:
    two = repo.commit(
        {"stacks/Pulumi.prod.yaml": repo.read(LAB), "stacks/Pulumi.prod-acme.yaml": repo.read(ACME)}, repo.base
    )
    assert touched(repository, two, repo.commit({LAB: edited(repo, LAB, "vlan: 201", "vlan: 211")}, two)) == [
        "lab",
        "lab-acme",
    ]
    assert touched(repository, two, repo.commit({"__main__.py": "x"}, two)) == [
        "lab", "prod", "lab-acme", "lab-globex", "prod-acme",
    ]  # fmt: skip


def test_what_landed_and_was_taken_back_is_touched_since_an_up_may_have_run_between(
    repo: Repo, repository: Repository
) -> None:
    landing = repo.commit(good(repo), repo.base)
    back = repo.commit({ACME: repo.read(ACME), "docs/x.md": "x"}, landing)
    assert touched(repository, repo.base, back) == []
    assert landed(repository, repo.base, back) == ["lab-acme"]
    assert landed(repository, landing, back) == ["lab-acme"]
    assert landed(repository, back, back) == []


def test_a_merge_lands_what_it_changes_whatever_its_branch_did(repo: Repo, repository: Repository) -> None:
    on_branch = repo.commit({"__main__.py": "x", **good(repo)}, repo.base)
    off_again = repo.commit({"__main__.py": repo.read("__main__.py")}, on_branch)
    other = repo.commit({GLOBEX: edited(repo, GLOBEX, "replicas: 2", "replicas: 3")}, repo.base)
    merge = repo.commit(good(repo), other, off_again)
    assert landed(repository, repo.base, merge) == ["lab-acme", "lab-globex"]
    assert landed(repository, other, merge) == ["lab-acme"]


def test_a_beginning_that_is_none_of_the_branchs_own_commits_is_every_stack(repo: Repo, repository: Repository) -> None:
    """A commit of a branch that was merged is one of its ancestors, and its pusher can name a run of his own `main`."""
    on_branch = repo.commit({"docs/x.md": "x"}, repo.base)
    merge = repo.commit({"docs/x.md": "x"}, repo.base, on_branch)
    for base in (on_branch, "", "main", "1" * 40, repo.commit({}, merge)):
        assert landed(repository, base, merge) == ALL
    assert landed(repository, repo.base, merge) == []


def test_a_stack_that_has_no_file_any_more_is_not_run(repo: Repo, repository: Repository) -> None:
    landing = repo.commit(good(repo), repo.base)
    assert landed(repository, repo.base, repo.commit({ACME: None}, landing)) == []


def test_only_exact_names_are_stacks() -> None:
    assert stack_at(LAB) == "lab"
    assert stack_at(ACME) == "lab-acme"
    for path in (
        "stacks/Pulumi.lab-acme.yaml\n",
        "stacks/Pulumi.Lab.yaml",
        "x/stacks/Pulumi.lab.yaml",
        "stacks/Pulumi.yaml",
    ):
        assert stack_at(path) is None


@pytest.fixture
def said(repo: Repo, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run the command; give what it printed."""

    def run(*words: str) -> str:
        assert main(["--repository", str(repo.folder), "changed-stacks", *words]) == 0
        return capsys.readouterr().out

    return run


def test_the_command_prints_one_stack_a_line_or_json(repo: Repo, said: Callable[..., str]) -> None:
    head = repo.commit({"__main__.py": "x", **good(repo)}, repo.base)
    assert said("main", head) == "lab\nlab-acme\nlab-globex\n"
    assert said("main", head, "--format", "json") == '["lab", "lab-acme", "lab-globex"]\n'
    assert said("main", head, "--only", "environments") == "lab\n"
    assert said("main", head, "--only", "tenants") == "lab-acme\nlab-globex\n"
    assert said("main", head, "--only", "laid-over") == "lab-acme\n"
    assert said("--landed", "", head) == "lab\nlab-acme\nlab-globex\n"
    assert said("--landed", repo.base, head) == "lab\nlab-acme\nlab-globex\n"
    nothing = repo.commit({"docs/x.md": "x"}, repo.base)
    assert said("main", nothing) == ""
    assert said("main", nothing, "--format", "json") == "[]\n"


def test_a_refused_file_is_not_previewed(repo: Repo, said: Callable[..., str]) -> None:
    head = repo.commit({ACME: Special("120000", "x"), "stacks/Pulumi.lab-evil.yaml": "config: {}\n"}, repo.base)
    assert said("main", head, "--only", "laid-over", "--format", "json") == "[]\n"


def test_file_modes_are_changes(repo: Repo, repository: Repository) -> None:
    for path, expected in ((ACME, []), ("__main__.py", ALL)):
        head = repo.commit({path: Special("100755", repo.read(path))}, repo.base)
        assert touched(repository, repo.base, head) == expected
