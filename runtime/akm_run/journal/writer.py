"""The open state file: made, opened, and written to, one transaction per decision."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Final, cast

from akm_run import events
from akm_run.clock import monotonic, to_second
from akm_run.events import Event
from akm_run.faults import UsageFault
from akm_run.journal import blobs
from akm_run.journal.happened import NO_SUCH_UNIT, ROWS, Ended, Happened
from akm_run.journal.place import make, size_of
from akm_run.journal.reader import Reader, identity
from akm_run.journal.schema import SCHEMA_VERSION, create, is_foreign, transaction, upgrade, version
from akm_run.journal.trouble import BUSY_TIMEOUT_S, ELSEWHERE, explained, is_full
from akm_run.rows import Publication
from akm_run.transitions import RUN, STEP, UNIT, AttemptStatus
from akm_run.values import encoded

_LOOK_EVERY_S: Final = 0.1  # whether the file is still there, while units alone come and go, hundreds in a second


class Journal(Reader):
    """An open state file. Times are ISO 8601 texts given by the caller."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, refusal: sqlite3.OperationalError | None = None
    ) -> None:
        super().__init__(connection, path)
        self._refusal = refusal  # why this can only be read from
        self._looked = -_LOOK_EVERY_S  # when the file was last seen where it was opened
        self._counted: dict[tuple[str, int], int] = {}  # the unit counts that this connection has written
        self._touched: dict[str, str] = {}  # the second in which this connection last said that a run had changed
        self._happened = Happened(connection)

    @classmethod
    def create_or_open(cls, path: Path) -> Journal:
        """The state file at ``path``, created (private, with its folder) where there is none.

        Raises ``UsageFault`` for a file that is no state file or was written by a newer version.
        """
        make(path)
        with explained(path):
            connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
            return cls(cls._checked(connection, path, new=True), path)

    @classmethod
    def open(cls, path: Path) -> Journal | None:
        """The state file at ``path`` to read from, or ``None`` where there is none; nothing is created or changed.

        In a folder that cannot be written to, SQLite may lack its shared-memory file; the file is then read as it stands.
        The same holds on a full disk.
        """
        if not size_of(path):
            return None
        with explained(path):
            refusal = None
            try:
                connection = cls._connected(path)
            except sqlite3.OperationalError as error:
                if not is_full(error):
                    raise
                refusal, connection = error, cls._without_room(path)
            if version(connection) == 0:  # its making was cut short, or goes on at this moment: there is no run in it
                connection.close()
                return None
            return cls(connection, path, refusal)

    @classmethod
    def _connected(cls, path: Path) -> sqlite3.Connection:
        """To read, and to write where the file allows it."""
        if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
            return cls._checked(sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None), path)
        uri = path.absolute().as_uri() + "?mode=ro"
        try:
            return cls._looked_at(uri, path)
        except sqlite3.OperationalError:
            return cls._looked_at(f"{uri}&immutable=1", path)

    @classmethod
    def _without_room(cls, path: Path) -> sqlite3.Connection:
        """A connection that cannot write and makes no file; what is in the ``-wal`` is read into memory with the rest.

        Shared memory is a file, and is there already where a driver has the state file open. Nobody else may use the state
        file while it is read without (https://sqlite.org/wal.html#use_of_wal_without_shared_memory).
        """
        if not size_of(path.with_name(path.name + "-wal")):
            return cls._looked_at(path.absolute().as_uri() + "?immutable=1", path)
        with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)) as alone:
            alone.execute("PRAGMA locking_mode=EXCLUSIVE")
            alone.execute("BEGIN")  # read what is there before a copy is begun, which would not say why it fails
            alone.execute("SELECT 1 FROM sqlite_master").fetchall()
            alone.execute("COMMIT")
            copy = sqlite3.connect(":memory:", isolation_level=None)
            alone.backup(copy)
        return cls._checked(copy, path)

    @classmethod
    def _looked_at(cls, uri: str, path: Path) -> sqlite3.Connection:
        """A connection that cannot write; a file of an older version is brought up in memory."""
        connection = sqlite3.connect(uri, uri=True, isolation_level=None)
        try:
            if is_foreign(connection) or not 0 < version(connection) < SCHEMA_VERSION:
                return cls._checked(connection, path)
            copy = sqlite3.connect(":memory:", isolation_level=None)
            connection.backup(copy)
        except BaseException:  # whatever it is: nobody else knows of the connection
            connection.close()
            raise
        connection.close()
        return cls._checked(copy, path)

    @classmethod
    def _checked(cls, connection: sqlite3.Connection, path: Path, *, new: bool = False) -> sqlite3.Connection:
        """``connection``, brought up, or closed when it is refused; ``new``: make the tables where there are none."""
        try:
            if is_foreign(connection):
                raise UsageFault(
                    f'"{path}" is no state file of akm-run: it is the database of another program', ELSEWHERE
                )
            if new and version(connection) == 0:
                create(connection)
            if version(connection) != 0:
                cls._bring_up(connection, path)
        except BaseException:  # whatever it is: nobody else knows of the connection
            connection.close()
            raise
        return connection

    @staticmethod
    def _bring_up(connection: sqlite3.Connection, path: Path) -> None:
        found = version(connection)
        if found > SCHEMA_VERSION:
            raise UsageFault(
                f'"{path}" was written by a newer akm-run: its version is {found}, this one reads up to {SCHEMA_VERSION}',
                f"upgrade akm-run, or {ELSEWHERE}",
            )
        if found < SCHEMA_VERSION:
            upgrade(connection)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA trusted_schema=OFF")  # a file that somebody else made runs no function of ours

    def require_writable(self) -> None:
        """Raises sqlite3.OperationalError where a full disk has left only reading.

        Raises UsageFault when the file is no more where it was opened: what is written then, nobody will find.
        """
        if self._refusal is not None:
            raise self._refusal
        if self.identity is None or identity(self.path) != self.identity:
            raise UsageFault(
                f'the state file "{self.path}" was removed or replaced while it was in use: nothing more is written',
                "put the file back where it was, and akm-run RUN_ID goes on; without it, run the plan again",
            )

    def publish(self, run: Publication, at: str) -> None:
        """A new active run with all steps pending. Raises ``sqlite3.IntegrityError`` when the id is taken."""
        self.require_writable()
        self._happened.make()
        with transaction(self._db):
            self._db.execute(
                "INSERT INTO runs (run_id, status, title, ref, plan, plan_hash, content_hash, params, width, exports,"
                " base_commit, parent_run, parent_unit, parent_hash, reuses, created_at, updated_at)"
                " VALUES (?, 'active', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (run.run_id, run.title, run.ref, run.plan, run.plan_hash, run.content_hash, encoded(run.params), run.width,
                 run.exports, run.base_commit, run.parent_run, run.parent_unit, run.parent_hash,
                 run.reuses, at, at),
            )  # fmt: skip
            self._db.executemany(
                "INSERT INTO steps (run_id, step, step_id, kind, status) VALUES (?, ?, ?, ?, 'pending')",
                [(run.run_id, index, step_id, kind) for index, (step_id, kind) in enumerate(run.steps)],
            )
            self._happened.entry(run.run_id, at, "run.published", status="active")
            self._happened.write()

    def commit(self, run_id: str, batch: Sequence[Event], at: str) -> None:
        """Write one decision: all of ``batch`` or nothing."""
        units_alone = all(isinstance(event, events.UnitStarted | events.UnitFinished) for event in batch)
        if not units_alone or monotonic() >= self._looked + _LOOK_EVERY_S:
            self.require_writable()
            self._looked = monotonic()
        self._happened.make()
        try:
            with nullcontext() if self._is_one_statement(run_id, batch, at) else transaction(self._db):
                for event in batch:
                    self._write(run_id, event, at)
                self._happened.write()
                self._touch(run_id, at, units_alone=units_alone)
        except BaseException as error:  # what was written is taken back
            self._counted.clear()
            self._touched.clear()
            self._happened.forget()
            if isinstance(error, sqlite3.IntegrityError) and str(error) == NO_SUCH_UNIT:
                self._refuse_ends(run_id, batch)
            raise

    def _is_one_statement(self, run_id: str, batch: Sequence[Event], at: str) -> bool:
        """Whether nothing but one statement will be written, which is a transaction by itself."""
        return (
            len(batch) <= ROWS
            and self._touched.get(run_id) == to_second(at)
            and all(self._is_one_row(run_id, event) for event in batch)
        )

    def _is_one_row(self, run_id: str, event: Event) -> bool:
        match event:
            case events.UnitStarted():
                return not event.respawn and self._counted.get((run_id, event.step)) == event.of
            case events.UnitFinished():
                return blobs.is_inline(event.value)
        return False

    def _refuse_ends(self, run_id: str, batch: Sequence[Event]) -> None:
        """Raise IllegalTransition for a unit whose row says that it does not run, as the tables of moves have it."""
        began = {event.unit_id for event in batch if isinstance(event, events.UnitStarted)}
        for event in batch:
            if isinstance(event, events.UnitFinished) and event.unit_id not in began:
                self._move_unit(run_id, event.unit_id, "unit.finished", _status(event))

    def _touch(self, run_id: str, at: str, *, units_alone: bool) -> None:
        """Say when the run changed; while units alone come and go, once a second.

        The row holds the plan and the params too, and SQLite goes over all of it to change any part.
        """
        second = to_second(at)
        if not units_alone or self._touched.get(run_id) != second:
            self._db.execute("UPDATE runs SET updated_at = ? WHERE run_id = ?", (at, run_id))
            self._touched[run_id] = second

    def _write(self, run_id: str, event: Event, at: str) -> None:
        match event:
            case events.UnitStarted():
                self._unit_started(run_id, event, at)
            case events.UnitReused():
                self._unit_reused(run_id, event, at)
            case events.UnitFinished():
                self._unit_finished(run_id, event, at)
            case events.StepSettled():
                self._step_settled(run_id, event, at)
            case events.StepLooped():
                self._move_step(run_id, event.step, "step.looped", "pending")
                self._db.execute(
                    "UPDATE steps SET loop = ?, feedback = ? WHERE run_id = ? AND step = ?",
                    (event.loop, event.feedback, run_id, event.step),
                )
                self._happened.entry(run_id, at, "step.looped", event.step, status="pending")
            case events.StepRejected():
                self._move_step(run_id, event.step, "step.rejected", "pending")
                self._step_held(run_id, event.step, "gate_rejected", event)
                self._happened.entry(run_id, at, "step.rejected", event.step, status="pending")
            case events.OutputsUnresolved():
                self._move_step(run_id, event.step, "outputs.unresolved", "pending")
                self._step_held(run_id, event.step, event.reason, event)  # a completion taken back leaves no event
            case events.RunSettled():
                outputs, blob = blobs.store(self._db, event.outputs)
                self._move_run(run_id, "run.settled", event.status)
                query = "UPDATE runs SET outputs = ?, outputs_blob = ? WHERE run_id = ?"
                self._db.execute(query, (outputs, blob, run_id))
                self._happened.entry(run_id, at, "run.settled", status=event.status)
            case events.RunResumed():
                self._move_run(run_id, "run.resumed", "active")
                self._reopen(run_id)
                self._happened.entry(run_id, at, "run.resumed", status="active")
            case events.RunAbandoned():
                self._move_run(run_id, "run.abandoned", "failed")
                self._happened.entry(run_id, at, "run.abandoned", status="failed")
            case events.NoticeRaised():
                self._db.execute(
                    "INSERT OR IGNORE INTO notices VALUES (?, ?, ?, ?)",
                    (run_id, event.step, event.unit or "", event.text),
                )

    def _reopen(self, run_id: str) -> None:
        """``resume``: what failed or was blocked is pending again."""
        query = "SELECT step FROM steps WHERE run_id = ? AND status IN ('failed', 'blocked')"
        for (step,) in self._db.execute(query, (run_id,)).fetchall():
            self._move_step(run_id, step, "run.resumed", "pending")
            self._db.execute(
                "UPDATE steps SET reason = NULL, summary = NULL, finished_at = NULL, failed_units = 0"
                " WHERE run_id = ? AND step = ?",
                (run_id, step),
            )

    def _move_run(self, run_id: str, event: str, after: str) -> None:
        """A run's new status, when it may follow; raises IllegalTransition, which takes the whole decision back."""
        found = self._one("SELECT status FROM runs WHERE run_id = ?", run_id)
        status = RUN.move(cast(str, found), event, after)
        self._db.execute("UPDATE runs SET status = ? WHERE run_id = ?", (status, run_id))

    def _move_step(self, run_id: str, step: int, event: str, after: str) -> None:
        row = self._db.execute("SELECT status FROM steps WHERE run_id = ? AND step = ?", (run_id, step)).fetchone()
        status = STEP.move(None if row is None else row[0], event, after)
        self._db.execute("UPDATE steps SET status = ? WHERE run_id = ? AND step = ?", (status, run_id, step))

    def _move_unit(self, run_id: str, unit_id: str, event: str, after: str) -> str:
        """An attempt's new status, when it may follow its row's; ``running`` and started again: its driver was lost."""
        query = "SELECT status FROM units WHERE run_id = ? AND unit_id = ?"
        row = self._db.execute(query, (run_id, unit_id)).fetchone()
        before = None if row is None else row[0]
        if before == "running" and event == "unit.started":
            before = UNIT.move(before, "driver.ended", "lost")
        return UNIT.move(before, event, after)

    def _unit_started(self, run_id: str, event: events.UnitStarted, at: str) -> None:
        if event.respawn:
            self._move_unit(run_id, event.unit_id, "unit.started", "running")
            self._db.execute(
                "UPDATE units SET spawns = spawns + 1, started_at = ? WHERE run_id = ? AND unit_id = ?",
                (at, run_id, event.unit_id),
            )
            self._happened.entry(run_id, at, "unit.started", event.step, event.unit_id, "running")
        else:
            self._happened.start(run_id, at, event)
        self._unit_counted(run_id, event.step, event.of, at)

    def _unit_reused(self, run_id: str, event: events.UnitReused, at: str) -> None:
        self._db.execute(
            "INSERT INTO units (run_id, unit_id, step, key, role, attempt, loop, cause, input_hash, item_index, spawns,"
            " status, started_at, finished_at, result, result_blob, reused_run, reused_unit)"
            " SELECT ?, ?, ?, ?, ?, 1, ?, 'reused', ?, ?, 0, 'completed', ?, ?, result, result_blob, run_id, unit_id"
            " FROM units WHERE run_id = ? AND unit_id = ?",
            (run_id, event.key, event.step, event.key, event.role, event.loop, event.input_hash, event.index, at, at,
             event.from_run, event.from_unit),
        )  # fmt: skip
        self._unit_counted(run_id, event.step, event.of, at)
        self._happened.entry(run_id, at, "unit.reused", event.step, event.key, "completed")

    def _unit_counted(self, run_id: str, step: int, of: int, at: str) -> None:
        """A unit of a step began: so has the step, which has ``of`` units. Written once, for units begin by thousands."""
        if self._counted.get((run_id, step)) == of:
            return
        self._db.execute(
            "UPDATE steps SET started_at = coalesce(started_at, ?), unit_count = ? WHERE run_id = ? AND step = ?",
            (at, of, run_id, step),
        )
        self._counted[run_id, step] = of

    def _unit_finished(self, run_id: str, event: events.UnitFinished, at: str) -> None:
        status = UNIT.move("running", "unit.finished", _status(event))
        result, blob = blobs.store(self._db, event.value)
        errors = encoded(list(event.errors)) if event.errors else None
        columns = Ended(event.reason, event.diagnostic, errors, event.tokens, result, blob)
        self._happened.end(run_id, at, event.step, event.unit_id, status, columns)

    def _step_settled(self, run_id: str, event: events.StepSettled, at: str) -> None:
        artifact, blob = blobs.store(self._db, event.artifact)
        self._move_step(run_id, event.step, "step.settled", event.status)
        self._db.execute(
            "UPDATE steps SET reason = ?, summary = ?, selected = ?, unit_count = ?, failed_units = ?,"
            " finished_at = ?, artifact = ?, artifact_blob = ? WHERE run_id = ? AND step = ?",
            (event.reason, event.summary, event.selected, event.unit_count, event.failed_units, at,
             artifact, blob, run_id, event.step),
        )  # fmt: skip
        self._happened.entry(run_id, at, "step.settled", event.step, status=event.status)

    def _step_held(
        self, run_id: str, step: int, reason: str, event: events.StepRejected | events.OutputsUnresolved
    ) -> None:
        self._db.execute(
            "UPDATE steps SET reason = ?, summary = ?, unit_count = ?, failed_units = ? WHERE run_id = ? AND step = ?",
            (reason, event.summary, event.unit_count, event.failed_units, run_id, step),
        )


def _status(event: events.UnitFinished) -> AttemptStatus:
    return "completed" if event.reason is None else "failed"
