"""What a killed driver leaves of a script: collected by the next driver of the run and by prune, never from one at work."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from akm_run.dispatch.script_file import collect_scripts, script_file

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SCRIPT = b"echo $$ > pid.part && mv pid.part pid\nwhile [ ! -e go ]; do sleep 0.02; done\necho done\n"


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


@pytest.fixture(autouse=True)
def plan(tmp_path: Path, plans: PlanMaker) -> None:
    """A script that waits for a file ``go``."""
    target = {
        "kind": "script",
        "ref": "scripts/wait.sh",
        "interpreter": ["sh"],
        "extension": ".sh",
        "bytesBase64": base64.b64encode(SCRIPT).decode(),
        "byteLength": len(SCRIPT),
        "inputBindings": [],
    }
    unit = plans._unit(target, None, "fail", {})
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", unit)))


@contextmanager
def driver(tmp_path: Path, temporary: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A driver whose script is at work."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / ".home"), "TMPDIR": str(temporary)}
    argv = [sys.executable, "-m", "akm_run", "plan.json"]
    process = subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while not (tmp_path / "pid").exists():
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.wait()
        (tmp_path / "go").touch()
        with suppress(ProcessLookupError):
            os.killpg(int((tmp_path / "pid").read_text()), signal.SIGKILL)  # units outlive a killed driver


def left(temporary: Path) -> list[str]:
    return [path.name for path in temporary.iterdir()]


def pruned(run_program: Run, temporary: Path, *words: str) -> Any:
    done = run_program("akm-run", "prune", "--older-than", "1d", "--json", *words, env={"TMPDIR": str(temporary)})
    return json.loads(done.stdout)["scripts"]


def test_the_next_driver_of_the_run_collects(run_program: Run, tmp_path: Path, temporary: Path) -> None:
    with driver(tmp_path, temporary):
        (folder,) = left(temporary)
    assert left(temporary) == [folder]
    (row,) = json.loads(run_program("akm-run", "list", "--json").stdout)["runs"]
    assert folder.startswith(f"akm-script-{row['runId']}-")
    run_program("akm-run", row["runId"], env={"TMPDIR": str(temporary)})
    assert left(temporary) == []


def test_prune_collects_what_is_nobodys_only(run_program: Run, tmp_path: Path, temporary: Path) -> None:
    with driver(tmp_path, temporary):
        (folder,) = left(temporary)
        assert pruned(run_program, temporary) == []
        assert left(temporary) == [folder]
    assert pruned(run_program, temporary, "--dry-run") == [str(temporary / folder)]
    assert left(temporary) == [folder]
    assert pruned(run_program, temporary) == [str(temporary / folder)]
    assert left(temporary) == []


def test_only_folders_of_the_run_are_looked_at(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    (temporary / "kept").mkdir()
    for name in ("akm-script-r1-abcdefgh", "akm-script-r1-x-abcdefgh"):
        (temporary / name).mkdir()
    (temporary / "akm-script-r1-linkname").symlink_to("kept")
    (temporary / "akm-script-r1-filename").touch()
    with script_file("r1", "script.sh", b"echo") as path:
        assert path.read_bytes() == b"echo"
        assert collect_scripts("r1") == [temporary / "akm-script-r1-abcdefgh"]
        assert path.exists()
    assert not path.parent.exists()
    assert sorted(left(temporary)) == [
        "akm-script-r1-filename",
        "akm-script-r1-linkname",
        "akm-script-r1-x-abcdefgh",
        "kept",
    ]
