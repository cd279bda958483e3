"""The workflows: linted by the real actionlint, and read for what must never be in them."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from lab.toolchain import parts, pins
from tests.ci.examples import ACME, LAB, edited, good
from tests.ci.repository import Repo, Special
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTIONS = sorted((ROOT / ".github" / "actions").glob("*/action.yml"))
FILES = [*WORKFLOWS, *ACTIONS]
PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")


def document(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(file.read_text(), Loader=yaml.BaseLoader)  # noqa: S506 - plain text only: `on` stays `on`
    return found


def steps(file: Path) -> Iterator[dict[str, Any]]:
    content = document(file)
    for job in content.get("jobs", {"": content.get("runs", {})}).values():
        yield from job["steps"]


def jobs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for file in WORKFLOWS:
        for name, job in document(file)["jobs"].items():
            yield file.stem, name, job


def lint(actionlint: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    words = [str(actionlint), "-no-color", "-shellcheck=", "-pyflakes="]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Give a repository with the workflows alone."""
    Repo.empty(tmp_path / "copy")
    for file in FILES:
        target = tmp_path / "copy" / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    return tmp_path / "copy"


def test_actionlint_finds_nothing(actionlint: Path, copy: Path) -> None:
    done = lint(actionlint, copy)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("pull-request", "contents: read", "contents: reed", '"reed" is invalid as permission of scope "contents"'),
        (
            "pull-request",
            'echo "::stop-commands::$stop"',
            'echo "${{ github.event.pull_request.title }}"',
            "is potentially untrusted",
        ),
        ("pull-request", "needs: changes\n", "needs: change\n", 'needs job "change" which does not exist'),
        ("pull-request", "          stack: ${{ matrix.stack }}\n", "", 'missing input "stack"'),
        (
            "pull-request",
            "stacks: ${{ steps.judge.outputs",
            "stacks: ${{ steps.juge.outputs",
            'property "juge" is not defined',
        ),
        ("merge", "branches: [main]", "branch: [main]", 'unexpected key "branch"'),
    ],
)
def test_actionlint_fails_on_a_broken_copy(  # noqa: PLR0913, PLR0917 - a case and what it needs
    actionlint: Path, copy: Path, name: str, old: str, new: str, said: str
) -> None:
    file = copy / ".github" / "workflows" / f"{name}.yml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    done = lint(actionlint, copy)
    assert done.returncode == 1
    assert said in done.stdout


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_script_is_bash_without_an_expression_in_it(file: Path) -> None:
    scripts = [step["run"] for step in steps(file) if "run" in step]
    assert scripts
    for script in scripts:
        assert "${{" not in script
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_action_is_this_repositorys_or_pinned_by_a_whole_hash(file: Path) -> None:
    used = [step["uses"] for step in steps(file) if "uses" in step]
    assert used
    for name in used:
        assert name.startswith("./.github/actions/") or PINNED.fullmatch(name), name
    for line in file.read_text().splitlines():
        if "uses:" in line and "./" not in line:
            assert re.search(r" # v\d+\.\d+\.\d+", line), line


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_nothing_is_installed_but_by_make_setup(file: Path) -> None:
    for step in steps(file):
        assert not re.search(r"\b(pip|npm|curl|wget|apt(-get)?|go install)\b", step.get("run", ""))


def test_the_engine_is_the_one_that_the_lab_is_tried_with() -> None:
    (install,) = [
        step for step in steps(ROOT / ".github/actions/stack/action.yml") if "pulumi/" in step.get("uses", "")
    ]
    assert install["with"] == {"pulumi-version": pins.version(parts.part("pulumi"))}  # no command: it installs only


def test_the_workflow_comes_from_the_protected_branch_and_so_does_every_checkout() -> None:
    events = document(ROOT / ".github/workflows/pull-request.yml")["on"]
    assert set(events) == {"pull_request_target", "merge_group"}
    found = [step for file in FILES for step in steps(file) if step.get("uses", "").startswith("actions/checkout@")]
    assert len(found) == 5
    for step in found:
        assert step["with"]["persist-credentials"] == "false"
        assert step["with"].get("ref", "") in (
            "",
            "${{ github.sha }}",
            "${{ github.event.merge_group.base_sha || github.sha }}",
        )
        assert "repository" not in step["with"]


def test_permissions_are_none_but_reading() -> None:
    for file in WORKFLOWS:
        assert document(file)["permissions"] == {}
    for _, name, job in jobs():
        assert set(job.get("permissions", {}).values()) <= {"read"}, name
        assert set(job.get("permissions", {})) <= {"contents", "actions"}, name


