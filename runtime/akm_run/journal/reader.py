"""What the journal knows, read back. Readers never wait for a driver."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast, get_args

import msgspec

from akm_run.events import Event, RunStatus
from akm_run.faults import UsageFault
from akm_run.journal import blobs
from akm_run.journal.trouble import DamagedFault
from akm_run.rows import EventRow, Notice, RunRow, StepRow, UnitRow, run_status
from akm_run.values import as_tokens, decoded, is_text
from akm_schemas.bounds import SAFE_INTEGER
from akm_schemas.json_types import Json, JsonObject

_RUN = "run_id, status, title, ref, plan_hash, content_hash, width, exports, base_commit, parent_run, parent_unit, reuses, created_at, updated_at"
_STEP = "step, step_id, kind, status, reason, summary, selected, loop, feedback, unit_count, failed_units, started_at, finished_at"
_UNIT = (
    "unit_id, step, key, role, attempt, loop, cause, input_hash, item_index, spawns, status, reason, diagnostic, errors,"
    " tokens, started_at, finished_at, reused_run, reused_unit"
)


def identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file at ``path``; ``None`` where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Reader:
    """An open state file to read from. ``run_id`` must exist unless said otherwise."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db = connection
        self.path = path
        self.identity = identity(path)

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection, for the other modules of this package."""
        return self._db

    def close(self) -> None:
        """Give the file back."""
        self._db.close()

    def run(self, run_id: str) -> RunRow | None:
        """The run, or ``None`` when it is unknown; raises DamagedFault for one with a status that there is none of."""
        if not is_text(run_id):
            return None
        row = self._db.execute(f"SELECT {_RUN} FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if row is not None and row[1] not in get_args(RunStatus):
            raise DamagedFault(self.path, f"run {run_id} has a status that there is none of")
        return None if row is None else _run_row(row)

    def runs(self) -> list[RunRow]:
        """All runs, newest first."""
        rows = self._db.execute(f"SELECT {_RUN} FROM runs ORDER BY created_at DESC, run_id DESC")
        return [_run_row(row) for row in rows]

    def children(self, run_id: str) -> list[RunRow]:
        """The runs that units of ``run_id`` composed, oldest first, whatever the clock did in between."""
        query = f"SELECT {_RUN} FROM runs WHERE parent_run = ? ORDER BY rowid"
        return [_run_row(row) for row in self._db.execute(query, (run_id,))]

    def child(self, parent_run: str, parent_unit: str, parent_hash: str) -> RunRow | None:
        """The run that a unit composed; ``parent_unit`` is the unit's id without ``~r<n>``."""
        query = f"SELECT {_RUN} FROM runs WHERE parent_run = ? AND parent_unit = ? AND parent_hash = ?"
        row = self._db.execute(query, (parent_run, parent_unit, parent_hash)).fetchone()
        return None if row is None else _run_row(row)

    def child_of_unit(self, parent_run: str, parent_unit: str) -> RunRow | None:
        """The newest run that a unit composed, whatever its inputs were."""
        query = f"SELECT {_RUN} FROM runs WHERE parent_run = ? AND parent_unit = ? ORDER BY rowid DESC"
        row = self._db.execute(query, (parent_run, parent_unit)).fetchone()
        return None if row is None else _run_row(row)

    def completed_units(self, run_id: str) -> dict[tuple[str, str], str]:
        """(unit key, input hash) -> id of the last attempt that completed; empty for an unknown run."""
        query = "SELECT key, input_hash, unit_id FROM units WHERE run_id = ? AND status = 'completed' ORDER BY rowid"
        return {(key, digest): unit_id for key, digest, unit_id in self._db.execute(query, (run_id,))}

    def completed_count(self, run_id: str, step: int, loop: int) -> int:
        """How many units of a step have completed in round ``loop``; judge calls are none."""
        query = (
            "SELECT count(DISTINCT key) FROM units"
            " WHERE run_id = ? AND step = ? AND loop = ? AND role = 'unit' AND status = 'completed'"
        )
        return int(self._db.execute(query, (run_id, step, loop)).fetchone()[0])

    def unit_value(self, run_id: str, unit_id: str) -> Json:
        """The result of a completed attempt."""
        query = (
            "SELECT coalesce(result, data) FROM units LEFT JOIN blobs ON sha256 = result_blob"
            " WHERE run_id = ? AND unit_id = ?"
        )
        row = self._db.execute(query, (run_id, unit_id)).fetchone()
        return None if row is None else self.stored(row[0])

    def plan_bytes(self, run_id: str) -> bytes:
        """The plan as it was published."""
        return cast(bytes, self._one("SELECT plan FROM runs WHERE run_id = ?", run_id))

    def params(self, run_id: str) -> JsonObject:
        """The params snapshot."""
        return cast(JsonObject, self.stored(self._one("SELECT params FROM runs WHERE run_id = ?", run_id)))

    def outputs(self, run_id: str) -> JsonObject | None:
        """The stored exports, or ``None`` when there are none (yet)."""
        query = "SELECT outputs, blobs.rowid FROM runs LEFT JOIN blobs ON sha256 = outputs_blob WHERE run_id = ?"
        row = self._db.execute(query, (run_id,)).fetchone()
        return None if row is None else cast(JsonObject | None, self._large(row[0], row[1]))

    def steps(self, run_id: str) -> list[StepRow]:
        """All steps in order, with their artifacts."""
        query = f"SELECT {_STEP}, artifact, blobs.rowid FROM steps LEFT JOIN blobs ON sha256 = artifact_blob"
        rows = self._db.execute(f"{query} WHERE run_id = ? ORDER BY step", (run_id,))
        return [StepRow(*[*row[:-2], self._large(row[-2], row[-1])]) for row in rows]

    def units(self, run_id: str, *, values: bool = False) -> list[UnitRow]:
        """All attempts in the order in which they started; with ``values``, those that a pending step still needs."""
        result = "NULL"
        if values:
            result = (
                "CASE WHEN step IN (SELECT step FROM steps WHERE run_id = :run_id AND status NOT IN ('completed', 'skipped'))"
                " THEN coalesce(result, (SELECT data FROM blobs WHERE sha256 = result_blob)) END"
            )
        query = f"SELECT {_UNIT}, {result} FROM units WHERE run_id = :run_id ORDER BY rowid"
        return [self._unit_row(row) for row in self._db.execute(query, {"run_id": run_id})]

    def spent(self, run_id: str) -> tuple[int, int]:
        """Dispatches and reported tokens over the run's life; of tokens no more than a JSON number keeps exactly.

        Added up here, for SQLite's sums overflow, and edited rows can hold anything.
        """
        dispatches = tokens = 0
        for spawns, count in self._db.execute("SELECT spawns, tokens FROM units WHERE run_id = ?", (run_id,)):
            dispatches += spawns
            tokens += as_tokens(count) or 0
        return dispatches, min(tokens, SAFE_INTEGER)

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

    def _unit_row(self, row: tuple[Any, ...]) -> UnitRow:
        errors = () if row[13] is None else tuple(cast(list[str], self.stored(row[13])))
        value = None if row[-1] is None else self.stored(row[-1])
        fields = [*row[:13], errors, as_tokens(row[14]), *row[15:-1], value]
        return UnitRow(*fields)

    def _large(self, inline: object, rowid: int | None) -> Json:
        """A value that is inline or in a blob."""
        return self.stored(inline if rowid is None else blobs.read(self._db, rowid))

    def stored(self, data: object) -> Json:
        """A stored value; raises DamagedFault for bytes that the journal never wrote."""
        if data is None:
            return None
        try:
            return decoded(cast(bytes, data))
        except (msgspec.DecodeError, ValueError, TypeError) as error:
            raise DamagedFault(self.path, f"a stored value is no canonical JSON ({error})") from error


def _run_row(row: tuple[Any, ...]) -> RunRow:
    fields = [row[0], run_status(row[1]), *row[2:7], bool(row[7]), *row[8:]]
    return RunRow(*fields)
