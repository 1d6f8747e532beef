"""Whether a state file holds only what this program writes: asked when something went wrong that should not have."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

# What to look for, by what to say of it; a query that finds a row has found a fault.
_RUN: Final = "('active', 'completed', 'failed', 'blocked')"
_STEP: Final = "('pending', 'completed', 'failed', 'blocked', 'skipped')"
_FAULTS: Final = (
    ("a run has a status that there is none of", f"SELECT 1 FROM runs WHERE status NOT IN {_RUN}"),
    ("a step has a status that there is none of", f"SELECT 1 FROM steps WHERE status NOT IN {_STEP}"),
    (
        "a unit has a status that there is none of",
        "SELECT 1 FROM units WHERE status NOT IN ('running', 'completed', 'failed')",
    ),
    (
        "a run has a time that is none",
        "SELECT 1 FROM runs WHERE julianday(created_at) IS NULL OR julianday(updated_at) IS NULL",
    ),
    (
        "a step stands at a place that its run has not",
        "SELECT 1 FROM steps AS s WHERE s.step NOT BETWEEN 0 AND (SELECT count(*) - 1 FROM steps WHERE run_id = s.run_id)",
    ),
    ("a unit belongs to no step", "SELECT 1 FROM units LEFT JOIN steps USING (run_id, step) WHERE step_id IS NULL"),
    ("something belongs to no run", "SELECT 1 FROM steps LEFT JOIN runs USING (run_id) WHERE runs.status IS NULL"),
)
_VALUES: Final = (
    ("params", "SELECT params FROM runs"),
    ("outputs", "SELECT outputs FROM runs WHERE outputs IS NOT NULL"),
    ("artifact", "SELECT artifact FROM steps WHERE artifact IS NOT NULL"),
    ("result", "SELECT result FROM units WHERE result IS NOT NULL"),
    ("list of errors", "SELECT errors FROM units WHERE errors IS NOT NULL"),
    ("value", "SELECT data FROM blobs"),
)


def fault_in(path: Path) -> str | None:
    """The first thing in the state file at ``path`` that no version of this program wrote; ``None`` for a sound file."""
    if not path.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as raw:
            raw.execute("PRAGMA trusted_schema=OFF")
            for fault, query in _FAULTS:
                if raw.execute(query).fetchone() is not None:
                    return fault
            for name, query in _VALUES:
                if any(not _is_json(data) for (data,) in raw.execute(query)):
                    return f"a stored {name} is no JSON"
    except sqlite3.Error as error:
        return str(error)
    return None


def _is_json(data: object) -> bool:
    if not isinstance(data, bytes | str):
        return False
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, ValueError):
        return False
    return True
