"""Files that are offered to ``import`` and hold what no version of akm-run writes: refused, named, nothing published."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
_BY_RUN = ("runs", "steps", "units", "events", "notices")


@pytest.fixture
def run_id(run_program: Run, tmp_path: Path, plans: PlanMaker) -> str:
    """A failed run with a completed child and a notice, exported to ``one.akmrun``."""
    kid = plans.data(plans.step("leaf", plans.unit("echo", "ok")))
    steps = (
        plans.step("a", plans.unit("printf", "\\377")),
        plans.step("kid", plans.child(kid)),
        plans.step("z", plans.unit("test", "-e", "ok")),
    )
    (tmp_path / "plan.json").write_bytes(plans.data(*steps))
    found = str(json.loads(run_program("akm-run", "plan.json", "--json", expect=1).stdout)["runId"])
    run_program("akm-run", "export", found, "-o", "one.akmrun")
    with closing(sqlite3.connect(tmp_path / "one.akmrun")) as raw:
        assert raw.execute("SELECT count(*) FROM notices").fetchone()[0] == 1
    return found


def changed(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as raw, raw:
        raw.execute("PRAGMA foreign_keys=OFF")
        for statement in statements:
            raw.execute(statement)


def refusal(run_program: Run, tmp_path: Path) -> str:
    """What ``import`` says, after a look that it has published nothing and told of no path of its own."""
    said = run_program("akm-run", "import", "one.akmrun", "--db", "new.db", expect=2).stderr
    assert 'akm-run: "one.akmrun" cannot be imported: ' in said
    assert "nothing was imported" in said
    assert "akm-import-" not in said and str(tmp_path) not in said
    assert not (tmp_path / "new.db").exists()
    return said


@pytest.mark.parametrize(
    "name", ["../../../pwn", "/tmp/pwn", "a/b", "", ".", "..", "-x", "a b", "a\nb", "é", "x" * 101]
)
def test_an_id_that_leads_elsewhere_is_refused(run_program: Run, tmp_path: Path, run_id: str, name: str) -> None:
    quoted = name.replace("'", "''")
    root = f"UPDATE {{}} SET run_id = '{quoted}' WHERE run_id = '{run_id}'"
    changed(tmp_path / "one.akmrun", *(root.format(table) for table in _BY_RUN))
    assert 'table "runs", row "' in refusal(run_program, tmp_path)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        (
            "UPDATE runs SET parent_run = '../x' WHERE parent_run NOT NULL",
            'column "parent_run": the value is not a run',
        ),
        ("UPDATE runs SET reuses = '../x'", 'column "reuses": the value is not a run id'),
        ("UPDATE runs SET parent_run = run_id", "a run is its own parent, or below itself"),
        ("UPDATE runs SET parent_unit = 'no:solo' WHERE parent_run NOT NULL", 'column "parent_unit"'),
        ("UPDATE runs SET width = 'abc'", 'column "width": the value is not a whole number from 1'),
        ("UPDATE runs SET created_at = 'garbage'", 'column "created_at": the value is not a UTC time'),
        ("UPDATE units SET started_at = 'garbage'", 'table "units", row "'),
        ("UPDATE runs SET title = x'ff'", 'column "title": the value is not text'),
        ("UPDATE runs SET title = CAST(x'ff' AS TEXT)", 'column "title": the value is not text'),
        ("UPDATE runs SET title = 'another'", 'column "title": it is not that of the plan'),
        ("UPDATE runs SET status = 'bogus'", 'column "status": the value is not one of active, blocked'),
        ("UPDATE runs SET status = 'completed'", 'column "status": its events lead to failed'),
        ("UPDATE steps SET status = 'skipped' WHERE step = 0", 'column "status": its events lead to completed'),
        ("UPDATE steps SET step_id = 'other' WHERE step = 0", "the steps are not those of the plan"),
        ("UPDATE runs SET plan_hash = 'x'", 'was published with "x"'),
        ("UPDATE runs SET content_hash = 'x'", 'was published with "x"'),
        ("UPDATE runs SET plan = x'7b7d'", "cannot be run"),
        ("UPDATE runs SET params = x'5b5d'", 'column "params": the value is not a JSON object'),
        ("UPDATE units SET errors = x'7b7d'", 'column "errors": the value is not a JSON list'),
        ("UPDATE units SET tokens = -5", 'column "tokens": the value is not a whole number from 0'),
        ("UPDATE units SET result = x'00'", 'column "result": the value is not JSON'),
        ("UPDATE units SET status = 'running'", "its events say otherwise"),
        ("DELETE FROM events", 'a run begins with "run.published"'),
        ("DELETE FROM events WHERE seq = 3", "entry 3 is missing"),
        ("UPDATE events SET unit_id = 'foreign:solo' WHERE unit_id NOT NULL", 'table "units"'),
        ("UPDATE events SET type = 'owned' WHERE seq = 2", 'column "type": the value is not the type of an event'),
        ("UPDATE events SET step = 99 WHERE step NOT NULL", 'table "events"'),
        ("UPDATE notices SET text = x'ff'", 'table "notices", row "'),
        ("INSERT INTO blobs VALUES ('x', x'31')", 'table "blobs", row "x", column "sha256"'),
        (f"INSERT INTO blobs VALUES ('{'0' * 64}', x'31')", "it is not what its SHA-256 names"),
        ("DELETE FROM runs WHERE parent_run IS NULL", "a row refers to one of"),
        ("DROP TABLE notices", 'it has no table "notices"'),
        ("DROP TABLE blobs", 'it has no table "blobs"'),
        ("ALTER TABLE runs DROP COLUMN title", "no such column: title"),
    ],
)
def test_an_odd_value_is_named(run_program: Run, tmp_path: Path, run_id: str, statement: str, says: str) -> None:
    changed(tmp_path / "one.akmrun", statement)
    assert says in refusal(run_program, tmp_path), run_id


def test_a_file_that_nobody_changed_is_taken(run_program: Run, tmp_path: Path, run_id: str) -> None:
    changed(tmp_path / "one.akmrun")
    imported = run_program("akm-run", "import", "one.akmrun", "--db", "new.db").stdout.split()
    assert run_id in imported and len(imported) == 2
    (tmp_path / "ok").touch()
    run_program("akm-run", "resume", run_id, "--db", "new.db")
    run_program("akm-run", run_id, "--db", "new.db")


def test_a_child_without_its_parent_comes_as_a_run_of_its_own(run_program: Run, tmp_path: Path, run_id: str) -> None:
    (child,) = json.loads(run_program("akm-run", "status", run_id, "--json").stdout)["children"]
    run_program("akm-run", "export", child["runId"], "-o", "child.akmrun")
    assert run_program("akm-run", "import", "child.akmrun", "--db", "new.db").stdout.split() == [child["runId"]]
    (listed,) = json.loads(run_program("akm-run", "list", "--json", "--db", "new.db").stdout)["runs"]
    assert listed["runId"] == child["runId"] and "parentRun" not in listed


def test_no_id_of_a_changed_state_file_names_a_file_elsewhere(run_program: Run, tmp_path: Path, run_id: str) -> None:
    state = tmp_path / ".akm" / "state.db"
    changed(state, *(f"UPDATE {table} SET run_id = '../../pwn' WHERE run_id = '{run_id}'" for table in _BY_RUN))
    (tmp_path / "pwn.jsonl").write_text("mine\n")
    for words in (["../../pwn"], ["resume", "../../pwn"], ["abandon", "../../pwn"], ["logs", "../../pwn"]):
        refused = run_program("akm-run", *words, expect=2).stderr
        assert words[0] == "../../pwn" or "is no id that a run can have" in refused
    run_program("akm-run", "prune", "--older-than", "0s", "--all", expect=2)
    assert (tmp_path / "pwn.jsonl").read_text() == "mine\n"
    assert not list(tmp_path.glob("pwn.lock"))


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("DELETE FROM events WHERE seq > 1", "is failed, and its events lead to active"),
        ("UPDATE runs SET plan_hash = 'x'", 'was published with "x"'),
        ("UPDATE runs SET status = 'bogus'", "has a status that there is none of"),
    ],
)
def test_resume_adds_nothing_to_a_tale_that_is_not_borne_out(
    run_program: Run, tmp_path: Path, run_id: str, statement: str, says: str
) -> None:
    state = tmp_path / ".akm" / "state.db"
    changed(state, statement)
    before = _rows(state)
    assert says in run_program("akm-run", "resume", run_id, expect=2).stderr
    assert _rows(state) == before
    run_program("akm-run", run_id, expect=2)
    assert _rows(state) == before


def test_a_row_that_is_active_against_its_events_is_not_driven(run_program: Run, tmp_path: Path, run_id: str) -> None:
    changed(tmp_path / ".akm" / "state.db", "UPDATE runs SET status = 'active' WHERE parent_run IS NULL")
    assert "is active, and its events lead to failed" in run_program("akm-run", run_id, expect=2).stderr


@pytest.mark.parametrize("words", [("status",), ("report",), ("export",), ("why",), ("prune",)])
def test_runs_that_compose_each_other_are_said(
    run_program: Run, tmp_path: Path, run_id: str, words: tuple[str, ...]
) -> None:
    changed(tmp_path / ".akm" / "state.db", "UPDATE runs SET parent_run = run_id")
    rest = {"prune": ["--older-than", "0s", "--all"], "export": [run_id, "-o", "x"], "why": [run_id, "a:solo"]}
    done = run_program("akm-run", *words, *rest.get(words[0], [run_id]), expect=None)
    assert done.returncode in (0, 2), done.stderr
    assert done.returncode == 0 or "a run is its own parent, or below itself" in done.stderr
    assert not list(tmp_path.rglob("*.report.txt"))


def _rows(state: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(state)) as raw:
        return [row for table in _BY_RUN for row in raw.execute(f"SELECT * FROM {table}")]


def test_a_count_that_older_versions_wrote_is_taken(run_program: Run, tmp_path: Path, run_id: str) -> None:
    changed(tmp_path / "one.akmrun", f"UPDATE units SET tokens = {2**63 - 1}")
    run_program("akm-run", "import", "one.akmrun", "--db", "new.db")
    shown = json.loads(run_program("akm-run", "status", run_id, "--json", "--db", "new.db").stdout)
    assert shown["tokensUsed"] == 0
