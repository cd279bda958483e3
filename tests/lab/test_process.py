"""A recorded process is ended only if it still is that process."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from lab.cluster.process import Process, command_line

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = "import sys, time; print(sys.argv[1], flush=True); time.sleep(60)"


def test_a_server_runs_in_its_own_session_and_stop_ends_it(tmp_path: Path) -> None:
    server = Process("server", tmp_path, f"--data-dir={tmp_path}")
    assert server.pid() is None
    server.start([sys.executable, "-c", PROGRAM, f"--data-dir={tmp_path}"])
    pid = server.pid()
    assert pid is not None
    assert os.getsid(pid) == pid
    server.stop()
    assert command_line(pid) == ""
    assert not server.pid_file.exists()


def test_another_process_that_got_the_recorded_id_is_left_alone(tmp_path: Path) -> None:
    bystander = Process("bystander", tmp_path, f"--data-dir={tmp_path}/other")
    bystander.start([sys.executable, "-c", PROGRAM, f"--data-dir={tmp_path}/other"])
    server = Process("server", tmp_path, f"--data-dir={tmp_path}/mine")
    server.pid_file.write_text(bystander.pid_file.read_text())
    assert server.pid() is None
    server.stop()
    assert bystander.pid() is not None
    assert not server.pid_file.exists()
    bystander.stop()


def test_stop_without_a_process_or_with_a_damaged_record_does_nothing(tmp_path: Path) -> None:
    server = Process("server", tmp_path, "marker")
    server.stop()
    server.pid_file.write_text("half")
    server.stop()
    assert not server.pid_file.exists()


def test_the_end_of_the_log_is_there_for_messages(tmp_path: Path) -> None:
    server = Process("server", tmp_path, "marker")
    assert server.tail() == "  (its log is empty)"
    server.log_file.write_text("".join(f"line {number}\n" for number in range(100)))
    assert server.tail().splitlines()[-1] == "  line 99"
    assert len(server.tail().splitlines()) == 15
