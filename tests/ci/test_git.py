"""Commits are read as data: nothing in one takes effect by being read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ci import tree as trees
from ci.git import Repository
from ci.problems import CiError, shown
from tests.ci.repository import Repo, Special

if TYPE_CHECKING:
    from pathlib import Path

ODD: dict[str, str | bytes | Special | None] = {
    ".gitattributes": "* text eol=crlf ident export-subst filter=evil\nhidden export-ignore\n",
    "ident": "$Id$ $Format:%H$\n",
    "hidden": "here\n",
    "crlf": "a\r\nb\n",
    "binary": bytes(range(256)),
    "empty": "",
    "run": Special("100755", "#!/bin/sh\n"),
    "folder/link": Special("120000", "../run"),
    "module": Special("160000", "1" * 40),
    'ä "quoted"\ttab': "x",
    "\udcff": "x",
}


@pytest.fixture
def odd(tmp_path: Path) -> Repo:
    """Give a repository whose attributes and hooks would change what is written."""
    repo = Repo.empty(tmp_path / "odd")
    for name, value in {
        "filter.evil.smudge": f"touch {tmp_path}/run-by-filter; cat",
        "core.autocrlf": "true",
        "core.fsmonitor": f"touch {tmp_path}/run-by-fsmonitor",
    }.items():
        repo.git("config", name, value)
    repo.base = repo.commit(ODD)
    return repo


def test_a_tree_is_written_byte_for_byte_whatever_its_attributes_say(odd: Repo, tmp_path: Path) -> None:
    repository = Repository(odd.folder)
    out = tmp_path / "out"
    out.mkdir()
    trees.write(repository, repository.tree(odd.base), out)
    for path, change in ODD.items():
        if isinstance(change, str | bytes):
            assert (out / path).read_bytes() == (change if isinstance(change, bytes) else change.encode()), path
    assert os.access(out / "run", os.X_OK)
    assert not os.access(out / "ident", os.X_OK)
    assert (out / "folder/link").readlink().as_posix() == "../run"
    assert not (out / "module").exists()
    assert not list(tmp_path.glob("run-by-*"))


def test_what_the_environment_says_to_git_is_not_heard(
    odd: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repo.empty(tmp_path / "other")
    evil = tmp_path / "evil.gitconfig"
    evil.write_text(f"[core]\n\tsshCommand = touch {tmp_path}/run\n[alias]\n\tls-tree = !touch {tmp_path}/run\n")
    for name, value in {
        "GIT_DIR": str(other.folder / ".git"),
        "GIT_CONFIG_GLOBAL": str(evil),
        "GIT_OBJECT_DIRECTORY": str(other.folder / ".git/objects"),
        "GIT_REPLACE_REF_BASE": "refs/made",
        "GIT_TRACE": str(tmp_path / "run"),
    }.items():
        monkeypatch.setenv(name, value)
    assert set(Repository(odd.folder).tree(odd.base)) == set(ODD)
    assert not (tmp_path / "run").exists()


def test_a_replaced_object_is_read_as_it_was(odd: Repo) -> None:
    other = odd.commit({"only": "this\n"})
    odd.git("replace", odd.base, other)
    assert set(Repository(odd.folder).tree(odd.base)) == set(ODD)


def test_a_malformed_tree_is_refused(odd: Repo, tmp_path: Path) -> None:
    repository = Repository(odd.folder)
    blob = odd.git("hash-object", "-w", "--stdin", stdin=b"x\n")
    for name in ("..", ".", ".git", ".GIT", "a/../../b"):
        tree = odd.raw_tree(("100644", name, blob))
        out = tmp_path / f"out-{len(list(tmp_path.iterdir()))}"
        out.mkdir()
        with pytest.raises(CiError, match="the commit is malformed"):
            trees.write(repository, repository.tree(odd.git("commit-tree", tree, "-m", "x")), out)
        assert list(out.iterdir()) == []
    twice = odd.raw_tree(("100644", "a", blob), ("100644", "a", blob))
    with pytest.raises(CiError, match="a stands in it twice"):
        repository.tree(odd.git("commit-tree", twice, "-m", "x"))


def test_a_tree_without_end_is_refused_soon(odd: Repo) -> None:
    tree = odd.git("hash-object", "-w", "--stdin", stdin=b"x\n")
    mode = "100644"
    for _ in range(20):  # 10 ^ 20 paths
        tree, mode = odd.raw_tree(*((mode, str(number), tree) for number in range(10))), "40000"
    with pytest.raises(CiError, match="bytes of paths: it is not this project"):
        Repository(odd.folder).tree(odd.git("commit-tree", tree, "-m", "x"))


def test_a_commit_that_is_not_whole_is_refused(odd: Repo) -> None:
    tree = odd.raw_tree(("40000", "gone", "1" * 40))
    with pytest.raises(CiError, match="git has no whole commit"):
        Repository(odd.folder).tree(odd.git("commit-tree", tree, "-m", "x"))


def test_a_file_is_never_laid_over_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "stacks").symlink_to("elsewhere")
    with pytest.raises(CiError, match="is reached through a symbolic link on BASE"):
        trees.lay_over(tmp_path, "stacks/Pulumi.lab-acme.yaml", b"x")
    with pytest.raises(CiError, match="is reached through a symbolic link on BASE"):
        trees.lay_over(tmp_path, "stacks", b"x")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_blob_that_is_not_there_is_named(odd: Repo) -> None:
    with pytest.raises(CiError, match=f"git has no blob {'2' * 40}"):
        Repository(odd.folder).blobs(["2" * 40])


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("docs/a.md", "docs/a.md"),
        ("a\n::error::b", r"'a\n::error::b'"),
        ("::error::b", "'::error::b'"),
        ("ä", r"'\xe4'"),
        ("\udcff", r"'\udcff'"),
        ("\x1b[2J", r"'\x1b[2J'"),
    ],
)
def test_a_path_is_shown_so_that_it_can_not_speak_for_the_command(path: str, said: str) -> None:
    assert shown(path) == said
