"""The whole command with a stand-in for the engine, which writes down where, how and with what it was started.

The real engine does the same in tests/engine/test_ci.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ci import workplace
from ci.__main__ import main
from manifests.policy_config import policy_config
from tests.ci.examples import ACME, GLOBEX, attacks, edited, good
from tests.ci.repository import Special
from tests.ci.stand_in import Engine, one_users
from tests.conftest import ROOT

if TYPE_CHECKING:
    from tests.ci.repository import Repo


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Put the stand-in on PATH, and give acme's variables to this process."""
    found = Engine(tmp_path)
    found.fails(0)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(one_users("lab-acme"))
    for name, value in {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "KUBECONFIG": str(kubeconfig),
        "PULUMI_BACKEND_URL": "file:///states",
        "PYTHONPATH": "/evil",
        "PULUMI_OPTION_POLICY_PACK": "/evil",
        "OTHER_SECRET": "secret",
    }.items():
        monkeypatch.setenv(name, value)
    return found


def everything(repo: Repo) -> dict[str, str | bytes | Special | None]:
    """Give all attacks at once that can stand in one commit, and a good change."""
    found: dict[str, str | bytes | Special | None] = {}
    for name, changes in attacks(repo).items():
        if name not in ("puts a link in place of the pack", "makes the program executable"):
            found |= changes
    return {**found, **good(repo)}


