"""State files with rows that no version of akm-run wrote: what is odd is said of the file that holds it."""

from __future__ import annotations

import re
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from akm_run.journal.soundness import fault_in

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def state(tmp_path: Path, run_program: Run, plans: PlanMaker) -> Path:
    """The state file of one completed run."""
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", plans.unit("echo", "hello"))))
    run_program("akm-run", "plan.json")
    return tmp_path / ".akm" / "state.db"


def changed(state: Path, statement: str) -> None:
    with closing(sqlite3.connect(state)) as raw:
        raw.execute(statement)
        raw.commit()


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        (
            "UPDATE runs SET status = 'owned'",
            'table "runs", row "RUN", column "status": the value is not one of active, blocked, completed, failed',
        ),
        ("UPDATE steps SET status = 'owned'", 'table "steps", row "RUN" 0, column "status": the value is not one of'),
        (
            "UPDATE units SET status = 'owned'",
            'table "units", row "RUN" "a:solo", column "status": the value is not one of completed, failed, running',
        ),
        (
            "UPDATE runs SET created_at = 'never'",
            'table "runs", row "RUN", column "created_at": the value is not a UTC',
        ),
        ("UPDATE runs SET ref = x'ff'", 'table "runs", row "RUN", column "ref": the value is not text'),
        ("UPDATE runs SET ref = CAST(x'ff' AS TEXT)", 'table "runs", row "RUN", column "ref": the value is not text'),
        (
            "UPDATE steps SET step = 999",
            'table "steps", row "RUN", column "step": a step stands at a place that its run',
        ),
        ("UPDATE runs SET params = x'ff'", 'table "runs", row "RUN", column "params": the value is not a JSON object'),
        (
            "UPDATE runs SET width = 'abc'",
            'table "runs", row "RUN", column "width": the value is not a whole number from 1',
        ),
        (
            "UPDATE units SET result = x'ff'",
            'table "units", row "RUN" "a:solo", column "result": the value is not JSON',
        ),
        (
            "UPDATE units SET started_at = 'x'",
            'table "units", row "RUN" "a:solo", column "started_at": the value is not',
        ),
        (
            "UPDATE runs SET parent_run = run_id",
            'table "runs", row "RUN", column "parent_run": a run is its own parent',
        ),
        ("DELETE FROM runs", 'table "events": a row refers to one of "runs" that is not there'),
    ],
)
def test_what_is_odd_is_found(state: Path, statement: str, fault: str) -> None:
    assert fault_in(state) is None
    changed(state, statement)
    before = state.read_bytes()
    found = re.sub(r"\d{8}-\d{6}-[0-9a-f]{8}", "RUN", fault_in(state) or "")
    assert found.startswith(fault)
    assert state.read_bytes() == before


def test_a_file_that_is_not_there_or_no_database_is_at_fault(tmp_path: Path) -> None:
    assert fault_in(tmp_path / "none.db") is not None
    (tmp_path / "text.db").write_text("no database at all\n" * 100)
    assert fault_in(tmp_path / "text.db") == "file is not a database"


def test_commands_name_the_odd_file_and_say_what_to_do(state: Path, run_program: Run, tmp_path: Path) -> None:
    changed(state, "UPDATE runs SET ref = x'ff'")
    for words in (("list",), ("list", "--all-scopes")):
        done = run_program("akm-run", *words, expect=2)
        assert f'akm-run: the state file "{state}" is damaged: table "runs", row "' in done.stderr, words
        assert 'column "ref": the value is not text' in done.stderr, words
        assert "  help: put a copy back" in done.stderr
    assert not list(tmp_path.rglob("*crash*"))
