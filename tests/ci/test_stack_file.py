"""What a tenant's stack file may say: it is checked on the base's tree, before the engine reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ci import child
from ci import tree as trees
from ci.__main__ import main
from ci.check import check, encryption
from tests.ci.examples import ACME, GLOBEX, good

if TYPE_CHECKING:
    from pathlib import Path

    from ci.git import Repository
    from tests.ci.repository import Repo

SALT = "encryptionsalt: v1:AAAA:v1:BBBB:CCCC\n"
AWS = "secretsprovider: awskms://1234?region=eu-central-1\nencryptedkey: AAAA\n"


@pytest.fixture(scope="module")
def tree(repo: Repo, repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the base's tree once; a test puts its file there."""
    folder = tmp_path_factory.mktemp("tree")
    trees.write(repository, repository.tree(repo.base), folder)
    return folder


def judged(repo: Repo, capsys: pytest.CaptureFixture[str], base: str, head: str) -> tuple[int, str]:
    code = main(["--repository", str(repo.folder), "preview", base, head, "--check-only"])
    return code, capsys.readouterr().out


def test_the_good_file_is_fine(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = judged(repo, capsys, repo.base, repo.commit(good(repo), repo.base))
    assert code == 0, said
    assert said.endswith("laid over BASE: stacks/Pulumi.lab-acme.yaml\n== lab-acme: check: fine\nfine\n")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("environment: [other]\n", "[UNKNOWN_KEY]"),
        ("backend:\n  url: https://evil.example\n", "[UNKNOWN_KEY]"),
        ("  pulumi:disable-default-providers: []\n", "[UNKNOWN_KEY]"),
        ("  hybrid:environment: {}\n", "[WRONG_KIND]"),
        ("  hybrid:policy: off\n", "[UNKNOWN_KEY]"),
        ('  hybrid:credentials: \'{"lab": {"token": "mine"}}\'\n', "[CREDENTIALS_IN_CLEAR]"),
        ("config:\n  hybrid:tenant: {}\n", "[DUPLICATE_KEY]"),
        ("  <<: {hybrid:x: y}\n", "[NOT_PLAIN_YAML]"),
        ("# \u2028environment: [other]\n", "[NOT_YAML]"),
        (SALT, "[ENCRYPTION_CHANGED]"),
        (AWS, "[ENCRYPTION_CHANGED]"),
        ("secretsprovider: null\n", "[ENCRYPTION_CHANGED]"),
    ],
)
def test_any_other_key_is_refused_with_its_name(repo: Repo, tree: Path, tmp_path: Path, text: str, code: str) -> None:
    before = tmp_path / "before.yaml"
    before.write_text(repo.read(ACME))
    (tree / ACME).write_text(good(repo)[ACME] + text)
    said = check("lab-acme", tree, child.plain(tmp_path), before)
    assert said is not None
    assert code in said


def test_a_refused_file_refuses_the_pull_request(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = judged(repo, capsys, repo.base, repo.commit({ACME: good(repo)[ACME] + AWS}, repo.base))
    assert code == 1
    assert "== lab-acme: check: refused\n" in said
    assert said.count("[ENCRYPTION_CHANGED]") == 2
    assert said.endswith("\nrefused\n")


@pytest.mark.parametrize("line", [SALT, AWS], ids=["salt", "key"])
def test_encryption_lines_stay_as_they_are_on_the_base(repo: Repo, tmp_path: Path, line: str) -> None:
    before, after = tmp_path / "before.yaml", tmp_path / "after.yaml"
    before.write_text(line + repo.read(ACME))
    after.write_text(good(repo)[ACME] + line)  # in another place of the file: the same
    assert encryption(after, before) == []
    for changed in (line.replace("AAAA", "AAAB"), "", line.rstrip() + "x\n", AWS if line == SALT else SALT):
        after.write_text(changed + good(repo)[ACME])
        found = encryption(after, before)
        assert {problem.code for problem in found} == {"ENCRYPTION_CHANGED"}, changed
        assert "AAA" not in str(found)


def test_encrypted_credentials_are_not_refused_here(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    base = repo.commit({ACME: SALT + repo.read(ACME)}, repo.base)
    head = repo.commit({ACME: SALT + good(repo)[ACME] + "  hybrid:credentials: {secure: v1:AAAA:BBBB}\n"}, base)
    assert judged(repo, capsys, base, head)[0] == 0


def test_a_network_of_another_tenant_is_refused_by_the_settings(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    text = repo.read(GLOBEX).replace("network: globex-lab", "network: acme-lab")
    code, said = judged(repo, capsys, repo.base, repo.commit({GLOBEX: text}, repo.base))
    assert code == 1
    assert "[NOT_YOURS]" in said


def test_the_rules_are_the_bases_and_so_is_the_environment(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """A pull request that gives itself a network, and takes the rules away, gets neither."""
    table = repo.read("stacks/Pulumi.lab.yaml").replace("tenant: globex, location: lab", "tenant: acme, location: lab")
    text = repo.read(ACME).replace("network: acme-lab", "network: globex-lab")
    changes = {ACME: text, "stacks/Pulumi.lab.yaml": table, "settings/load.py": "", "settings/__main__.py": ""}
    code, said = judged(repo, capsys, repo.base, repo.commit(changes, repo.base))
    assert code == 1
    assert "[NOT_YOURS]" in said
    assert "  stacks/Pulumi.lab.yaml: changed\n" in said


def test_a_newer_base_judges_by_its_newer_rules(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    head = repo.commit(good(repo), repo.base)
    without = repo.read("stacks/Pulumi.lab.yaml").replace("acme: {cidr: 10.100.0.0/16, subnet: 10.100.1.0/24}", "")
    later = repo.commit(
        {"stacks/Pulumi.lab.yaml": without.replace("tenants:\n          \n", "tenants: {}\n")}, repo.base
    )
    code, said = judged(repo, capsys, later, head)
    assert code == 1
    assert "clusters.prod.pools.cloud" in said


def test_all_files_are_judged_and_each_says_what_is_wrong_with_it(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = {path: repo.read(path) + "backend: x\n" for path in (ACME, GLOBEX)}
    code, said = judged(repo, capsys, repo.base, repo.commit(changes, repo.base))
    assert code == 1
    assert said.count("[UNKNOWN_KEY]") == 2
    assert said.index("== lab-acme: check: refused") < said.index("== lab-globex: check: refused")
