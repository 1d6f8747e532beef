"""Signals at every moment: the command ends in order, and the run goes on afterwards."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from akm_run.interrupts import Interrupts

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def start(tmp_path: Path, *words: str, **more: Any) -> subprocess.Popen[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / ".home"), "XDG_CONFIG_HOME": str(tmp_path / ".home")}
    argv = [sys.executable, "-m", "akm_run", *words]
    return subprocess.Popen(
        argv, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    )


def test_handlers_raise_then_hold_then_tell_the_driver() -> None:
    told: list[int] = []
    before = signal.getsignal(signal.SIGTERM)
    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        interrupts.hold()
        signal.raise_signal(signal.SIGINT)
        interrupts.hand_to(told.append)
        signal.raise_signal(signal.SIGTERM)
    assert told == [signal.SIGINT, signal.SIGTERM]
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_ignored_hangup_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            interrupts.hold()
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_after_the_document_changes_nothing(tmp_path: Path, plans: PlanMaker, number: int) -> None:
    """It comes when the run is printed and the process has not ended yet."""
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a")))
    late = (
        "import os, sys; from akm_run import cli; last = cli.flush_out\n"
        f"cli.flush_out = lambda: (os.kill(os.getpid(), {int(number)}), last())\n"
        "sys.argv = ['akm-run', 'plan.json', '--json']; cli.main()"
    )
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / ".home")}
    done = subprocess.run([sys.executable, "-c", late], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "completed"), done.stderr


def test_a_signal_at_any_moment(tmp_path: Path, plans: PlanMaker, run_program: Run) -> None:
    """Sixteen of them, from the first instructions to the last: no traceback, a document once there is a run."""
    chance = random.Random(7)
    leaf = plans.data(plans.step("deep", plans.unit("sh", "-c", "sleep 0.05; echo x")))
    data = plans.data(
        plans.step("m", plans.unit("sh", "-c", "sleep 0.02; echo x"), over="params.l"),
        plans.step("kid", plans.child(leaf)),
        params={"l": {"type": "array", "default": [1, 2, 3, 4, 5, 6]}},
    )
    (tmp_path / "plan.json").write_bytes(data)
    codes = []
    for turn in range(16):
        process = start(tmp_path, "plan.json", "--json", "--host-concurrency", "2")
        time.sleep(chance.random())
        process.send_signal((signal.SIGTERM, signal.SIGINT, signal.SIGHUP)[turn % 3])
        text, errors = process.communicate(timeout=30)
        codes.append(process.returncode)
        if text:
            assert process.returncode in (0, 130) and errors == ""
            assert json.loads(text)["status"] == ("completed" if process.returncode == 0 else "active")
        else:  # Python itself was still starting, or nothing was published yet
            assert process.returncode in (130, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, 1)
    assert 130 in codes
    if not (tmp_path / ".akm").exists():
        return
    runs = json.loads(run_program("akm-run", "list", "--json").stdout)["runs"]
    for run in runs:
        done = json.loads(run_program("akm-run", run["runId"], "--json").stdout)
        assert done["status"] == "completed"
    assert list((tmp_path / ".akm" / "state.db.locks").iterdir()) == []
    raw = sqlite3.connect(tmp_path / ".akm" / "state.db")
    assert raw.execute("SELECT count(*) FROM units WHERE status = 'running'").fetchone() == (0,)
    raw.close()


def test_a_closed_terminal_ends_the_units_too(tmp_path: Path, plans: PlanMaker) -> None:
    data = plans.data(plans.step("a", plans.unit("sh", "-c", "echo $$ > pid; exec sleep 60")))
    (tmp_path / "plan.json").write_bytes(data)
    process = start(tmp_path, "plan.json", "--json")
    end = time.monotonic() + 30
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGHUP)
    text, _ = process.communicate(timeout=30)
    assert (process.returncode, json.loads(text)["status"]) == (130, "active")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_signal_that_a_worker_thread_is_given_is_heeded(tmp_path: Path, plans: PlanMaker) -> None:
    """The main thread blocks the signal, so the kernel gives it to a thread; as systems do that pick any thread."""
    data = plans.data(plans.step("a", plans.unit("sh", "-c", ": > started; sleep 60")))
    (tmp_path / "plan.json").write_bytes(data)
    code = (
        "import signal, sys; from akm_run import executor; plain = executor.LocalExecutor.submit\n"
        "def submit(*words):\n"
        "    plain(*words); signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
        "executor.LocalExecutor.submit = submit\n"
        "from akm_run.cli import run; sys.exit(run(['plan.json', '--json']))"
    )
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 30
    while not (tmp_path / "started").exists():
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    text, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, "")
    assert json.loads(text)["status"] == "active"


def test_units_are_born_without_blocked_signals(tmp_path: Path, plans: PlanMaker, run_program: Run) -> None:
    """A mask that a thread has set would be inherited, and a unit could then not be ended by SIGTERM."""
    assert threading.current_thread() is threading.main_thread()
    script = "grep SigBlk /proc/self/status"
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", plans.unit("sh", "-c", script))))
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc")
    done = json.loads(run_program("akm-run", "plan.json", "--json").stdout)
    assert done["steps"][0]["output"].split() == ["SigBlk:", "0000000000000000"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_libraries_are_imported(tmp_path: Path, number: signal.Signals) -> None:
    """Before any command knows of it; ``-X importtime`` tells the moment."""
    argv = [sys.executable, "-X", "importtime", "-m", "akm_run", "list"]
    started = subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert started.stderr is not None
    seen = next((line for line in started.stderr if "click" in line), None)
    started.send_signal(number)
    out, rest = started.communicate(timeout=60)
    assert seen is not None
    assert (started.returncode, out) == (130, "")
    assert "Traceback" not in rest
