"""State files with rows that no version of akm-run wrote: what is odd is said of the file that holds it."""

from __future__ import annotations

import errno
import json
import re
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from akm_run import cli
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


@pytest.mark.parametrize("tokens", [2**63 - 1, 2**53 + 1, -5, 1.5, "'many'", "x'ff'"])
def test_a_run_with_odd_counts_of_tokens_can_be_looked_at(
    tmp_path: Path, run_program: Run, plans: PlanMaker, tokens: object
) -> None:
    waits = plans.step("z", plans.unit("test", "-e", "ok"))
    steps = [plans.step(name, plans.unit("echo", name)) for name in "abc"]
    (tmp_path / "plan.json").write_bytes(plans.data(*steps, waits, budget={"maxTokens": 9}))
    run_id = json.loads(run_program("akm-run", "plan.json", "--json", expect=1).stdout)["runId"]
    changed(tmp_path / ".akm" / "state.db", f"UPDATE units SET tokens = {tokens}")
    shown = json.loads(run_program("akm-run", "status", run_id, "--units", "--json").stdout)
    assert shown["tokensUsed"] == 0
    assert "tokens used: 0" in run_program("akm-run", "status", run_id, "--units").stdout
    run_program("akm-run", "report", run_id, "-o", "r.html")
    (tmp_path / "ok").touch()
    run_program("akm-run", "resume", run_id)
    assert "tokens used: 0" in run_program("akm-run", run_id).stdout
    assert "tokens used: 0" in run_program("akm-run", run_id).stdout


def test_counts_that_are_too_large_together_are_shown_as_the_most_there_is(
    state: Path, run_program: Run, tmp_path: Path
) -> None:
    copy = (
        "INSERT INTO units (run_id, unit_id, step, key, role, attempt, loop, cause, input_hash, spawns, status, tokens,"
    )
    copy += " started_at) WITH RECURSIVE n (i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 2100)"
    copy += " SELECT run_id, unit_id || i, step, key, role, attempt, loop, cause, input_hash, 1, status, 1 << 53,"
    changed(state, f"{copy} started_at FROM units, n")
    (run_id,) = json.loads(run_program("akm-run", "list", "--json").stdout)["runs"]
    assert json.loads(run_program("akm-run", "status", run_id["runId"], "--json").stdout)["tokensUsed"] == 2**53


def test_an_odd_count_of_dispatches_is_named(state: Path, run_program: Run) -> None:
    changed(state, "UPDATE units SET spawns = 'many'")
    (run,) = json.loads(run_program("akm-run", "list", "--json").stdout)["runs"]
    said = run_program("akm-run", "status", run["runId"], expect=2).stderr
    assert f'table "units", row "{run["runId"]}" "a:solo", column "spawns": the value is not a whole number' in said


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """The internal errors that a report was written of."""
    found: list[BaseException] = []

    def note(error: BaseException, _: object) -> str:
        found.append(error)
        return "nowhere"

    monkeypatch.setattr("akm_run.crash.write_report", note)
    return found


def broken(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Every drive of a run raises ``error``."""

    def drive(*_: object) -> None:
        raise error

    monkeypatch.setattr("akm_run.commands.invocation.drive", drive)


def test_an_error_of_one_run_is_not_blamed_on_the_rows_of_another(
    state: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reported: list[BaseException],
    capfd: pytest.CaptureFixture[str],
) -> None:
    changed(state, "UPDATE units SET spawns = -1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "config"))
    error = RuntimeError("a bug")
    broken(monkeypatch, error)
    assert cli.run(["plan.json"]) == 70
    assert reported == [error]
    assert "internal error (RuntimeError)" in capfd.readouterr().err
    changed(state, "UPDATE units SET status = 'failed'")
    changed(state, "UPDATE runs SET status = 'active'")
    with closing(sqlite3.connect(state)) as raw:
        odd, other = (row[0] for row in raw.execute("SELECT run_id FROM runs ORDER BY rowid"))
    assert cli.run([other]) == 70
    assert len(reported) == 2
    assert cli.run([odd]) == 2, "its own rows may well be why"
    assert f'table "units", row "{odd}" "a:solo", column "spawns"' in capfd.readouterr().err
    changed(state, f"UPDATE runs SET parent_run = '{odd}' WHERE run_id = '{other}'")
    assert cli.run([other]) == 2, "and so may those of the run that composes it"
    assert len(reported) == 2


def test_what_the_system_refuses_is_never_the_fault_of_rows(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reported: list[BaseException]
) -> None:
    changed(state, "UPDATE units SET spawns = -1")
    changed(state, "UPDATE runs SET status = 'active'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "config"))
    error = OSError(errno.EIO, "Input/output error")
    broken(monkeypatch, error)
    with closing(sqlite3.connect(state)) as raw:
        ((run_id,),) = raw.execute("SELECT run_id FROM runs").fetchall()
    assert cli.run([run_id]) == 70
    assert reported == [error]
