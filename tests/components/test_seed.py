"""The seed ISO: the same bytes for the same contents, whenever and wherever it is made, for its owner's eyes only."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pycdlib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.seed import content_hash, seed_iso, write_seed
from manifests.talos import machine_config
from settings.machines import machines
from tests.components.examples import tenant_settings
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = "version: v1alpha1\nmachine:\n  type: worker\n"
BLOCK = 2048


def _read(data: bytes) -> dict[str, bytes]:
    """Read the files of an ISO back, by their Joliet names, and check that Rock Ridge says the same."""
    iso = pycdlib.PyCdlib()
    iso.open_fp(io.BytesIO(data))
    found: dict[str, bytes] = {}
    for kind in ("joliet_path", "rr_path"):
        for child in iso.list_children(**{kind: "/"}):
            if child is None or child.is_dot() or child.is_dotdot():
                continue
            record = child.rock_ridge.name() if kind == "rr_path" else child.file_identifier().decode("utf-16-be")
            name = record.decode() if isinstance(record, bytes) else record
            out = io.BytesIO()
            iso.get_file_from_iso_fp(out, **{kind: f"/{name}"})
            assert found.setdefault(name, out.getvalue()) == out.getvalue()
    iso.close()
    return found


@pytest.fixture
def _zone() -> Iterator[None]:
    before = os.environ.get("TZ")
    yield
    if before is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = before
    time.tzset()


def test_an_iso_reads_back_as_the_files_that_no_cloud_wants() -> None:
    found = _read(seed_iso("prod-dc-0", TEXT))
    assert found.keys() == {"user-data", "meta-data"}
    assert found["user-data"].decode() == TEXT
    assert found["meta-data"].decode() == (
        f"instance-id: prod-dc-0-{content_hash('prod-dc-0', TEXT)}\nlocal-hostname: prod-dc-0\n"
    )


def test_the_volume_is_named_as_no_cloud_wants() -> None:
    data = seed_iso("prod-dc-0", TEXT)
    volume = data[16 * BLOCK + 40 : 16 * BLOCK + 72]
    assert volume.decode().strip() == "cidata"


def test_a_real_machine_config_reads_back_whole() -> None:
    chosen = tenant_settings("acme")
    for machine in machines(chosen, "prod", "dc"):
        text = machine_config(chosen, "prod", "dc", machine)
        assert _read(seed_iso(machine.name, text))["user-data"].decode() == text


@pytest.mark.usefixtures("_zone")
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "America/St_Johns"])
@pytest.mark.parametrize("moment", [0.0, 951_782_400.0, 2_000_000_000.0])
def test_an_iso_is_the_same_bytes_at_any_time_in_any_zone(
    zone: str, moment: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = seed_iso("prod-dc-0", TEXT)
    os.environ["TZ"] = zone
    time.tzset()
    monkeypatch.setattr(time, "time", lambda: moment)
    assert seed_iso("prod-dc-0", TEXT) == expected


def test_the_clock_runs_on_afterwards() -> None:
    before = time.time()
    seed_iso("prod-dc-0", TEXT)
    assert time.time() >= before > 1_700_000_000
    assert time.localtime is not time.gmtime


@settings(max_examples=20)
@given(
    st.tuples(st.text("abc-01", min_size=1, max_size=12), st.text(max_size=40)),
    st.tuples(st.text("abc-01", min_size=1, max_size=12), st.text(max_size=40)),
)
def test_a_different_machine_or_config_is_another_name(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (content_hash(*one) == content_hash(*other)) is (one == other)


def test_where_a_machines_name_ends_makes_a_difference() -> None:
    assert content_hash("prod-dc-1", "0: x") != content_hash("prod-dc-10", ": x")


def test_a_file_is_named_by_its_content_and_for_its_owner_alone() -> None:
    umask = os.umask(0)
    try:
        path = write_seed("prod-dc-0", TEXT)
    finally:
        os.umask(umask)
    assert path.as_posix() == f".build/iso/{content_hash('prod-dc-0', TEXT)}.iso"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() == seed_iso("prod-dc-0", TEXT)
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_a_different_config_is_another_file() -> None:
    assert write_seed("prod-dc-0", TEXT) != write_seed("prod-dc-0", TEXT + "cluster: {}\n")
    assert write_seed("prod-dc-0", TEXT) != write_seed("prod-dc-1", TEXT)


def test_a_file_that_somebody_else_put_there_is_replaced_by_a_private_one_with_the_right_bytes() -> None:
    path = write_seed("prod-dc-0", TEXT)
    path.unlink()
    path.write_bytes(b"planted")
    path.chmod(0o644)
    assert write_seed("prod-dc-0", TEXT) == path
    assert path.read_bytes() == seed_iso("prod-dc-0", TEXT)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_run_that_was_cut_off_leaves_nothing_that_counts_as_whole() -> None:
    path = write_seed("prod-dc-0", TEXT)
    path.unlink()
    path.with_suffix(".1.part").write_bytes(b"half")
    assert write_seed("prod-dc-0", TEXT).read_bytes() == seed_iso("prod-dc-0", TEXT)


PROGRAM = """
import os, signal
from pathlib import Path
from components.seed import write_seed
paths = [write_seed(name, "b") for name in ("one", "two")]
assert all(path.exists() for path in paths)
"""


def run(folder: Path, end: str, *, left: int = 0) -> list[str]:
    """Run a program that writes two seeds and ends in some way; give what is there when `left` of them should be."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", PROGRAM + end], cwd=folder, env=env, check=False, capture_output=True)
    iso = folder / ".build" / "iso"
    deadline = time.monotonic() + 10
    while len(list(iso.iterdir())) > left and time.monotonic() < deadline:
        time.sleep(0.02)
    return [item.read_text(errors="replace") for item in iso.iterdir()]


@pytest.mark.parametrize("end", ["", "1/0", "os._exit(3)", "os.setsid(); os.kill(0, signal.SIGKILL)"])
def test_what_a_program_wrote_goes_with_it_however_it_ends(tmp_path: Path, end: str) -> None:
    assert run(tmp_path, end) == []


def test_a_program_that_is_killed_while_it_writes_leaves_nothing(tmp_path: Path) -> None:
    killed = "from components import seed; seed.seed_iso = lambda *_: os._exit(9); write_seed('three', 'b')"
    assert run(tmp_path, killed) == []


def test_what_another_run_has_written_since_stays(tmp_path: Path) -> None:
    again = "new = Path('new'); new.write_text('another run'); new.replace(paths[0])"
    assert run(tmp_path, again, left=1) == ["another run"]


def test_what_a_crashed_machine_left_is_taken_away_a_day_later(tmp_path: Path) -> None:
    folder = tmp_path / ".build" / "iso"
    folder.mkdir(parents=True)
    for name in ("old.iso", "old.1.part", "new.iso"):
        (folder / name).write_bytes(b"x")
        if name.startswith("old"):
            os.utime(folder / name, (0, 0))
    path = write_seed("prod-dc-0", TEXT)
    assert {item.name for item in folder.iterdir()} == {"new.iso", path.name}
