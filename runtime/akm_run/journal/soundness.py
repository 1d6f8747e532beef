"""Whether a state file holds only what this program writes: asked when something went wrong that should not have.

SQLite's own checks come first, then what it cannot know: statuses, places, times, and values that have to be JSON.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import Final

from akm_run.journal.columns import misfits
from akm_run.journal.schema import SCHEMA_VERSION, version

# What to look for beyond single values; a query that finds a row has found a fault, and its value says where.
_FAULTS: Final = (
    (
        'table "steps", row "{}", column "step": a step stands at a place that its run has not',
        "SELECT run_id FROM steps AS s WHERE s.step NOT BETWEEN 0 AND (SELECT count(*) - 1 FROM steps WHERE run_id = s.run_id)",
    ),
    (
        'table "units", row "{}", column "step": a unit belongs to no step',
        "SELECT run_id FROM units LEFT JOIN steps USING (run_id, step) WHERE step_id IS NULL",
    ),
    (
        'table "events", row "{}", column "step": an event belongs to no step',
        "SELECT run_id FROM events LEFT JOIN steps USING (run_id, step) WHERE step IS NOT NULL AND step_id IS NULL",
    ),
    (
        'table "runs", row "{}", column "outputs_blob": the value is not a JSON object',
        "SELECT run_id FROM runs JOIN blobs ON sha256 = outputs_blob WHERE substr(CAST(data AS TEXT), 1, 1) <> '{'",
    ),
    (
        'table "runs", row "{}", column "parent_run": a run is its own parent, or below itself',
        "WITH RECURSIVE up (run, above) AS (SELECT run_id, parent_run FROM runs WHERE parent_run IS NOT NULL"
        " UNION SELECT up.run, runs.parent_run FROM up JOIN runs ON run_id = above WHERE parent_run IS NOT NULL)"
        " SELECT run FROM up WHERE run = above",
    ),
)


# The runs that rows of run ? may have to do with: those that it composes, belongs to or takes over from, and theirs.
_KIN: Final = (
    "WITH RECURSIVE links (a, b) AS (SELECT run_id, parent_run FROM runs UNION ALL SELECT parent_run, run_id FROM runs"
    " UNION ALL SELECT run_id, reuses FROM runs),"
    " kin (run) AS (SELECT ? UNION SELECT b FROM kin JOIN links ON a = run) SELECT run FROM kin"
)


def fault_in(path: Path, runs: Collection[str] = ()) -> str | None:
    """The first thing in the state file at ``path`` that no version of this program wrote; ``None`` for a sound file.

    With ``runs``, rows of runs that these have nothing to do with are passed over. Reads all of the file and changes
    nothing. A file that is not there or cannot be read is at fault too.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as raw:
            raw.execute("PRAGMA trusted_schema=OFF")
            (verdict,) = raw.execute("PRAGMA integrity_check(1)").fetchone()
            if verdict != "ok":
                return str(verdict)
            if (orphan := raw.execute("PRAGMA foreign_key_check").fetchone()) is not None:
                return f'table "{orphan[0]}": a row refers to one of "{orphan[2]}" that is not there'
            if version(raw) != SCHEMA_VERSION:  # the columns of older files are told by bringing them up
                return None
            kin = {row[0] for run in runs for row in raw.execute(_KIN, (run,))}
            for misfit in misfits(raw):
                if not kin or misfit.run is None or misfit.run in kin:
                    return str(misfit)
            found = (
                fault.format(run) for fault, query in _FAULTS for (run,) in raw.execute(query) if not kin or run in kin
            )
            return next(found, None)
    except sqlite3.Error as error:
        return str(error)
