"""What happens to units and what the stream of events is told, written by one statement for a whole decision.

The rows of a decision are inserted into the view ``happened``, and triggers make of each its entry in ``events`` and, for
the start or the end of a unit, its row in ``units``. View and triggers are a connection's own (``TEMP``): the state file
holds none of them. Before and after each statement Python hands over the interpreter's lock, for which the threads of
all units wait, and units come and go by thousands.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import astuple

from akm_run.events import UnitStarted

ROWS: Final = 16  # that one statement writes; sqlite3 keeps 128 statements that it has prepared
NO_SUCH_UNIT: Final = "a unit that is not running cannot end"  # what SQLite raises IntegrityError with

Column: TypeAlias = str | int | bytes | None


class Ended(Struct, frozen=True):
    """The columns in which the end of a unit is written down."""

    reason: str | None
    diagnostic: str | None
    errors: bytes | None
    tokens: int | None
    result: bytes | None
    result_blob: str | None


_ENTRY: Final = ("run_id", "at", "type", "step", "unit_id", "status")
_START: Final = ("key", "role", "attempt", "loop", "cause", "input_hash", "item_index")
_END: Final = Ended.__struct_fields__
_COLUMNS: Final = (*_ENTRY, "happens", *_START, *_END)
_VIEW: Final = f"""
CREATE TEMP VIEW happened ({", ".join(_COLUMNS)}) AS SELECT {", ".join(["NULL"] * len(_COLUMNS))};
CREATE TEMP TRIGGER happened_to_a_run INSTEAD OF INSERT ON happened BEGIN
  INSERT INTO events (run_id, seq, at, type, step, unit_id, status)
    VALUES (new.run_id, coalesce((SELECT max(seq) FROM events WHERE run_id = new.run_id), 0) + 1, new.at, new.type,
      new.step, new.unit_id, new.status);
END;
CREATE TEMP TRIGGER happened_a_start INSTEAD OF INSERT ON happened WHEN new.happens = 'start' BEGIN
  INSERT INTO units (run_id, unit_id, step, {", ".join(_START)}, spawns, status, started_at)
    VALUES (new.run_id, new.unit_id, new.step, {", ".join(f"new.{name}" for name in _START)}, 1, new.status, new.at);
END;
CREATE TEMP TRIGGER happened_an_end INSTEAD OF INSERT ON happened WHEN new.happens = 'end' BEGIN
  UPDATE units SET status = new.status, finished_at = new.at, {", ".join(f"{name} = new.{name}" for name in _END)}
    WHERE run_id = new.run_id AND unit_id = new.unit_id AND status = 'running';
  SELECT raise(ABORT, '{NO_SUCH_UNIT}') WHERE changes() != 1;
END;
"""
_NO_START: Final = (None,) * len(_START)
_NO_END: Final = (None,) * len(_END)


class Happened:
    """The rows of the decision that is being written, in their order."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._made = False
        self._rows: list[Column] = []

    def make(self) -> None:
        """The view, once for a connection; outside a transaction, which might be taken back."""
        if not self._made:
            self._db.executescript(_VIEW)
            self._made = True

    def entry(
        self,
        run_id: str,
        at: str,
        kind: str,
        step: int | None = None,
        unit_id: str | None = None,
        status: str | None = None,
    ) -> None:
        """An event and nothing else."""
        self._add(None, run_id, at, kind, step, unit_id, status, _NO_START, _NO_END)

    def start(self, run_id: str, at: str, unit: UnitStarted) -> None:
        """The first spawn of an attempt; raises sqlite3.IntegrityError, when written, for an id that is taken."""
        columns = (unit.key, unit.role, unit.attempt, unit.loop, unit.cause, unit.input_hash, unit.index)
        self._add("start", run_id, at, "unit.started", unit.step, unit.unit_id, "running", columns, _NO_END)

    def end(self, run_id: str, at: str, step: int, unit_id: str, status: str, columns: Ended) -> None:
        """An attempt ended; raises sqlite3.IntegrityError, when written, with ``NO_SUCH_UNIT`` for one that does not run."""
        self._add("end", run_id, at, "unit.finished", step, unit_id, status, _NO_START, astuple(columns))

    def write(self) -> None:
        """Write all rows and forget them: one statement for each ``ROWS`` of them."""
        rows, self._rows = self._rows, []
        width = len(_COLUMNS) * ROWS
        for start in range(0, len(rows), width):
            some = rows[start : start + width]
            self._db.execute(_statement(len(some) // len(_COLUMNS)), some)

    def forget(self) -> None:
        """Drop the rows of a decision that was not written."""
        self._rows.clear()

    def _add(
        self,
        happens: Literal["start", "end"] | None,
        run_id: str,
        at: str,
        kind: str,
        step: int | None,
        unit_id: str | None,
        status: str | None,
        start: tuple[Column, ...],
        end: tuple[Column, ...],
    ) -> None:
        self._rows += (run_id, at, kind, step, unit_id, status, happens, *start, *end)


@cache
def _statement(count: int) -> str:
    row = f"({', '.join('?' * len(_COLUMNS))})"
    return f"INSERT INTO happened VALUES {', '.join([row] * count)}"
