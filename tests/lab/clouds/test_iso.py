from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from lab.clouds import edit
from tests.lab.clouds.conftest import ENDPOINT, FILE
from tests.lab.clouds.engine import Engine, Refused

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "here" / "seed.iso"
    path.parent.mkdir()
    path.write_bytes(b"first")
    return path


def iso(source: Path, name: str = "seed-1.iso", **changes: Any) -> dict[str, Any]:
    return {
        "contentType": "iso",
        "datastoreId": "iso-acme",
        "nodeName": "pve1",
        "sourceFile": {"path": str(source), "fileName": name},
        **changes,
    }


def files(folder: Path) -> dict[str, Any]:
    with edit(folder, ENDPOINT) as state:
        found: dict[str, Any] = state["files"]
        return found


def test_an_upload_is_kept_byte_for_byte_and_nothing_changes_after_it(pve: Engine, folder: Path, source: Path) -> None:
    pve.up("iso", FILE, iso(source))
    assert pve.state["iso"].identity == "iso-acme:iso/seed-1.iso"
    entry = files(folder)["iso-acme:iso/seed-1.iso"]
    assert (entry["size"], entry["sha256"]) == (5, hashlib.sha256(b"first").hexdigest())
    assert (folder / entry["copy"]).read_bytes() == b"first"
    assert pve.up("iso", FILE, iso(source)) == "same"
    pve.refresh("iso")
    assert pve.up("iso", FILE, iso(source)) == "same"
    pve.destroy("iso")
    assert files(folder) == {}
    assert not (folder / entry["copy"]).exists()


def test_a_source_that_is_not_there_is_refused_at_up_only(pve: Engine, source: Path) -> None:
    pve.preview("iso", FILE, iso(source.with_name("none.iso")))
    with pytest.raises(Refused, match="no such file"):
        pve.up("iso", FILE, iso(source.with_name("none.iso")))


def test_new_bytes_at_the_same_path_are_never_noticed(pve: Engine, folder: Path, source: Path) -> None:
    pve.up("iso", FILE, iso(source))
    source.write_bytes(b"second")
    pve.refresh("iso")
    assert pve.up("iso", FILE, iso(source)) == "same"
    assert files(folder)["iso-acme:iso/seed-1.iso"]["size"] == 5


def test_another_file_name_is_created_first_and_the_old_one_deleted(pve: Engine, folder: Path, source: Path) -> None:
    pve.up("iso", FILE, iso(source))
    plan = pve.plan("iso", FILE, iso(source, "seed-2.iso"))
    assert (plan.step, plan.delete_first) == ("replace", False)
    pve.up("iso", FILE, iso(source, "seed-2.iso"))
    assert set(files(folder)) == {"iso-acme:iso/seed-2.iso"}


def test_another_path_under_the_same_name_deletes_the_file_that_was_just_uploaded(
    pve: Engine, folder: Path, source: Path
) -> None:
    pve.up("iso", FILE, iso(source))
    other = source.with_name("other.iso")
    other.write_bytes(b"second")
    assert pve.up("iso", FILE, iso(other)) == "replace"
    assert files(folder) == {}
    assert pve.up("iso", FILE, iso(other)) == "same"
    assert not pve.refresh("iso")


def test_a_source_that_is_gone_at_a_refresh_plans_a_replacement_unless_the_source_is_ignored(
    pve: Engine, source: Path
) -> None:
    pve.up("iso", FILE, iso(source))
    source.unlink()
    assert pve.refresh("iso")
    assert pve.plan("iso", FILE, iso(source)).step == "replace"
    elsewhere = source.parent.parent / "seed.iso"
    assert pve.up("iso", FILE, iso(elsewhere), ["sourceFile"]) == "same"
    with pytest.raises(Refused, match="no such file"):
        pve.up("iso", FILE, iso(source))


def test_an_upload_overwrites_a_foreign_file_of_its_name_unless_told_not_to(
    pve: Engine, folder: Path, source: Path
) -> None:
    pve.up("one", FILE, iso(source))
    source.write_bytes(b"second")
    pve.up("two", FILE, iso(source))
    assert files(folder)["iso-acme:iso/seed-1.iso"]["size"] == 6
    with pytest.raises(Refused, match="already exists"):
        pve.up("three", FILE, iso(source, overwrite=False))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"datastoreId": "nowhere"}, "storage 'nowhere' does not exist"),
        ({"datastoreId": "ceph-vm"}, "does not support content-type 'iso'"),
        ({"nodeName": "nowhere"}, "hostname lookup 'nowhere' failed"),
        ({"contentType": "snippets"}, "ISO images from local files only"),
    ],
)
def test_what_an_upload_can_not_do(pve: Engine, source: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        pve.up("iso", FILE, iso(source, **changes))


def test_a_file_that_is_not_named_like_an_image_is_refused(pve: Engine, source: Path) -> None:
    with pytest.raises(Refused, match="wrong file extension"):
        pve.up("iso", FILE, iso(source, "seed.txt"))


def test_a_checksum_must_be_the_files(pve: Engine, source: Path) -> None:
    wrong = {"path": str(source), "fileName": "a.iso", "checksum": "0" * 64}
    with pytest.raises(Refused, match="does not match source checksum"):
        pve.up("iso", FILE, iso(source, sourceFile=wrong))
    right = {**wrong, "checksum": hashlib.sha256(b"first").hexdigest()}
    assert pve.up("iso", FILE, iso(source, sourceFile=right)) == "create"


def test_a_file_without_a_source_is_refused_at_preview(pve: Engine, source: Path) -> None:
    inputs = iso(source)
    del inputs["sourceFile"]
    assert [path for path, _ in pve.failures(FILE, inputs)] == ["sourceFile"]
    assert pve.failures(FILE, iso(source)) == []
