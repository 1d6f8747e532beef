"""Following a run that nobody drives: both followers wait, and say so once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.parametrize("command", ["logs", "events"])
def test_a_follower_of_an_undriven_run_says_so_and_waits(
    run_program: Run, tmp_path: Path, plans: PlanMaker, command: str
) -> None:
    data = plans.data(plans.step("a", plans.unit("echo", "one")), plans.step("b", plans.unit("echo", "two")))
    (tmp_path / "plan.json").write_bytes(data)
    run_id = json.loads(run_program("akm-run", "plan.json", "--max-steps", "1", "--json").stdout)["runId"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "AKM_CONFIG_DIR": str(tmp_path / "config")}
    argv = [sys.executable, "-m", "akm_run", command, run_id, "--follow"]
    follower = subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert follower.stderr is not None
    told = follower.stderr.readline()
    assert f"nobody drives run {run_id}: waiting; akm-run {run_id} goes on with it" in told
    assert follower.poll() is None
    run_program("akm-run", run_id)
    out, rest = follower.communicate(timeout=60)
    assert follower.returncode == 0 and "nobody drives" not in rest
    assert ("two" if command == "logs" else '"run.settled"') in out
