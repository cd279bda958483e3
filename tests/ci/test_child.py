"""What the engine and its children find in their environment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ci import child
from ci.problems import CiError
from tests.ci.stand_in import one_users

if TYPE_CHECKING:
    from pathlib import Path

BENDING = {
    "PYTHONPATH": "evil",
    "PYTHONSTARTUP": "evil.py",
    "PYTHONHOME": "evil",
    "LD_PRELOAD": "evil.so",
    "PIP_INDEX_URL": "https://evil.example",
    "PULUMI_OPTION_POLICY_PACK": "evil",
    "PULUMI_OPTION_POLICY_PACK_CONFIG": "evil.json",
    "GIT_DIR": "evil",
    "BASH_ENV": "evil",
    "VIRTUAL_ENV": "evil",
    "PULUMI_RUN_PROGRAM": "false",
    "PULUMI_DEBUG_COMMANDS": "true",
    "GITHUB_TOKEN": "token",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "token",
    "AWS_SECRET_ACCESS_KEY": "secret",
}


def kubeconfig(folder: Path, *contexts: str) -> str:
    file = folder / f"kubeconfig-{'-'.join(contexts)}"
    file.write_text(one_users(*contexts))
    return str(file)


def given(folder: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:.:bin::/bin",
        "LANG": "C.UTF-8",
        "HOME": "/home/person",
        "KUBECONFIG": kubeconfig(folder, "lab-acme"),
        "PULUMI_BACKEND_URL": "s3://states",
        "PULUMI_CONFIG_PASSPHRASE_FILE": "/run/passphrase",
        "PULUMI_HOME": "/opt/pulumi",
    }


def test_the_engine_gets_the_stacks_own_variables_and_nothing_else(tmp_path: Path) -> None:
    home = tmp_path / "home"
    mine = given(tmp_path)
    assert child.engine("lab-acme", home, given={**mine, **BENDING}) == {
        **mine,
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "PULUMI_RUN_PROGRAM": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
    }


def test_a_check_gets_no_secret(tmp_path: Path) -> None:
    found = child.plain(tmp_path, {**given(tmp_path), **BENDING})
    assert set(found) == {"HOME", "LANG", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONNOUSERSITE"}


def test_what_a_backend_needs_is_passed_by_name(tmp_path: Path) -> None:
    all_of_it = {**given(tmp_path), **BENDING}
    found = child.engine("lab-acme", tmp_path, given=all_of_it, passed=["AWS_SECRET_ACCESS_KEY", "AWS_REGION"])
    assert found["AWS_SECRET_ACCESS_KEY"] == "secret"
    assert "AWS_REGION" not in found


@pytest.mark.parametrize(
    "name",
    ["PYTHONPATH", "LD_PRELOAD", "PULUMI_OPTION_POLICY_PACK", "PULUMI_PYTHON_CMD", "GIT_DIR", "HOME", "PATH"],
)
def test_what_could_change_the_code_that_runs_is_not_passed_even_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(CiError, match=f"{name} is never passed on"):
        child.engine("lab-acme", tmp_path, given={**given(tmp_path), **BENDING}, passed=[name])


@pytest.mark.parametrize("name", ["KUBECONFIG", "PULUMI_BACKEND_URL"])
def test_what_is_needed_and_not_set_is_named(tmp_path: Path, name: str) -> None:
    without = {key: value for key, value in given(tmp_path).items() if key != name}
    with pytest.raises(CiError, match=f"{name} is not set: "):
        child.engine("lab-acme", tmp_path, given=without)


@pytest.mark.parametrize("contexts", [("lab-acme", "lab-globex"), ("lab-globex",), ("cozystack-lab", "lab-acme"), ()])
def test_a_tenants_job_that_holds_another_identity_is_refused(tmp_path: Path, contexts: tuple[str, ...]) -> None:
    mixed = {**given(tmp_path), "KUBECONFIG": kubeconfig(tmp_path, *contexts)}
    with pytest.raises(CiError, match="the job of lab-acme holds that tenant's own identity and nothing else"):
        child.engine("lab-acme", tmp_path, given=mixed)
    assert child.engine("lab", tmp_path, given=mixed)["KUBECONFIG"] == mixed["KUBECONFIG"]


@pytest.mark.parametrize("users", [[], ["lab-acme", "admin"], None, 5, {"admin": {}}])
def test_a_kubeconfig_with_another_user_beside_the_tenants_is_refused(tmp_path: Path, users: object) -> None:
    """A context names only one of them, and whoever has the file can name the other."""
    named = [{"name": name} for name in users] if isinstance(users, list) else users
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps({"contexts": [{"name": "lab-acme"}], "users": named}))
    with pytest.raises(CiError, match="holds that tenant's own identity and nothing else"):
        child.engine("lab-acme", tmp_path, given={**given(tmp_path), "KUBECONFIG": str(file)})


def test_a_kubeconfig_that_can_not_be_read_is_refused_without_its_content(tmp_path: Path) -> None:
    file = tmp_path / "broken"
    file.write_text("token: {secret")
    for path in (file, tmp_path / "missing", tmp_path):
        with pytest.raises(CiError, match="is no kubeconfig with a context") as caught:
            child.engine("lab-acme", tmp_path, given={**given(tmp_path), "KUBECONFIG": str(path)})
        assert "secret" not in str(caught.value)


def test_paths_are_made_absolute_since_the_engine_runs_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kubeconfig(tmp_path, "lab-acme")
    relative = {**given(tmp_path), "KUBECONFIG": "kubeconfig-lab-acme", "PULUMI_CONFIG_PASSPHRASE_FILE": "passphrase"}
    found = child.engine("lab-acme", tmp_path, given=relative)
    assert found["KUBECONFIG"] == str(tmp_path / "kubeconfig-lab-acme")
    assert found["PULUMI_CONFIG_PASSPHRASE_FILE"] == str(tmp_path / "passphrase")
    two = child.engine("lab", tmp_path, given={**relative, "KUBECONFIG": "one:/two:"})
    assert two["KUBECONFIG"] == f"{tmp_path}/one:/two"


def test_a_file_of_variables_is_read_and_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    file = tmp_path / "env-lab-acme"
    file.write_text(
        "# a comment\nexport A='x y'\nexport B=$(touch evil)\nunset C\ncd /elsewhere\n"
        "export PATH='/opt/bin':\"$PATH\"\nexport PYTHONPATH=evil\nexport PULUMI_OPTION_POLICY_PACK=evil\n"
    )
    assert child.read_file(file) == {"A": "x y", "PATH": "/opt/bin:/usr/bin"}
    with pytest.raises(CiError, match="env-lab-acme can not be read"):
        child.read_file(tmp_path / "no" / "env-lab-acme")


@pytest.mark.parametrize(
    ("text", "said"), [(b"export A='secret\n", "line 1: a quote is not closed"), (b"\xff", "is not UTF-8")]
)
def test_a_file_of_variables_that_can_not_be_read_is_named_without_its_content(
    tmp_path: Path, text: bytes, said: str
) -> None:
    file = tmp_path / "env-lab-acme"
    file.write_bytes(text)
    with pytest.raises(CiError, match=said) as caught:
        child.read_file(file)
    assert "secret" not in str(caught.value)
