"""A state file that somebody else made: refused, or read as what it says, and never obeyed."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from in_process import folder_with, run, survives

SOURCE = b"---\nsteps: [{id: a, unit: {exec: {command: [sh, -c, 'echo ran >>n.txt; exit 3']}}}]\n---\n## a\nx\n"
READING = ("status RUN --units", "list", "events RUN", "output RUN", "logs RUN", "why RUN a:solo", "report RUN -o -")
CHANGING = ("resume RUN", "abandon RUN", "RUN", "export RUN -o e.akmrun", "prune --older-than 1s")


def changed(connection: sqlite3.Connection, statement: str) -> None:
    connection.execute("PRAGMA foreign_keys=OFF")
    connection.execute(statement)


CHANGES: dict[str, Callable[[sqlite3.Connection], object]] = {
    "a newer version": lambda raw: changed(raw, "PRAGMA user_version=999"),
    "no tables": lambda raw: raw.executescript("DROP TABLE units; DROP TABLE events;"),
    "another table": lambda raw: raw.executescript("DROP TABLE units; CREATE TABLE units (x);"),
    "a plan of others": lambda raw: changed(raw, "UPDATE runs SET plan = '{}'"),
    "a plan that is no text": lambda raw: changed(raw, "UPDATE runs SET plan = x'ff00'"),
    "odd statuses": lambda raw: changed(raw, "UPDATE runs SET status = 'owned'"),
    "odd steps": lambda raw: changed(raw, "UPDATE steps SET status = 'owned', step = 999"),
    "odd times": lambda raw: changed(raw, "UPDATE runs SET created_at = 'never', updated_at = x'ff'"),
    "odd results": lambda raw: changed(raw, "UPDATE units SET result = x'ff', errors = x'ff'"),
    "params that are no JSON": lambda raw: changed(raw, "UPDATE runs SET params = x'ff'"),
    "steps without a run": lambda raw: changed(raw, "DELETE FROM runs"),
    "a trigger": lambda raw: changed(
        raw,
        "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN SELECT writefile('owned.txt', 'x'), load_extension('owned'); END",
    ),
}


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_a_state_file_with_odd_contents_is_no_internal_error(name: str) -> None:
    with folder_with({"workflows/x.md": SOURCE, ".akm/k": b""}) as folder:
        assert run("akmc", "compile", "workflows/x.md", "-o", "x.json").status == 0
        run_id = json.loads(run("akm-run", "x.json", "--json").out)["runId"]
        with closing(sqlite3.connect(".akm/state.db")) as raw:
            CHANGES[name](raw)
            raw.commit()
        for line in (*READING, *CHANGING):
            survives("akm-run", *line.replace("RUN", run_id).split())
        assert not (folder / "owned.txt").exists()


FILES = {
    "no database": b"no database at all\n" * 100,
    "a cut header": b"SQLite format 3\0",
    "empty": b"",
    "noise": bytes(range(256)) * 64,
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_state_file_that_is_none_is_refused_and_left_alone(name: str) -> None:
    with folder_with({".akm/state.db": FILES[name], "workflows/x.md": SOURCE}):
        assert run("akmc", "compile", "workflows/x.md", "-o", "x.json").status == 0
        for line in (*READING, "resume RUN", "RUN"):
            survives("akm-run", *line.split())
        if FILES[name]:
            assert survives("akm-run", "x.json").status == 2
            assert Path(".akm/state.db").read_bytes() == FILES[name]
            assert survives("akm-run", "import", ".akm/state.db", "--db", "other.db").status == 2


def test_texts_of_a_state_file_command_no_terminal() -> None:
    evil = "\x1b]0;owned\x07\u202e"
    with folder_with({"workflows/x.md": SOURCE, ".akm/k": b""}):
        assert run("akmc", "compile", "workflows/x.md", "-o", "x.json").status == 0
        run_id = json.loads(run("akm-run", "x.json", "--json").out)["runId"]
        with closing(sqlite3.connect(".akm/state.db")) as raw:
            raw.execute("UPDATE runs SET title = title || ?, ref = ref || ?", (evil, evil))
            raw.execute("UPDATE steps SET step_id = step_id || ?, reason = ?, summary = ?", (evil, evil, evil))
            raw.execute("UPDATE units SET unit_id = unit_id || ?, diagnostic = ?, reason = ?", (evil, evil, evil))
            raw.commit()
        for line in READING:
            for terminal in (True, False):
                ended = run("akm-run", *line.replace("RUN", run_id).split(), terminal=terminal)
                if line.startswith(("logs", "events")) and not terminal:
                    continue  # what programs read is exact; events are ids and enums wherever akm-run wrote the file
                assert not re.search("[\x07\u202e]|\x1b]", ended.text), line


def test_a_run_whose_plan_was_changed_in_the_state_file_is_not_driven() -> None:
    with folder_with({"workflows/x.md": SOURCE, ".akm/k": b""}):
        assert run("akmc", "compile", "workflows/x.md", "-o", "x.json").status == 0
        run_id = json.loads(run("akm-run", "x.json", "--json").out)["runId"]
        with closing(sqlite3.connect(".akm/state.db")) as raw:
            (data,) = raw.execute("SELECT plan FROM runs").fetchone()
            text = data.decode() if isinstance(data, bytes) else data
            raw.execute("UPDATE runs SET plan = ?, status = 'active'", (text.replace("echo ran", "echo bad").encode(),))
            raw.commit()
        ended = survives("akm-run", run_id)
        assert ended.status == 2, ended.text
        assert Path("n.txt").read_text() == "ran\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_state_file_is_a_usage_fault() -> None:
    with folder_with({".akm/state.db": b"x"}):
        Path(".akm/state.db").chmod(0)
        assert survives("akm-run", "list").status == 2
