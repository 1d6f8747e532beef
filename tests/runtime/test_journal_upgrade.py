"""State files of older versions: brought up with all their runs, or left as they were."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from akm_run.journal import SCHEMA_VERSION, Journal, schema

Run = Callable[..., "subprocess.CompletedProcess[str]"]
FAILED, COMPLETED, ACTIVE = "20261130-132449-28330d55", "20261130-132451-f384e5b5", "20261130-132452-cb3856a0"
OLD = Path(__file__).with_name("state-v1.sql").read_text()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state file of version 1 in the scope of ``tmp_path``."""
    path = tmp_path / ".akm" / "state.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA journal_mode=WAL")
        raw.executescript(OLD)
        raw.execute("PRAGMA user_version=1")
    return path


def marks(path: Path) -> tuple[int, int]:
    with closing(sqlite3.connect(path)) as raw:
        return tuple(raw.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id"))


def tables_of(path: Path) -> dict[str, list[str]]:
    with closing(sqlite3.connect(path)) as raw:
        return {name: [row[1] for row in raw.execute(f"PRAGMA table_info({name})")] for name in schema.tables(raw)}


def rows_of(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows, with the columns that version 1 had."""
    old = {"runs": "reuses outputs_blob", "units": "reused_run reused_unit"}
    found: dict[str, list[tuple[Any, ...]]] = {}
    with closing(sqlite3.connect(path)) as raw:
        for name in sorted(schema.tables(raw)):
            columns = [row[1] for row in raw.execute(f"PRAGMA table_info({name})")]
            listed = ", ".join(sorted(set(columns) - set(old.get(name, "").split())))
            found[name] = sorted(raw.execute(f"SELECT {listed} FROM {name}").fetchall(), key=repr)
    return found


def test_every_row_is_kept_and_the_tables_are_those_of_a_new_file(state: Path, tmp_path: Path) -> None:
    before = rows_of(state)
    assert len(before["runs"]) == 3 and len(before["units"]) == 8
    opened = Journal.open(state)
    assert opened is not None
    opened.close()
    assert rows_of(state) == before
    Journal.create_or_open(tmp_path / "new.db").close()
    assert marks(state) == marks(tmp_path / "new.db") == (SCHEMA_VERSION, schema.APPLICATION_ID)
    assert {name: sorted(columns) for name, columns in tables_of(state).items()} == {
        name: sorted(columns) for name, columns in tables_of(tmp_path / "new.db").items()
    }


def test_runs_go_on(run_program: Run, state: Path, tmp_path: Path) -> None:
    listed = json.loads(run_program("akm-run", "list", "--json").stdout)["runs"]
    assert [(run["runId"], run["status"]) for run in listed] == [
        (ACTIVE, "active"),
        (COMPLETED, "completed"),
        (FAILED, "failed"),
    ]
    assert json.loads(run_program("akm-run", "output", COMPLETED).stdout) == {"all": ["1", "2"], "end": "done"}
    (tmp_path / "ok").touch()
    run_program("akm-run", "resume", FAILED)
    for run_id in (FAILED, ACTIVE):
        done = json.loads(run_program("akm-run", run_id, "--json").stdout)
        assert (done["status"], done["outputs"]) == ("completed", {"all": ["1", "2"], "end": "done"})
        events = [json.loads(line) for line in run_program("akm-run", "events", run_id).stdout.splitlines()]
        assert sum(event["type"] == "unit.started" and event["step"] == "m" for event in events) == 2


def test_an_upgrade_that_fails_leaves_the_file_as_it_was(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tables_of(state)
    monkeypatch.setattr(schema, "_UPGRADES", {1: (*schema._UPGRADES[1], "ALTER TABLE none ADD COLUMN x")})
    with pytest.raises(Exception, match="no such table: none"):
        Journal.create_or_open(state)
    assert marks(state) == (1, 0) and tables_of(state) == before


def test_it_is_brought_up_in_memory_where_it_cannot_be_written(run_program: Run, state: Path, tmp_path: Path) -> None:
    obey: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and there is no setpriv to take that away")
        obey = ["setpriv", "--bounding-set=-dac_override"]
    state.chmod(0o400)
    state.parent.chmod(0o500)
    try:
        done = run_program(*obey, sys.executable, "-m", "akm_run", "output", COMPLETED)
        assert json.loads(done.stdout)["end"] == "done"
    finally:
        state.parent.chmod(0o700)
    state.chmod(0o600)
    assert marks(state) == (1, 0)


def test_an_old_export_is_imported(run_program: Run, state: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.akmrun"
    with closing(sqlite3.connect(state)) as raw:
        raw.execute("PRAGMA journal_mode=DELETE")
    state.rename(old)
    content = old.read_bytes()
    assert set(run_program("akm-run", "import", "old.akmrun").stdout.split()) == {FAILED, COMPLETED, ACTIVE}
    assert old.read_bytes() == content
    assert marks(state)[0] == SCHEMA_VERSION
    assert json.loads(run_program("akm-run", "output", COMPLETED).stdout)["end"] == "done"


def test_eight_processes_bring_it_up_at_once(state: Path, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "akm_run", "output", COMPLETED, "end"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "AKM_CONFIG_DIR": str(tmp_path / "config")}
    started = [
        subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    ended = [(*process.communicate(timeout=60), process.returncode) for process in started]
    assert ended == [("done", "", 0)] * 8 or ended == [("done\n", "", 0)] * 8
    assert marks(state)[0] == SCHEMA_VERSION


class _Meanwhile(sqlite3.Connection):
    """Between two looks of this connection, another one makes the tables."""

    def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
        if "sqlite_master" not in sql or super().execute(sql, *more).fetchall():
            return super().execute(sql, *more)
        path = super().execute("PRAGMA database_list").fetchone()[2]
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            schema.create(other)
        return super().execute("SELECT 'none' WHERE FALSE")  # what was there at the first look


def test_a_file_in_which_another_process_makes_the_tables_is_not_foreign(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as first:
        first.execute("PRAGMA journal_mode=WAL")
    with closing(sqlite3.connect(path, isolation_level=None, factory=_Meanwhile)) as connection:
        assert not schema.is_foreign(connection)
        assert schema.tables(connection) >= schema.TABLES
