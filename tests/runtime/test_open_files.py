"""Many units at once under a low limit of open files: it is raised where it may be, and named where it may not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

if os.name != "posix":
    pytest.skip("a process has a limit of open files that it may raise on POSIX systems", allow_module_level=True)

Run = Callable[..., "subprocess.CompletedProcess[str]"]
UNITS = 40
WAITS_FOR_ALL = f"touch here/$$; until [ $(ls here | wc -l) -ge {UNITS} ]; do sleep 0.05; done"
SOURCE = f"""---
params: {{rows: {{type: array}}}}
steps:
  - id: m
    map:
      over: params.rows
      concurrency: {UNITS}
      unit: {{exec: {{command: [sh, -c, 'COMMAND']}}}}
---
## m

Runs beside all others.
"""


@pytest.fixture
def wide(tmp_path: Path, run_program: Run) -> Callable[[str, str], subprocess.CompletedProcess[str]]:
    """Runs a map of ``UNITS`` units of a shell command, all at once, under a limit of open files."""

    def run(limit: str, command: str) -> subprocess.CompletedProcess[str]:
        for folder in ("workflows", "here"):
            (tmp_path / folder).mkdir()
        (tmp_path / "workflows" / "m.md").write_text(SOURCE.replace("COMMAND", command))
        (tmp_path / "c.json").write_text(json.dumps({"workflow": {"maxConcurrency": UNITS}}))
        (tmp_path / "p.json").write_text(json.dumps({"rows": list(range(UNITS))}))
        run_program("akmc", "compile", "--config", "c.json", "workflows/m.md", "-o", "m.json")
        program = f"{sys.executable} -m akm_run m.json --params-file p.json --host-concurrency {UNITS} --json"
        return run_program("bash", "-c", f"ulimit {limit}; {program}", expect=None)

    return run


def test_a_limit_that_may_be_raised_is(wide: Callable[[str, str], subprocess.CompletedProcess[str]]) -> None:
    done = wide("-S -n 64", WAITS_FOR_ALL)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "completed"


def test_one_that_may_not_is_named(wide: Callable[[str, str], subprocess.CompletedProcess[str]]) -> None:
    done = wide("-n 64", "sleep 2")
    assert done.returncode == 1
    step = json.loads(done.stdout)["steps"][0]
    assert step["failureReason"] == "spawn_failed"
    assert "too many open files: raise ulimit -n, or give a lower --host-concurrency" in step["summary"]


def test_hardly_any_files_are_no_bug(
    wide: Callable[[str, str], subprocess.CompletedProcess[str]], run_program: Run
) -> None:
    said = {}
    assert wide("-n 7", "true").returncode == 2
    for limit in (8, 9):
        command = f"ulimit -n {limit}; {sys.executable} -m akm_run m.json --params-file p.json --db {limit}.db"
        said[limit] = run_program("bash", "-c", command, expect=2).stderr
    assert all("oo many" in text for text in said.values()), said
