"""One driver per run: the lease, with real processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from akm_run.faults import BusyFault
from akm_run.lease import acquire, lock_path

HOLD = """
import sys
from pathlib import Path
from akm_run.lease import acquire
acquire(Path(sys.argv[1]), "r1")
print("held", flush=True)
sys.stdin.read()
"""


def holder(state: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def close(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.close()
    process.wait()
    process.stdout.close()


def test_a_second_driver_is_told_who_has_the_run(tmp_path: Path) -> None:
    process = holder(tmp_path / "state.db")
    with pytest.raises(BusyFault) as busy:
        acquire(tmp_path / "state.db", "r1")
    assert f"process {process.pid} on {socket.gethostname()} since 2" in str(busy.value)
    assert busy.value.run_id == "r1"
    acquire(tmp_path / "state.db", "r2").release()
    close(process)
    acquire(tmp_path / "state.db", "r1").release()


def test_a_kill_frees_the_run_at_once(tmp_path: Path) -> None:
    process = holder(tmp_path / "state.db")
    os.kill(process.pid, signal.SIGKILL)
    close(process)
    lease = acquire(tmp_path / "state.db", "r1")  # the dead holder's file is still there, and nobody deletes it
    assert f'"pid":{os.getpid()}' in lease.path.read_text()
    lease.release()


def test_release_leaves_nothing_behind(tmp_path: Path) -> None:
    acquire(tmp_path / "state.db", "r1").release()
    assert list(lock_path(tmp_path / "state.db", "r1").parent.iterdir()) == []


def test_a_file_that_was_replaced_does_not_count_as_locked(tmp_path: Path) -> None:
    first = acquire(tmp_path / "state.db", "r1")
    first.release()
    second = acquire(tmp_path / "state.db", "r1")
    with pytest.raises(BusyFault):
        acquire(tmp_path / "state.db", "r1")
    second.release()


def test_the_content_of_the_file_never_blocks(tmp_path: Path) -> None:
    path = lock_path(tmp_path / "state.db", "r1")
    path.parent.mkdir()
    path.write_text("left by something else, longer than any holder would ever be " * 9)
    lease = acquire(tmp_path / "state.db", "r1")
    assert path.read_text().startswith("{") and path.read_text().endswith("}")
    lease.release()
