"""Following a run that nobody drives: both followers say so once; events are waited for, output is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_a_follower_of_events_says_that_nobody_drives_and_waits(
    run_program: Run, tmp_path: Path, plans: PlanMaker
) -> None:
    run_id = _stopped(run_program, tmp_path, plans)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "AKM_CONFIG_DIR": str(tmp_path / "config")}
    argv = [sys.executable, "-m", "akm_run", "events", run_id, "--follow"]
    follower = subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert follower.stderr is not None
    told = follower.stderr.readline()
    assert f"nobody drives run {run_id}: waiting, Ctrl-C ends that; akm-run {run_id} goes on with it" in told
    assert follower.poll() is None
    run_program("akm-run", run_id)
    out, rest = follower.communicate(timeout=60)
    assert follower.returncode == 0 and "nobody drives" not in rest
    assert '"run.settled"' in out


def test_a_follower_of_output_says_that_nobody_drives_and_ends(
    run_program: Run, tmp_path: Path, plans: PlanMaker
) -> None:
    run_id = _stopped(run_program, tmp_path, plans)
    done = run_program("akm-run", "logs", run_id, "--follow")
    assert done.stdout == "==> a:solo <==\none\n"
    assert f"nobody drives run {run_id}: no unit prints anything; akm-run {run_id} goes on with it" in done.stderr


def _stopped(run_program: Run, tmp_path: Path, plans: PlanMaker) -> str:
    """The id of a run that stands still after the first of its two steps."""
    data = plans.data(plans.step("a", plans.unit("echo", "one")), plans.step("b", plans.unit("echo", "two")))
    (tmp_path / "plan.json").write_bytes(data)
    run_id: str = json.loads(run_program("akm-run", "plan.json", "--max-steps", "1", "--json").stdout)["runId"]
    return run_id
