"""A pull request, previewed by the protected branch with the real engine, pack and API server."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import pytest

from ci.pull_request import path_of
from lab.clouds.state import ENVIRONMENT as CLOUDS_VARIABLE
from lab.demo.intruder import MACHINE
from lab.env_file import command_environment
from tests.ci.examples import attacks, edited, good
from tests.ci.repository import Repo
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.engine.harness import Done, EngineLab

pytestmark = pytest.mark.lab

STACKS = ("lab", "lab-acme", "lab-globex")
ONE_MORE = {("hcloud:index:Server", "prod-cloud-2", "create")}


@pytest.fixture(scope="module")
def repo(lab: EngineLab, tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Give a repository as a user's is: the stack files have the salts that `pulumi stack init` wrote."""
    repo = Repo.of_project(tmp_path_factory.mktemp("ci") / "repo")
    files = {path_of(stack): (lab.layout.project / path_of(stack)).read_text() for stack in STACKS}
    assert all("encryptionsalt" in text for text in files.values())
    repo.base = repo.commit(files, repo.base)
    return repo


def ci(lab: EngineLab, repo: Repo, *words: str, environment: Mapping[str, str] | None = None) -> Done:
    """Run the command as `make` does, in a process of its own."""
    command = [sys.executable, "-m", "ci", "--repository", str(repo.folder), *words]
    return lab.run(command, ROOT, {**os.environ, **(environment or {})})


def planned(output: str) -> set[tuple[str, str, str]]:
    """Give each resource that would change: its type, its name, what would be done."""
    return set(re.findall(r"^ +[-+~]+ +(\S+:\S+) (\S+) (create|update|replace|delete)\b", output, re.MULTILINE))


def test_a_good_pull_request_is_previewed_with_the_pack_by_the_tenants_own_variables(
    lab: EngineLab, repo: Repo, tmp_path: Path
) -> None:
    before = lab.state("lab-acme")
    mine = {**command_environment(lab.layout, "lab-acme"), "PATH": f"{lab.layout.bin}:{os.environ['PATH']}"}
    mine["PULUMI_OPTION_POLICY_PACK"] = str(tmp_path)  # it does not reach the engine, which would find no pack there
    head = repo.commit(good(repo), repo.base)
    done = ci(lab, repo, "preview", "--pass", f"{CLOUDS_VARIABLE} HYBRID_LAB", repo.base, head, environment=mine)
    assert done.code == 0, done.output
    assert planned(done.output) == ONE_MORE, done.output
    assert "Policies:" in done.output
    assert "hybrid@" in done.output
    assert lab.state("lab-acme") == before


def test_whatever_else_a_pull_request_changes_the_preview_is_the_bases(lab: EngineLab, repo: Repo) -> None:
    everything = {
        path: change
        for name, changes in attacks(repo).items()
        if name not in ("puts a link in place of the pack", "makes the program executable")
        for path, change in changes.items()
    }
    head = repo.commit({**everything, **good(repo)}, repo.base)
    done = ci(lab, repo, "preview", "--envs", str(lab.layout.home), repo.base, head)
    assert done.code == 3, done.output
    assert planned(done.output) == ONE_MORE, done.output
    assert "Policies:" in done.output
    assert "\n  policy/__main__.py: deleted\n" in done.output or "\n  policy/__main__.py: changed\n" in done.output
    assert "\n  stacks/Pulumi.lab.yaml: changed\n" in done.output


def test_the_pack_of_the_base_judges_what_the_bases_program_makes(lab: EngineLab, repo: Repo) -> None:
    """A program that slips in a machine (here the base's own, as if it had got there) is refused by the pack."""
    program = edited(
        repo, "components/tenant.py", "import pulumi\n", "import pulumi\nfrom components.intruder import slip_in\n"
    )
    old, new = '    return {"templates"', '    slip_in(run.providers.proxmox["lab"])\n    return {"templates"'
    assert program.count(old) == 1
    bad = repo.commit({"components/intruder.py": MACHINE, "components/tenant.py": program.replace(old, new)}, repo.base)
    done = ci(lab, repo, "preview", "--envs", str(lab.layout.home), "--stack", "lab-globex", bad, bad)
    assert done.code == 1, done.output
    assert "tenant-isolation" in done.output
    assert "202" in done.output
    assert done.output.endswith("\nrefused\n")


def test_the_merge_runs_up_from_the_commit_with_the_pack(lab: EngineLab, repo: Repo) -> None:
    done = ci(lab, repo, "up", "--envs", str(lab.layout.home), "--stack", "lab-globex", repo.base)
    assert done.code == 0, done.output
    assert "unchanged" in done.output
    assert planned(done.output) == set()
    assert "Policies:" in done.output
    assert done.output.endswith("== lab-globex: up: fine\n")
