"""The wall clock only dates things: whatever it does, runs, their order and their timeouts stay right."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
# akm-run under a wall clock that leaps at every look: by argv[1] days each time
LEAPING = """
import sys, time
days = float(sys.argv.pop(1))
looks = 0
real, real_ns = time.time, time.time_ns
def leap():
    global looks
    looks += 1
    return looks * days * 86400
time.time = lambda: max(0.0, real() + leap())
time.time_ns = lambda: max(0, real_ns() + int(leap()) * 10**9)
from akm_run.cli import main
main()
"""


def leaping(run_program: Run, days: float, *words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
    return run_program(sys.executable, "-c", LEAPING, str(days), *words, expect=expect)


@pytest.fixture
def plan(tmp_path: Path, plans: PlanMaker) -> str:
    item = plans.unit(
        "sh", "-c", 'echo "$AKM_UNIT_ID" >> n.txt; test "$AKM_UNIT_ID" != "${AKM_UNIT_ID%~r1}"',
        retry={"max": 1, "on": ["non_zero_exit"]},
    )  # fmt: skip
    kid = plans.child(plans.data(plans.step("leaf", plans.unit("sh", "-c", "test -e ok"))), timeoutMs=60_000)
    data = plans.data(
        plans.step("m", item, over="params.l"),
        plans.step("kid", kid),
        params={"l": {"type": "array", "default": [1, 2, 3]}},
    )
    (tmp_path / "plan.json").write_bytes(data)
    return "plan.json"


@pytest.mark.parametrize("days", [-400.0, 400.0])
def test_a_run_under_a_leaping_clock(run_program: Run, tmp_path: Path, plan: str, days: float) -> None:
    first = json.loads(leaping(run_program, days, plan, "--json", "--timeout", "60s", expect=1).stdout)
    run_id = first["runId"]
    assert (first["status"], first["steps"][0]["status"]) == ("failed", "completed")
    (tmp_path / "ok").touch()
    status = json.loads(run_program("akm-run", "status", run_id, "--json").stdout)
    (child,) = status["children"]
    for words in (["resume", child["runId"]], ["resume", run_id]):
        leaping(run_program, -days, *words)
    last = json.loads(leaping(run_program, days * 9, run_id, "--json").stdout)
    assert last["status"] == "completed"
    assert len((tmp_path / "n.txt").read_text().split()) == 6, "nothing ran again"
    events = [json.loads(line) for line in run_program("akm-run", "events", run_id).stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert [events[0]["type"], events[-1]["type"]] == ["run.published", "run.settled"]
    times = [event["at"] for event in events]
    assert times != sorted(times), "the order is that of seq, not of the dates"
    for words in (
        ["status", run_id, "--units"],
        ["list"],
        ["report", run_id, "-o", "r.html"],
        ["why", run_id, "kid:solo"],
    ):
        run_program("akm-run", *words)


def test_prune_under_a_clock_that_went_back(run_program: Run, plan: str) -> None:
    run_id = json.loads(leaping(run_program, 40.0, plan, "--json", expect=1).stdout)["runId"]
    assert json.loads(run_program("akm-run", "prune", "--older-than", "0s", "--json").stdout)["pruned"] == []
    assert json.loads(run_program("akm-run", "status", run_id, "--json").stdout)["status"] == "failed"


def test_a_timeout_counts_the_time_that_passed(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", plans.unit("sleep", "60"))))
    for days in (-1.0, 1.0):
        began = time.monotonic()
        done = leaping(run_program, days, "plan.json", "--json", "--timeout", "1s", expect=1)
        assert 1.0 <= time.monotonic() - began < 50
        assert json.loads(done.stdout)["status"] == "active"


def test_a_lock_that_names_a_reused_process_id_blocks_nobody(run_program: Run, tmp_path: Path, plan: str) -> None:
    run_id = json.loads(run_program("akm-run", plan, "--json", "--max-steps", "1").stdout)["runId"]
    lock = tmp_path / ".akm" / "state.db.locks" / f"{run_id}.lock"
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        holder = {"pid": sleeper.pid, "host": os.uname().nodename, "startedAt": "2099-01-01T00:00:00.000Z"}
        lock.write_text(json.dumps(holder))
        (tmp_path / "ok").touch()
        assert json.loads(run_program("akm-run", run_id, "--json").stdout)["status"] == "completed"
        assert not lock.exists()
    finally:
        sleeper.send_signal(signal.SIGKILL)
        sleeper.wait()
