"""What each column of a state file may hold: statuses, ids, times, counts, JSON. The tables say less, for SQLite checks
no types; a file that somebody else made, or edited, can hold anything.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct

from akm_run.events import Cause, Role, RunStatus, StepStatus
from akm_run.run_ids import is_run_id
from akm_run.transitions import RUN, STEP, UNIT
from akm_run.values import is_text

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", re.ASCII)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LARGEST: Final = 2**53


class Kind(Struct, frozen=True):
    """What a value is to be: ``named`` for a person, ``holds`` for the check."""

    named: str
    holds: Callable[[object], bool]


class Misfit(Struct, frozen=True):
    """A value that no version of this program writes; ``row`` is the row's first columns, for a person. ``run`` is the
    run that it belongs to, as far as that can be known."""

    table: str
    row: str
    column: str
    expected: str
    run: str | None = None

    def __str__(self) -> str:
        return f'table "{self.table}", row {self.row}, column "{self.column}": the value is not {self.expected}'


_Table: TypeAlias = Mapping[str, Kind]
_StepKind: TypeAlias = Literal["unit", "map", "route"]


def _is_time(value: object) -> bool:
    if not isinstance(value, str) or _TIME.fullmatch(value) is None:
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_json(value: object) -> bool:
    if not isinstance(value, bytes | str):
        return False
    try:
        msgspec.json.decode(value)
    except (msgspec.DecodeError, ValueError):
        return False
    return True


def _is_texts(value: object) -> bool:
    try:
        msgspec.json.decode(value if isinstance(value, bytes) else b"", type=list[str])
    except (msgspec.DecodeError, ValueError):
        return False
    return True


def _is_object(value: object) -> bool:
    try:
        msgspec.json.decode(value if isinstance(value, bytes) else b"", type=dict[str, object])
    except (msgspec.DecodeError, ValueError):
        return False
    return True


def _one_of(words: object) -> Kind:
    names = get_args(words)
    return Kind(f"one of {', '.join(sorted(names))}", lambda value: value in names)


def _from(least: int, most: int = _LARGEST) -> Kind:
    return Kind(f"a whole number from {least}", lambda value: isinstance(value, int) and least <= value <= most)


def _or_none(kind: Kind) -> Kind:
    return Kind(f"{kind.named} (or nothing)", lambda value: value is None or kind.holds(value))


_ID: Final = Kind("a run id", is_run_id)
_TEXT: Final = Kind("text", lambda value: isinstance(value, str) and is_text(value))
_MOMENT: Final = Kind("a UTC time such as 2026-03-01T12:00:00.123Z", _is_time)
_JSON: Final = Kind("JSON", _is_json)
_OBJECT: Final = Kind("a JSON object", _is_object)
_BYTES: Final = Kind("bytes", lambda value: isinstance(value, bytes))
_FLAG: Final = Kind("0 or 1", lambda value: value in (0, 1))
_SHA256: Final = Kind(
    "a SHA-256 in hexadecimal", lambda value: isinstance(value, str) and bool(_DIGEST.fullmatch(value))
)
_UNIT_STATUS: Final = frozenset(move.after for move in UNIT.moves) - {"lost"}
_EVENT_TYPES: Final = frozenset(
    move.event for machine in (RUN, STEP, UNIT) for move in machine.moves if move.event != "driver.ended"
) - {"outputs.unresolved"}
_STATUSES: Final = frozenset({*get_args(RunStatus), *get_args(StepStatus), *_UNIT_STATUS})

COLUMNS: Final[Mapping[str, _Table]] = {
    "runs": {
        "run_id": _ID,
        "status": _one_of(RunStatus),
        "title": _TEXT,
        "ref": _TEXT,
        "plan": _BYTES,
        "plan_hash": _TEXT,
        "content_hash": _TEXT,
        "params": _OBJECT,
        "width": _from(1),
        "exports": _FLAG,
        "outputs": _or_none(_OBJECT),
        "base_commit": _or_none(_TEXT),
        "parent_run": _or_none(_ID),
        "parent_unit": _or_none(_TEXT),
        "parent_hash": _or_none(_TEXT),
        "reuses": _or_none(_ID),
        "created_at": _MOMENT,
        "updated_at": _MOMENT,
        "outputs_blob": _or_none(_SHA256),
    },
    "steps": {
        "run_id": _ID,
        "step": _from(0),
        "step_id": _TEXT,
        "kind": _one_of(_StepKind),
        "status": _one_of(StepStatus),
        "reason": _or_none(_TEXT),
        "summary": _or_none(_TEXT),
        "selected": _or_none(_TEXT),
        "loop": _from(1),
        "feedback": _or_none(_TEXT),
        "unit_count": _from(0),
        "failed_units": _from(0),
        "started_at": _or_none(_MOMENT),
        "finished_at": _or_none(_MOMENT),
        "artifact": _or_none(_JSON),
        "artifact_blob": _or_none(_SHA256),
    },
    "units": {
        "run_id": _ID,
        "unit_id": _TEXT,
        "step": _from(0),
        "key": _TEXT,
        "role": _one_of(Role),
        "attempt": _from(1),
        "loop": _from(1),
        "cause": _one_of(Cause),
        "input_hash": _TEXT,
        "item_index": _or_none(_from(0)),
        "spawns": _from(0),
        "status": Kind(f"one of {', '.join(sorted(_UNIT_STATUS))}", lambda value: value in _UNIT_STATUS),
        "reason": _or_none(_TEXT),
        "diagnostic": _or_none(_TEXT),
        "errors": _or_none(Kind("a JSON list of texts", _is_texts)),
        "tokens": _or_none(_from(0, most=2**63 - 1)),  # older versions wrote what SQLite holds
        "started_at": _MOMENT,
        "finished_at": _or_none(_MOMENT),
        "result": _or_none(_JSON),
        "result_blob": _or_none(_SHA256),
        "reused_run": _or_none(_ID),
        "reused_unit": _or_none(_TEXT),
    },
    "events": {
        "run_id": _ID,
        "seq": _from(1),
        "at": _MOMENT,
        "type": Kind("the type of an event", lambda value: value in _EVENT_TYPES),
        "step": _or_none(_from(0)),
        "unit_id": _or_none(_TEXT),
        "status": _or_none(Kind("a status", lambda value: value in _STATUSES)),
    },
    "notices": {"run_id": _ID, "step": _from(0), "unit_id": _TEXT, "text": _TEXT},
    "blobs": {"sha256": _SHA256, "data": _JSON},
}
_NAMES: Final = {"units": 2, "steps": 2, "events": 2, "notices": 3}  # how many columns name a row; else the first


def misfits(connection: sqlite3.Connection) -> Iterator[Misfit]:
    """Every value of the file that is not what its column holds, in order of tables; changes nothing.

    Rows and statuses are looked at one by one, and never more than one value of a column is in memory. Raises
    ``sqlite3.Error`` where a table or column is not there.
    """
    before = connection.text_factory
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    try:
        for table, kinds in COLUMNS.items():
            for values in connection.execute(f"SELECT {', '.join(kinds)} FROM {table}"):
                for column, value in zip(kinds, values, strict=True):
                    if not kinds[column].holds(value):
                        run = values[0] if table != "blobs" and isinstance(values[0], str) else None
                        yield Misfit(table, _row(values[: _NAMES.get(table, 1)]), column, kinds[column].named, run)
    finally:
        connection.text_factory = before


def _row(values: tuple[object, ...]) -> str:
    """The columns that name a row, clipped and quoted where they are text."""
    return " ".join(f'"{value[:100]}"' if isinstance(value, str) else ascii(value)[:100] for value in values)
