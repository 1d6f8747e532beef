"""Standard streams that are closed or full, and what else is printed on stdout."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
FULL = "akm-run: cannot write to standard output: No space left on device\n"


@pytest.fixture
def plan(tmp_path: Path, plans: PlanMaker) -> str:
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", plans.unit("echo", "hi"))))
    return "plan.json"


def statuses(run_program: Run) -> list[str]:
    return [run["status"] for run in json.loads(run_program("akm-run", "list", "--json").stdout)["runs"]]


def through_shell(run_program: Run, words: str, expect: int) -> subprocess.CompletedProcess[str]:
    return run_program("sh", "-c", f"{shlex.quote(sys.executable)} -m akm_run {words}", expect=expect)


@pytest.mark.parametrize("words", ["plan.json", "plan.json --json", "list", "list --json", "--help", "list --help"])
def test_closed_streams_are_quiet(run_program: Run, plan: str, words: str) -> None:
    assert plan
    for closing in (">&-", ">&- 2>&-", ">&- 2>&- <&-"):
        done = through_shell(run_program, f"{words} {closing}", 0)
        assert done.stdout == ""
        assert done.stderr in ("", "a: completed\n")
    assert statuses(run_program) == (["completed"] * 3 if words.startswith("plan") else [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "words",
    ["plan.json", "plan.json --json", "plan.json --events -", "list", "--help", "--version", "plan.json --help"],
)
def test_a_full_stdout_is_said(run_program: Run, plan: str, words: str) -> None:
    assert plan
    done = through_shell(run_program, f"{words} >/dev/full", 1)
    assert done.stderr.endswith(FULL)
    assert done.stderr.count(FULL) == 1
    ran = words.startswith("plan") and "--help" not in words
    assert statuses(run_program) == (["completed"] if ran else [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_stderr_changes_nothing(run_program: Run, plan: str) -> None:
    assert "completed" in through_shell(run_program, f"{plan} 2>/dev/full", 0).stdout


def test_a_closed_stdin_is_an_empty_plan(run_program: Run) -> None:
    assert "the text is empty" in through_shell(run_program, "- <&-", 2).stderr


def test_events_on_stdout(run_program: Run, tmp_path: Path, plan: str) -> None:
    done = run_program("akm-run", plan, "--events", "-")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "run.settled"
    assert "units dispatched: 1" in done.stderr
    assert not (tmp_path / "-").exists()
    refused = run_program("akm-run", plan, "--events", "-", "--json", expect=2)
    assert "--json and --events - exclude each other" in refused.stderr
    assert len(statuses(run_program)) == 1


def test_an_export_on_stdout(run_program: Run, tmp_path: Path, plan: str) -> None:
    run_id = json.loads(run_program("akm-run", plan, "--json").stdout)["runId"]
    through_shell(run_program, f"export {run_id} -o - > run.akmrun", 0)
    assert not (tmp_path / "-").exists()
    assert run_program("akm-run", "import", "run.akmrun", "--db", "other.db").stdout == f"{run_id}\n"


@pytest.mark.parametrize(
    "words", [["plan.json"], ["plan.json", "--json"], ["list"], ["--help"], ["--version"], ["list", "--help"]]
)
def test_a_reader_that_has_gone_is_no_failure(tmp_path: Path, plan: str, words: list[str]) -> None:
    assert plan
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "akm_run", *words]
    with os.fdopen(writer) as stdout:
        done = subprocess.run(command, cwd=tmp_path, stdout=stdout, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr.removesuffix("a: completed\n")) == (0, "")