def test_a_job_with_secrets_belongs_to_one_stacks_environment_and_takes_them_from_there() -> None:
    with_secrets = set()
    for workflow, name, job in jobs():
        if "secrets." in yaml.dump(job):
            assert job["environment"] == "${{ matrix.stack }}", name
            assert "stack" in job["strategy"]["matrix"]
            assert "${{ matrix.stack }}" in job["concurrency"]["group"]
            assert set(re.findall(r"secrets\.(\w+)", yaml.dump(job))) == {
                "KUBECONFIG", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_ACCESS_TOKEN",
            }  # fmt: skip
            with_secrets.add((workflow, name))
    assert with_secrets == {("pull-request", "preview"), ("merge", "environments"), ("merge", "tenants")}


def test_an_up_and_a_preview_never_wait_for_the_same_thing() -> None:
    """Else a pull request could push a waiting `up` out of the queue: only one job of a group waits."""
    groups = {(w, n): job["concurrency"]["group"].partition("${{")[0] for w, n, job in jobs() if "concurrency" in job}
    assert groups == {
        ("pull-request", "preview"): "preview-",
        ("merge", "environments"): "up-",
        ("merge", "tenants"): "up-",
    }
    assert document(ROOT / ".github/workflows/merge.yml")["concurrency"]["cancel-in-progress"] == "false"


def test_pull_requests_from_forks_get_no_job_and_no_green_check() -> None:
    found = document(ROOT / ".github/workflows/pull-request.yml")["jobs"]
    assert "github.event.pull_request.head.repo.full_name == github.repository" in found["changes"]["if"]
    assert all("changes" in found[name]["needs"] for name in ("preview", "admins", "result"))


def test_tenants_follow_their_environments() -> None:
    tenants = document(ROOT / ".github/workflows/merge.yml")["jobs"]["tenants"]
    assert tenants["needs"] == ["changes", "environments"]
    for result in ("success", "skipped"):
        assert f"needs.environments.result == '{result}'" in tenants["if"]
    assert "failure" not in tenants["if"]


def script(workflow: str, job: str, name: str) -> str:
    found = document(ROOT / ".github/workflows" / f"{workflow}.yml")["jobs"][job]["steps"]
    (one,) = [step["run"] for step in found if step.get("name", "").startswith(name)]
    return str(one)


def fetch(repo: Repo, clone: Path, commit: str) -> None:
    repo.git(f"--git-dir={clone}/.git", "fetch", "--quiet", str(repo.folder), commit)


