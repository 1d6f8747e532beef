"""Where ``export`` and ``report`` write to: files are replaced, devices, pipes and links stay what they are."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from akm_run.faults import UsageFault
from akm_run.output_file import replaced

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
COMMANDS = ("export", "report")
BEGINS = {"export": b"SQLite format 3\0", "report": b"<!DOCTYPE html>"}


@pytest.fixture
def run_id(run_program: Run, tmp_path: Path, plans: PlanMaker) -> str:
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", plans.unit("echo", "hi"))))
    return str(json.loads(run_program("akm-run", "plan.json", "--json").stdout)["runId"])


def device(path: Path, minor: int) -> Path:
    """A character device of our own like ``/dev/null`` (3) or ``/dev/full`` (7)."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        path.open("wb").close()
    except PermissionError:
        pytest.skip("only root can make device nodes, and only where the file system has them")
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_device_stays_one(run_program: Run, tmp_path: Path, run_id: str, command: str) -> None:
    sink = device(tmp_path / "sink", 3)
    run_program("akm-run", command, run_id, "-o", "sink")
    assert stat.S_ISCHR(sink.lstat().st_mode)
    assert sink.read_bytes() == b""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_device_that_is_full_is_said_once(run_program: Run, tmp_path: Path, run_id: str, command: str) -> None:
    sink = device(tmp_path / "sink", 7)
    done = run_program("akm-run", command, run_id, "-o", "sink", expect=2)
    assert done.stderr == 'akm-run: cannot write "sink": No space left on device\n'
    assert stat.S_ISCHR(sink.lstat().st_mode)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_is_written_to(run_program: Run, tmp_path: Path, run_id: str, command: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    run_program("akm-run", command, run_id, "-o", "pipe")
    reader.join(60)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert found[0].startswith(BEGINS[command]) and len(found[0]) > 10_000


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_open_already_is_written_to(run_program: Run, run_id: str, command: str) -> None:
    akm_run = f"{sys.executable} -m akm_run"
    done = run_program("bash", "-c", f"{akm_run} {command} {run_id} -o >(cat >piped); wait $!; wc -c <piped")
    assert int(done.stdout) > 10_000
    quiet = run_program("bash", "-c", f"{akm_run} {command} {run_id} -o >(head -c 1 >one)")
    assert quiet.stderr.startswith("wrote ")
    redirected = run_program("bash", "-c", f"{akm_run} {command} {run_id} -o /dev/stdout >to.out; wc -c <to.out")
    assert int(redirected.stdout) > 10_000


@pytest.mark.parametrize("command", COMMANDS)
def test_a_link_stays_and_what_it_names_is_replaced(
    run_program: Run, tmp_path: Path, run_id: str, command: str
) -> None:
    (tmp_path / "link").symlink_to("named")
    for old in (None, b"old"):
        if old is not None:
            (tmp_path / "named").write_bytes(old)
        run_program("akm-run", command, run_id, "-o", "link")
        assert (tmp_path / "link").readlink() == Path("named")
        assert (tmp_path / "named").read_bytes().startswith(BEGINS[command])
        assert stat.S_IMODE((tmp_path / "named").stat().st_mode) == 0o600
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".link", ".named"))]


@pytest.mark.parametrize("name", ["state.db", "state.db-wal", "state.db-shm"])
def test_the_state_file_and_its_companions_are_kept(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"state")
    (tmp_path / "link").symlink_to(name)
    for target in (name, "link"):
        with (
            pytest.raises(UsageFault, match="is the state file itself"),
            replaced(tmp_path / target, tmp_path / "state.db"),
        ):
            raise AssertionError("nothing is written")
    assert (tmp_path / name).read_bytes() == b"state"


def test_a_file_is_kept_when_the_new_one_fails(tmp_path: Path) -> None:
    target = tmp_path / "page"
    target.write_bytes(b"old")
    with pytest.raises(RuntimeError), replaced(target, tmp_path / "state.db") as fresh:
        fresh.write_bytes(b"half")
        raise RuntimeError
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["page"]
