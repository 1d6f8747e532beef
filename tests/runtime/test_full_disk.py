"""A disk without room: what runs were can still be looked at, all that is lost is named, and no output is cut silently."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if os.name != "posix":
    pytest.skip("the size of files is limited by ulimit, which POSIX shells have", allow_module_level=True)

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
STATE = Path(".akm", "state.db")
LOOKS = (
    "status {}", "list", "events {}", "output {}", "logs {}", "why {} a:solo", "why {} a:solo --against {}", "{}",
    "plan.json --dry-run --reuse {}",
)  # fmt: skip
CHANGES = ("plan.json", "plan.json --reuse {}", "prune --older-than 0s --all")
# leaves what it writes in the -wal, as a driver that is killed; the shared memory is given up, as after a restart
KILLED = """
import os, sqlite3, sys
state = sqlite3.connect(sys.argv[1], isolation_level=None)
state.execute("PRAGMA wal_autocheckpoint=0")
state.execute("UPDATE steps SET summary = 'in the -wal alone'")
os.unlink(sys.argv[1] + "-shm")
os._exit(0)
"""


def document(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def without_room(run_program: Run, words: str, expect: int = 0, **more: Any) -> subprocess.CompletedProcess[str]:
    """akm-run where no file may be longer than 512 bytes, or 1024 as some shells count.

    Python is kept from caching modules there (-B), for some versions leave them cut short.
    """
    return run_program("sh", "-c", f"ulimit -f 1; exec {sys.executable} -B -m akm_run {words}", expect=expect, **more)


@pytest.fixture
def run_id(tmp_path: Path, run_program: Run, plans: PlanMaker) -> str:
    """A run that has completed, with results and events of some kilobytes."""
    large = plans.unit("sh", "-c", "head -c 5000 /dev/zero | tr '\\0' x")
    steps = (plans.step("a", large), *(plans.step(f"s{index}") for index in range(9)))
    (tmp_path / "plan.json").write_bytes(plans.data(*steps, outputs={"a": "steps.a.output"}))
    return str(document(run_program("akm-run", "plan.json", "--json"))["runId"])


@pytest.mark.parametrize("killed", [False, True])
def test_runs_can_be_looked_at(run_program: Run, tmp_path: Path, run_id: str, killed: bool) -> None:
    if killed:
        run_program(sys.executable, "-c", KILLED, str(STATE))
        assert (tmp_path / ".akm" / "state.db-wal").stat().st_size > 0
    for words in LOOKS:
        looked = without_room(run_program, words.format(run_id, run_id))
        assert looked.stdout and looked.stderr == ""
    found = document(without_room(run_program, f"status {run_id} --json"))
    assert (found["steps"][0].get("summary") == "in the -wal alone") is killed
    for words in CHANGES:
        refused = without_room(run_program, words.format(run_id), expect=2)
        assert "state.db" in refused.stderr and "help: free space" in refused.stderr
    assert [run["runId"] for run in document(run_program("akm-run", "list", "--json"))["runs"]] == [run_id]
    assert document(run_program("akm-run", "status", run_id, "--json")) == found


def test_a_reader_is_not_locked_out_by_another(run_program: Run, tmp_path: Path, run_id: str) -> None:
    with closing(sqlite3.connect(tmp_path / STATE, isolation_level=None)) as other:
        other.execute("SELECT count(*) FROM runs").fetchall()  # the shared memory is there now
        assert run_id in without_room(run_program, "list").stdout


def test_a_copy_that_has_no_room_promises_nothing_of_runs(run_program: Run, run_id: str) -> None:
    refused = without_room(run_program, f"export {run_id} -o copy.akmrun", expect=2)
    assert refused.stderr.endswith("  help: free space, or look at the disk\n")


def test_events_and_recordings_that_are_lost_are_all_named(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", plans.ask()), plans.step("b")))
    said = [
        'akm-run: cannot write --events "/dev/full": No space left on device',
        'akm-run: cannot write --record "/dev/full": No space left on device',
    ]
    both = "plan.json --events /dev/full --record /dev/full"
    done = run_program("akm-run", *both.split(), "--json", expect=1)
    assert [line for line in done.stderr.splitlines() if "cannot" in line] == said
    assert document(done)["status"] == "completed"
    unprinted = run_program("sh", "-c", f"{sys.executable} -m akm_run {both} > /dev/full", expect=1).stderr.splitlines()
    stdout = "akm-run: cannot write to standard output: No space left on device"
    assert [line for line in unprinted if "cannot" in line] == [*said, stdout]
    (tmp_path / ".akm" / "state.db").unlink()
    unit = plans.unit("sh", "-c", "rm -r .akm")
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", plans.ask()), plans.step("b", unit)))
    ended = run_program("akm-run", *both.split(), expect=2).stderr.splitlines()
    assert [line for line in ended if "cannot" in line] == said
    assert any("state.db" in line and "was removed" in line for line in ended)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["output {}", "status {} --json", "events {}", "logs {}", "report {} -o -"])
def test_no_output_is_cut_silently(run_program: Run, tmp_path: Path, run_id: str, words: str, unbuffered: str) -> None:
    named = words.format(run_id)
    env = {"PYTHONUNBUFFERED": unbuffered}
    cut = without_room(run_program, f"{named} > out", expect=1, env=env)
    assert cut.stderr == "akm-run: cannot write to standard output: File too large\n"
    assert (tmp_path / "out").stat().st_size in (512, 1024)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_pipe_that_takes_nothing_for_a_while_gets_everything(
    run_program: Run, tmp_path: Path, run_id: str, unbuffered: str
) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    filled = 0
    while True:  # nothing more fits
        try:
            filled += os.write(writing, b"x" * 4096)
        except BlockingIOError:
            break
    argv = [sys.executable, "-m", "akm_run", "export", run_id, "-o", "-"]
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(argv, stdout=writing, stderr=subprocess.PIPE, env=env, cwd=tmp_path) as process:
        os.close(writing)
        time.sleep(0.5)  # by then it has met the full pipe; where it has not, the test proves less and does not fail
        with os.fdopen(reading, "rb") as pipe:
            found = pipe.read()
        assert process.stderr is not None and process.stderr.read() == b""
    assert process.returncode == 0
    (tmp_path / "copy.akmrun").write_bytes(found[filled:])
    assert run_program("akm-run", "import", "copy.akmrun", "--db", "other.db").stdout == f"{run_id}\n"