def as_a_step(text: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script as the runner does for `shell: bash`."""
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text]
    env = {"PATH": "/usr/bin:/bin", **environment}
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("change", "code", "outputs"),
    [
        ("good", 0, 'admins=false\nstacks=["lab-acme"]\n'),
        ("good and more", 0, 'admins=true\nstacks=["lab-acme"]\n'),
        ("docs", 0, "admins=true\nstacks=[]\n"),
        ("link", 1, ""),
        ("speaks to the runner", 1, ""),
    ],
)
def test_the_judging_step_passes_on_what_the_command_says(  # noqa: PLR0913, PLR0917 - a case and what it needs
    repo: Repo, clone: Path, tmp_path: Path, change: str, code: int, outputs: str
) -> None:
    """The script of the workflow itself, in a clone of the base, as a runner starts it."""
    cases: dict[str, dict[str, Any]] = {
        "good": good(repo),
        "good and more": {**good(repo), "a\n::set-output name=stacks::x": "x"},
        "docs": {"docs/new.md": "x"},
        "link": {ACME: Special("120000", "x")},
        "speaks to the runner": {ACME: '"a\\n::set-output name=stacks::[]": b\n' + good(repo)[ACME]},
    }
    head = repo.commit(cases[change], repo.base)
    fetch(repo, clone, head)
    file = tmp_path / "outputs"
    file.touch()
    text = script("pull-request", "changes", "Check the stack files")
    done = as_a_step(text, clone, HEAD_SHA=head, GITHUB_OUTPUT=str(file))
    assert done.returncode == code, done.stdout + done.stderr
    assert file.read_text() == outputs
    stop = done.stdout.splitlines()[0].removeprefix("::stop-commands::")
    spoken = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert spoken[0] == f"::stop-commands::{stop}"
    assert spoken[-1] == f"::{stop}::"
    assert done.stdout.count(stop) == 2


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ("success success skipped", 0),
        ("success skipped success", 0),
        ("success skipped skipped", 0),
        ("success failure skipped", 1),
        ("success success failure", 1),
        ("success cancelled skipped", 1),
        ("failure skipped skipped", 1),
        ("skipped skipped skipped", 1),
        ("cancelled skipped skipped", 1),
    ],
)
def test_the_one_required_check_is_green_only_where_nothing_was_refused(results: str, code: int) -> None:
    env = {"PATH": "/usr/bin:/bin", "RESULTS": results, "CHANGES": results.split(maxsplit=1)[0]}
    words = ["bash", "-eo", "pipefail", "-c", script("pull-request", "result", "Demand")]
    assert subprocess.run(words, env=env, capture_output=True, check=False).returncode == code


def gh(folder: Path, answer: str) -> str:
    """Put a stand-in for GitHub's CLI into a folder, which gives this answer; give PATH."""
    folder.mkdir()
    file = folder / "gh"
    file.write_text(f"#!/bin/sh\nprintf '%s' '{answer}'\n")
    file.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def test_the_merge_finds_the_stacks_that_landed_since_the_last_good_run(
    repo: Repo, clone: Path, tmp_path: Path
) -> None:
    landing = repo.commit({LAB: edited(repo, LAB, "vlan: 201,", "vlan: 211,")}, repo.base)
    head = repo.commit({LAB: repo.read(LAB)}, landing)
    fetch(repo, clone, head)
    repo.git(f"--git-dir={clone}/.git", f"--work-tree={clone}", "checkout", "--quiet", "--detach", head, cwd=clone)
    for number, (base, environments, tenants) in enumerate(
        (
            (repo.base, '["lab"]', '["lab-acme"]'),
            (head, "[]", "[]"),
            ("", '["lab"]', '["lab-acme", "lab-globex"]'),
            ("1" * 40, '["lab"]', '["lab-acme", "lab-globex"]'),
        )
    ):
        file = tmp_path / f"outputs-{number}"
        file.touch()
        done = as_a_step(
            script("merge", "changes", "Find the stacks"),
            clone,
            PATH=gh(tmp_path / f"bin-{number}", base),
            GITHUB_OUTPUT=str(file),
            GITHUB_REPOSITORY="example-org/hybrid",
            GITHUB_REF_NAME="main",
        )
        assert done.returncode == 0, done.stderr
        assert file.read_text() == f"environments={environments}\ntenants={tenants}\n"


@pytest.mark.parametrize(("newest", "code"), [("1" * 40, 0), ("2" * 40, 1), ("", 1)])
def test_a_run_started_again_for_an_older_commit_is_refused(tmp_path: Path, newest: str, code: int) -> None:
    first = document(ROOT / ".github/actions/stack/action.yml")["runs"]["steps"][0]
    assert first["if"] == "inputs.command == 'up' && github.run_attempt != 1"
    env = {"GITHUB_REPOSITORY": "example-org/hybrid", "GITHUB_REF_NAME": "main", "GITHUB_SHA": "1" * 40}
    done = as_a_step(first["run"], tmp_path, PATH=gh(tmp_path / "bin", newest), **env)
    assert done.returncode == code
    assert (f"main is at {newest} by now" in done.stderr) is (code == 1)


@pytest.mark.parametrize(("command", "code"), [("preview", 0), ("preview", 3), ("preview", 1), ("up", 2)])
def test_a_stacks_job_leaves_no_secret_behind(tmp_path: Path, command: str, code: int) -> None:
    Repo.empty(tmp_path / "checkout").commit({"a": "x"})
    checkout = tmp_path / "checkout"
    subprocess.run(["git", "update-ref", "HEAD", "refs/heads/made-0"], cwd=checkout, check=True)
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\ncat "$KUBECONFIG" "$PULUMI_CONFIG_PASSPHRASE_FILE"\nexit {code}\n')
    python.chmod(0o755)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    text = document(ROOT / ".github/actions/stack/action.yml")["runs"]["steps"][-1]["run"]
    env = {"COMMAND": command, "STACK": "lab-acme", "HEAD_SHA": "", "PASS": "", "RUNNER_TEMP": str(temporary)}
    done = as_a_step(text, checkout, KUBECONFIG_TEXT="one ", PASSPHRASE="two", **env)
    assert (done.returncode, "one two" in done.stdout) == (code % 3, True), done.stderr
    assert list(temporary.iterdir()) == []