def test_the_engine_runs_in_the_bases_tree_with_one_file_of_the_pull_request(
    repo: Repo, engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    code = main(["--repository", str(repo.folder), "preview", "main", repo.commit(everything(repo), repo.base)])
    said = capfd.readouterr().out
    assert code == 3, said
    assert engine.runs() == ["lab-acme"]
    seen = engine.seen("lab-acme")
    paths = repo.git("ls-tree", "-r", "-z", "--name-only", repo.base).rstrip("\0").split("\0")
    wanted = {path: (ROOT / path).read_bytes().hex() for path in paths}
    assert seen["files"] == {**wanted, ACME: good(repo)[ACME].encode().hex()}
    assert seen["venv"] == sys.prefix
    assert seen["config"] == policy_config(ROOT / "stacks", "lab")
    assert seen["words"][:1] == ["preview"]
    assert seen["words"][seen["words"].index("--policy-pack") + 1] == f"{seen['tree']}/policy"
    assert seen["environment"].keys() & {"PYTHONPATH", "PULUMI_OPTION_POLICY_PACK", "OTHER_SECRET"} == set()
    assert seen["environment"]["HOME"].startswith(str(Path(seen["tree"]).parent))
    assert seen["mode"] == "0o700"
    assert not Path(seen["tree"]).exists()
    assert (
        "== lab-acme: check: fine\n== lab-acme: preview with BASE's program, policy pack and config\nthe engine's"
        in said
    )
    assert said.endswith("== lab-acme: preview: fine\nneeds an admin's review\n")


def test_a_good_pull_request_is_fine_and_one_that_the_engine_refuses_is_not(
    repo: Repo, engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["--repository", str(repo.folder), "preview", "main", repo.commit(good(repo), repo.base)]
    assert main(words) == 0
    assert capfd.readouterr().out.endswith("\nfine\n")
    engine.fails(255)
    assert main(words) == 1
    assert capfd.readouterr().out.endswith("== lab-acme: preview: refused (exit code 255)\nrefused\n")


def test_the_engine_never_sees_a_file_that_the_check_refuses(
    repo: Repo, engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    head = repo.commit({ACME: good(repo)[ACME] + "backend: {url: https://evil.example}\n"}, repo.base)
    assert main(["--repository", str(repo.folder), "preview", "main", head]) == 1
    assert engine.runs() == []
    assert "the engine's words" not in capfd.readouterr().out


def test_a_job_of_a_stack_whose_file_is_refused_starts_no_engine(repo: Repo, engine: Engine) -> None:
    head = repo.commit({ACME: Special("120000", "Pulumi.lab-globex.yaml")}, repo.base)
    assert main(["--repository", str(repo.folder), "preview", "main", head, "--stack", "lab-acme"]) == 1
    assert engine.runs() == []


def test_the_job_of_one_tenant_has_nothing_of_anothers_file_and_says_so(
    repo: Repo, engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    both = {**good(repo), GLOBEX: edited(repo, GLOBEX, "replicas: 2", "replicas: 3")}
    head = repo.commit(both, repo.base)
    assert main(["--repository", str(repo.folder), "preview", "main", head, "--stack", "lab-acme"]) == 3
    said = capfd.readouterr().out
    assert said.endswith("not judged here, since lab-acme alone was asked for: lab-globex\nfine as far as it goes\n")
    files = engine.seen("lab-acme")["files"]
    assert files[ACME] == both[ACME].encode().hex()
    assert files[GLOBEX] == repo.read(GLOBEX).encode().hex()
    assert engine.runs() == ["lab-acme"]


def test_two_stacks_in_one_process_are_refused_unless_each_has_its_own_variables(
    repo: Repo, engine: Engine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    both = {**good(repo), GLOBEX: edited(repo, GLOBEX, "replicas: 2", "replicas: 3")}
    words = ["--repository", str(repo.folder), "preview", "main", repo.commit(both, repo.base)]
    assert main(words) == 2
    assert "lab-acme, lab-globex: each has a passphrase and a kubeconfig of its own" in capfd.readouterr().err
    assert engine.runs() == []
    for stack in ("lab-acme", "lab-globex"):
        kubeconfig = tmp_path / f"kubeconfig-{stack}"
        kubeconfig.write_text(one_users(stack))
        (tmp_path / f"env-{stack}").write_text(
            f"export KUBECONFIG={kubeconfig}\nexport PULUMI_BACKEND_URL=file:///x\nexport OWN={stack}\n"
        )
    assert main([*words, "--envs", str(tmp_path)]) == 0
    for stack in ("lab-acme", "lab-globex"):
        found = engine.seen(stack)["environment"]
        assert (found["OWN"], found["KUBECONFIG"]) == (stack, str(tmp_path / f"kubeconfig-{stack}"))
        assert "OTHER_SECRET" not in found


def test_a_tenants_job_with_an_admins_kubeconfig_is_refused_before_the_engine(
    repo: Repo, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    admin = tmp_path / "admin"
    admin.write_text(one_users("cozystack-lab", "lab-acme"))
    monkeypatch.setenv("KUBECONFIG", str(admin))
    head = repo.commit(good(repo), repo.base)
    assert main(["--repository", str(repo.folder), "preview", "main", head]) == 2
    assert "holds that tenant's own identity and nothing else" in capfd.readouterr().err
    assert engine.runs() == []


@pytest.mark.parametrize("path", ["requirements-dev.txt", "settings/outer.py", "ci/check.py", "Makefile"])
def test_a_working_copy_that_would_judge_by_other_code_or_packages_is_refused(  # noqa: PLR0913, PLR0917 - fixtures
    repo: Repo,
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    path: str,
) -> None:
    """As in a checkout of a pull request that changed it."""
    for name in ("Makefile", "ci", "requirements.txt", "requirements-dev.txt", "settings"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.setattr(workplace, "ROOT", tmp_path)
    later = repo.commit({path: repo.read(path) + "# newer\n"}, repo.base)
    words = ["--repository", str(repo.folder), "preview", later, repo.commit(good(repo), repo.base)]
    assert main(words) == 2
    assert f"{path} here is not BASE's, and would judge: check BASE out" in capfd.readouterr().err
    assert engine.runs() == []


def test_packages_in_git_are_not_used(repo: Repo, engine: Engine, capfd: pytest.CaptureFixture[str]) -> None:
    base = repo.commit({".venv/bin/python": Special("100755", "#!/bin/sh\n")}, repo.base)
    assert main(["--repository", str(repo.folder), "preview", base, repo.commit(good(repo), base)]) == 2
    assert "BASE has a .venv in git" in capfd.readouterr().err
    assert engine.runs() == []


def test_an_up_runs_in_the_commits_tree_with_its_pack_and_config(
    repo: Repo, engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    merged = repo.commit(good(repo), repo.base)
    assert main(["--repository", str(repo.folder), "up", merged, "--stack", "lab-acme"]) == 0
    seen = engine.seen("lab-acme")
    assert seen["words"][:2] == ["up", "--yes"]
    assert "--policy-pack" in seen["words"]
    assert seen["files"][ACME] == good(repo)[ACME].encode().hex()
    refused = repo.commit({ACME: good(repo)[ACME] + "x: y\n"}, repo.base)
    assert main(["--repository", str(repo.folder), "up", refused, "--stack", "lab-acme"]) == 1
    assert main(["--repository", str(repo.folder), "up", merged, "--stack", "lab-other"]) == 2
    said = capfd.readouterr()
    assert "[UNKNOWN_KEY]" in said.out
    assert "has no stacks/Pulumi.lab-other.yaml" in said.err


def test_a_run_that_is_ended_lets_the_engine_finish_and_leaves_nothing(
    repo: Repo, engine: Engine, tmp_path: Path
) -> None:
    temporary, started, ended = (tmp_path / name for name in ("temporary", "started", "ended"))
    temporary.mkdir()
    (engine.folder / "pulumi").write_text(
        f"#!/bin/bash\ntrap 'sleep 0.5; touch {ended}; exit 1' TERM\ntouch {started}\nwhile :; do sleep 0.05; done\n"
    )
    words = [sys.executable, "-m", "ci", "--repository", str(repo.folder), "preview", "main"]
    words.append(repo.commit(good(repo), repo.base))
    environment = {name: os.environ[name] for name in ("PATH", "KUBECONFIG", "PULUMI_BACKEND_URL")}
    with subprocess.Popen(words, cwd=ROOT, env={**environment, "TMPDIR": str(temporary)}) as running:
        deadline = time.monotonic() + 60
        while not started.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert list(temporary.iterdir())
        running.terminate()
    assert running.returncode == 143
    assert ended.exists()
    assert list(temporary.iterdir()) == []
