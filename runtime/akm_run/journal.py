"""The journal: everything a run is, in SQLite, one transaction per decision. The only module with SQL.

WAL keeps readers from ever waiting for a driver; ``synchronous=FULL`` makes a committed decision survive the machine.
Writers are one driver per run (``lease``) and short; several runs may share a file. Results above 1 MiB are stored
content-addressed in ``blobs``. The files are private to their owner.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import msgspec

from akm_run import events
from akm_run.events import Event
from akm_run.faults import UsageFault
from akm_run.rows import EventRow, Notice, Publication, RunRow, StepRow, UnitRow, run_status
from akm_run.values import decoded, encoded
from akm_schemas.bounds import RESULT_INLINE_BYTES
from akm_schemas.hashing import sha256_hex
from akm_schemas.json_types import Json, JsonObject

SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 60.0
_ELSEWHERE = "name another state file with --db"

_TABLES = """
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY, status TEXT NOT NULL, title TEXT NOT NULL, ref TEXT NOT NULL, plan BLOB NOT NULL,
  plan_hash TEXT NOT NULL, content_hash TEXT NOT NULL, params BLOB NOT NULL, width INTEGER NOT NULL,
  exports INTEGER NOT NULL, outputs BLOB, base_commit TEXT, parent_run TEXT, parent_unit TEXT, parent_hash TEXT,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE INDEX runs_parent ON runs (parent_run, parent_unit) WHERE parent_run IS NOT NULL;
CREATE TABLE steps (
  run_id TEXT NOT NULL REFERENCES runs, step INTEGER NOT NULL, step_id TEXT NOT NULL, kind TEXT NOT NULL,
  status TEXT NOT NULL, reason TEXT, summary TEXT, selected TEXT, loop INTEGER NOT NULL DEFAULT 1, feedback TEXT,
  unit_count INTEGER NOT NULL DEFAULT 0, failed_units INTEGER NOT NULL DEFAULT 0, started_at TEXT, finished_at TEXT,
  artifact BLOB, artifact_blob TEXT REFERENCES blobs, PRIMARY KEY (run_id, step));
CREATE TABLE units (
  run_id TEXT NOT NULL REFERENCES runs, unit_id TEXT NOT NULL, step INTEGER NOT NULL, key TEXT NOT NULL,
  role TEXT NOT NULL, attempt INTEGER NOT NULL, loop INTEGER NOT NULL, cause TEXT NOT NULL, input_hash TEXT NOT NULL,
  item_index INTEGER, spawns INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT, diagnostic TEXT, errors BLOB,
  tokens INTEGER, started_at TEXT NOT NULL, finished_at TEXT, result BLOB, result_blob TEXT REFERENCES blobs,
  PRIMARY KEY (run_id, unit_id));
CREATE TABLE events (
  run_id TEXT NOT NULL REFERENCES runs, seq INTEGER NOT NULL, at TEXT NOT NULL, type TEXT NOT NULL, step INTEGER,
  unit_id TEXT, status TEXT, PRIMARY KEY (run_id, seq)) WITHOUT ROWID;
CREATE TABLE notices (
  run_id TEXT NOT NULL REFERENCES runs, step INTEGER NOT NULL, unit_id TEXT NOT NULL, text TEXT NOT NULL,
  UNIQUE (run_id, step, unit_id, text));
CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL);
"""
_RUN = "run_id, status, title, ref, plan_hash, content_hash, width, exports, base_commit, parent_run, parent_unit, created_at, updated_at"
_STEP = "step, step_id, kind, status, reason, summary, selected, loop, feedback, unit_count, failed_units, started_at, finished_at"
_UNIT = (
    "unit_id, step, key, role, attempt, loop, cause, input_hash, item_index, spawns, status, reason, diagnostic, errors,"
    " tokens, started_at, finished_at"
)


class Journal:
    """An open state file. Times are ISO 8601 texts given by the caller; ``run_id`` must exist unless said otherwise."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db = connection
        self.path = path

    @classmethod
    def create_or_open(cls, path: Path) -> Journal:
        """The state file at ``path``, created (private, with its folder) where there is none.

        Raises ``UsageFault`` for a file that is no state file or was written by a newer version.
        """
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not path.exists():
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise UsageFault(f'cannot create the state file "{path}": {error.strerror}', _ELSEWHERE) from error
        with _explained(path):
            connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
            if _version(connection) == 0:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("BEGIN IMMEDIATE")
                if _version(connection) == 0:  # another process may have been first
                    for statement in _TABLES.strip().split(";\n"):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
                connection.execute("COMMIT")
            return cls._checked(connection, path)

    @classmethod
    def open(cls, path: Path) -> Journal | None:
        """The state file at ``path`` to read from, or ``None`` where there is none; nothing is created or changed.

        In a folder that cannot be written to, SQLite may lack its shared-memory file; the file is then read as it stands.
        """
        if not path.is_file() or path.stat().st_size == 0:
            return None
        with _explained(path):
            if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
                return cls._checked(sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None), path)
            uri = path.absolute().as_uri() + "?mode=ro"
            try:
                return cls._checked(sqlite3.connect(uri, uri=True, isolation_level=None), path)
            except sqlite3.OperationalError:
                return cls._checked(sqlite3.connect(f"{uri}&immutable=1", uri=True, isolation_level=None), path)

    @classmethod
    def _checked(cls, connection: sqlite3.Connection, path: Path) -> Journal:
        found = _version(connection)
        if found > SCHEMA_VERSION:
            connection.close()
            raise UsageFault(
                f'"{path}" was written by a newer akm-run: its version is {found}, this one reads up to {SCHEMA_VERSION}',
                f"upgrade akm-run, or {_ELSEWHERE}",
            )
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        return cls(connection, path)

    def close(self) -> None:
        """Give the file back."""
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:  # whatever interrupted the decision, none of it may stay
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # ---- writing ----------------------------------------------------------------------------------------------

    def publish(self, run: Publication, at: str) -> None:
        """A new active run with all steps pending. Raises ``sqlite3.IntegrityError`` when the id is taken."""
        with self._transaction():
            self._db.execute(
                "INSERT INTO runs (run_id, status, title, ref, plan, plan_hash, content_hash, params, width, exports,"
                " base_commit, parent_run, parent_unit, parent_hash, created_at, updated_at)"
                " VALUES (?, 'active', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (run.run_id, run.title, run.ref, run.plan, run.plan_hash, run.content_hash, encoded(run.params), run.width,
                 run.exports, run.base_commit, run.parent_run, run.parent_unit, run.parent_hash, at, at),
            )  # fmt: skip
            self._db.executemany(
                "INSERT INTO steps (run_id, step, step_id, kind, status) VALUES (?, ?, ?, ?, 'pending')",
                [(run.run_id, index, step_id, kind) for index, (step_id, kind) in enumerate(run.steps)],
            )
            self._event(run.run_id, at, "run.published", status="active")

    def commit(self, run_id: str, batch: Sequence[Event], at: str) -> None:
        """Write one decision: all of ``batch`` or nothing."""
        with self._transaction():
            for event in batch:
                self._write(run_id, event, at)
            self._db.execute("UPDATE runs SET updated_at = ? WHERE run_id = ?", (at, run_id))

    def _write(self, run_id: str, event: Event, at: str) -> None:
        match event:
            case events.UnitStarted():
                self._unit_started(run_id, event, at)
            case events.UnitFinished():
                self._unit_finished(run_id, event, at)
            case events.StepSettled():
                self._step_settled(run_id, event, at)
            case events.StepLooped():
                self._db.execute(
                    "UPDATE steps SET loop = ?, feedback = ? WHERE run_id = ? AND step = ?",
                    (event.loop, event.feedback, run_id, event.step),
                )
                self._event(run_id, at, "step.looped", event.step, status="pending")
            case events.StepRejected():
                self._step_held(run_id, event.step, "gate_rejected", event)
                self._event(run_id, at, "step.rejected", event.step, status="pending")
            case events.OutputsUnresolved():
                self._step_held(run_id, event.step, event.reason, event)  # a completion taken back leaves no event
            case events.RunSettled():
                outputs = None if event.outputs is None else encoded(event.outputs)
                self._db.execute(
                    "UPDATE runs SET status = ?, outputs = ? WHERE run_id = ?", (event.status, outputs, run_id)
                )
                self._event(run_id, at, "run.settled", status=event.status)
            case events.RunResumed():
                self._db.execute("UPDATE runs SET status = 'active' WHERE run_id = ?", (run_id,))
                self._db.execute(
                    "UPDATE steps SET status = 'pending', reason = NULL, summary = NULL, finished_at = NULL,"
                    " failed_units = 0 WHERE run_id = ? AND status IN ('failed', 'blocked')",
                    (run_id,),
                )
                self._event(run_id, at, "run.resumed", status="active")
            case events.RunAbandoned():
                self._db.execute("UPDATE runs SET status = 'failed' WHERE run_id = ?", (run_id,))
                self._event(run_id, at, "run.abandoned", status="failed")
            case events.NoticeRaised():
                self._db.execute(
                    "INSERT OR IGNORE INTO notices VALUES (?, ?, ?, ?)",
                    (run_id, event.step, event.unit or "", event.text),
                )

    def _unit_started(self, run_id: str, event: events.UnitStarted, at: str) -> None:
        if event.respawn:
            self._db.execute(
                "UPDATE units SET spawns = spawns + 1, started_at = ? WHERE run_id = ? AND unit_id = ?",
                (at, run_id, event.unit_id),
            )
        else:
            self._db.execute(
                "INSERT INTO units (run_id, unit_id, step, key, role, attempt, loop, cause, input_hash, item_index, spawns,"
                " status, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 'running', ?)",
                (run_id, event.unit_id, event.step, event.key, event.role, event.attempt, event.loop, event.cause,
                 event.input_hash, event.index, at),
            )  # fmt: skip
        self._db.execute(
            "UPDATE steps SET started_at = coalesce(started_at, ?), unit_count = ? WHERE run_id = ? AND step = ?",
            (at, event.of, run_id, event.step),
        )
        self._event(run_id, at, "unit.started", event.step, event.unit_id, "running")

    def _unit_finished(self, run_id: str, event: events.UnitFinished, at: str) -> None:
        status = "completed" if event.reason is None else "failed"
        result, blob = self._stored(event.value)
        errors = encoded(list(event.errors)) if event.errors else None
        self._db.execute(
            "UPDATE units SET status = ?, reason = ?, diagnostic = ?, errors = ?, tokens = ?, finished_at = ?, result = ?,"
            " result_blob = ? WHERE run_id = ? AND unit_id = ?",
            (status, event.reason, event.diagnostic, errors, event.tokens, at, result, blob, run_id, event.unit_id),
        )
        self._event(run_id, at, "unit.finished", event.step, event.unit_id, status)

    def _step_settled(self, run_id: str, event: events.StepSettled, at: str) -> None:
        artifact, blob = self._stored(event.artifact)
        self._db.execute(
            "UPDATE steps SET status = ?, reason = ?, summary = ?, selected = ?, unit_count = ?, failed_units = ?,"
            " finished_at = ?, artifact = ?, artifact_blob = ? WHERE run_id = ? AND step = ?",
            (event.status, event.reason, event.summary, event.selected, event.unit_count, event.failed_units, at,
             artifact, blob, run_id, event.step),
        )  # fmt: skip
        self._event(run_id, at, "step.settled", event.step, status=event.status)

    def _step_held(
        self, run_id: str, step: int, reason: str, event: events.StepRejected | events.OutputsUnresolved
    ) -> None:
        self._db.execute(
            "UPDATE steps SET reason = ?, summary = ?, unit_count = ?, failed_units = ? WHERE run_id = ? AND step = ?",
            (reason, event.summary, event.unit_count, event.failed_units, run_id, step),
        )

    def _event(
        self,
        run_id: str,
        at: str,
        kind: str,
        step: int | None = None,
        unit: str | None = None,
        status: str | None = None,
    ) -> None:
        self._db.execute(
            "INSERT INTO events VALUES (?1, coalesce((SELECT max(seq) FROM events WHERE run_id = ?1), 0) + 1, ?2, ?3, ?4, ?5, ?6)",
            (run_id, at, kind, step, unit, status),
        )

    def _stored(self, value: Json) -> tuple[bytes | None, str | None]:
        """A value's columns: inline, or the name of its blob."""
        if value is None:
            return None, None
        data = encoded(value)
        if RESULT_INLINE_BYTES.holds(len(data)):
            return data, None
        name = sha256_hex(data)
        self._db.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (name, data))
        return None, name

    # ---- reading ----------------------------------------------------------------------------------------------

    def run(self, run_id: str) -> RunRow | None:
        """The run, or ``None`` when it is unknown."""
        row = self._db.execute(f"SELECT {_RUN} FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        return None if row is None else _run_row(row)

    def runs(self) -> list[RunRow]:
        """All runs, newest first."""
        rows = self._db.execute(f"SELECT {_RUN} FROM runs ORDER BY created_at DESC, run_id DESC")
        return [_run_row(row) for row in rows]

    def children(self, run_id: str) -> list[RunRow]:
        """The runs that units of ``run_id`` composed, oldest first."""
        query = f"SELECT {_RUN} FROM runs WHERE parent_run = ? ORDER BY created_at, run_id"
        return [_run_row(row) for row in self._db.execute(query, (run_id,))]

    def plan_bytes(self, run_id: str) -> bytes:
        """The plan as it was published."""
        return cast(bytes, self._one("SELECT plan FROM runs WHERE run_id = ?", run_id))

    def params(self, run_id: str) -> JsonObject:
        """The params snapshot."""
        return cast(JsonObject, decoded(cast(bytes, self._one("SELECT params FROM runs WHERE run_id = ?", run_id))))

    def outputs(self, run_id: str) -> JsonObject | None:
        """The stored exports, or ``None`` when there are none (yet)."""
        data = self._one("SELECT outputs FROM runs WHERE run_id = ?", run_id)
        return None if data is None else cast(JsonObject, decoded(cast(bytes, data)))

    def steps(self, run_id: str) -> list[StepRow]:
        """All steps in order, with their artifacts."""
        query = f"SELECT {_STEP}, coalesce(artifact, data) FROM steps LEFT JOIN blobs ON sha256 = artifact_blob"
        rows = self._db.execute(f"{query} WHERE run_id = ? ORDER BY step", (run_id,))
        return [StepRow(*_with_value(row)) for row in rows]

    def units(self, run_id: str, *, values: bool = False) -> list[UnitRow]:
        """All attempts in the order in which they started; with ``values``, those that a pending step still needs."""
        result = "NULL"
        if values:
            result = (
                "CASE WHEN step IN (SELECT step FROM steps WHERE run_id = ?1 AND status NOT IN ('completed', 'skipped'))"
                " THEN coalesce(result, (SELECT data FROM blobs WHERE sha256 = result_blob)) END"
            )
        query = f"SELECT {_UNIT}, {result} FROM units WHERE run_id = ?1 ORDER BY rowid"
        return [_unit_row(row) for row in self._db.execute(query, (run_id,))]

    def spent(self, run_id: str) -> tuple[int, int]:
        """Dispatches and reported tokens over the run's life."""
        query = "SELECT coalesce(sum(spawns), 0), coalesce(sum(tokens), 0) FROM units WHERE run_id = ?"
        row = self._db.execute(query, (run_id,)).fetchone()
        return int(row[0]), int(row[1])

    def events(self, run_id: str, since: int = 0) -> list[EventRow]:
        """The event stream after ``since``."""
        query = (
            "SELECT seq, at, type, step_id, unit_id, events.status FROM events LEFT JOIN steps USING (run_id, step)"
            " WHERE run_id = ? AND seq > ? ORDER BY seq"
        )
        return [EventRow(*row) for row in self._db.execute(query, (run_id, since))]

    def notices(self, run_id: str) -> list[Notice]:
        """All notices, in the order in which they were raised."""
        query = "SELECT step_id, unit_id, text FROM notices JOIN steps USING (run_id, step) WHERE run_id = ? ORDER BY notices.rowid"
        return [Notice(step, unit or None, text) for step, unit, text in self._db.execute(query, (run_id,))]

    def entries(self, run_id: str) -> Iterable[Event]:
        """What the core folds to know the run again, in order."""
        from akm_run.reading import entries

        units = {row.unit_id: row for row in self.units(run_id, values=True)}
        return entries(self.events(run_id), {row.step_id: row for row in self.steps(run_id)}, units)

    def _one(self, query: str, run_id: str) -> object:
        row = self._db.execute(query, (run_id,)).fetchone()
        if row is None:
            raise UsageFault(f'"{run_id}" is no run of "{self.path}"')
        return row[0]


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise UsageFault(f'"{path}" cannot be used as a state file: {error}', _ELSEWHERE) from error


def _run_row(row: tuple[Any, ...]) -> RunRow:
    fields = [row[0], run_status(row[1]), *row[2:7], bool(row[7]), *row[8:]]
    return RunRow(*fields)


def _unit_row(row: tuple[Any, ...]) -> UnitRow:
    errors = () if row[13] is None else tuple(msgspec.json.decode(row[13], type=list[str]))
    fields = [*row[:13], errors, *_with_value(row[14:])]
    return UnitRow(*fields)


def _with_value(row: tuple[Any, ...]) -> list[Any]:
    """A row whose last column is a stored value."""
    return [*row[:-1], None if row[-1] is None else decoded(row[-1])]
