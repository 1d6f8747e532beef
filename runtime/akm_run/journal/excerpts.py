"""Runs read for showing: rows one by one, and of each stored value no more than its beginning.

A report holds thousands of results that may have megabytes each; none of them is in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from akm_run.journal.writer import Journal
from akm_run.rows import StepRow
from akm_run.values import as_tokens

_ATTEMPT: Final = (
    "unit_id, step, key, role, attempt, loop, cause, item_index, spawns, status, reason, diagnostic, tokens,"
    " started_at, finished_at, reused_run"
)  # the fields of Attempt
_TOKENS: Final = 12  # where the count of tokens is among them
_STEP: Final = (
    "step, step_id, kind, status, reason, summary, selected, loop, feedback, unit_count, failed_units, started_at,"
    " finished_at"
)  # the fields of StepRow


class Excerpt(Struct, frozen=True):
    """The first bytes of a value's canonical JSON, and how many it has in all."""

    head: bytes
    size: int

    @property
    def whole(self) -> bool:
        """Whether the head is all there is."""
        return len(self.head) == self.size


class Attempt(Struct, frozen=True):
    """An attempt as it is shown. ``cause`` as in ``events``; ``result`` is ``None`` where nothing is stored."""

    unit_id: str
    step: int
    key: str
    role: str
    attempt: int
    loop: int
    cause: str
    item_index: int | None
    spawns: int
    status: str
    reason: str | None
    diagnostic: str | None
    tokens: int | None
    started_at: str
    finished_at: str | None
    reused_run: str | None
    result: Excerpt | None = None


@contextmanager
def one_moment(journal: Journal) -> Iterator[None]:
    """Everything read within the block is of one moment, however fast a driver writes; it waits for nobody.

    The connection cannot write meanwhile.
    """
    journal.connection.execute("PRAGMA query_only=ON")
    journal.connection.execute("BEGIN")
    try:
        yield
    finally:
        journal.connection.execute("ROLLBACK")
        journal.connection.execute("PRAGMA query_only=OFF")


def attempts(journal: Journal, run_id: str, most: int) -> Iterator[Attempt]:
    """All attempts in the order in which they started, each result as its first ``most`` bytes; 0: none at all.

    The rows of a run are numbered anew when it is imported, in the same order.
    """
    head, size = _head("result", most)
    query = f"SELECT {_ATTEMPT}, {head}, {size} FROM units"
    if most:
        query += " LEFT JOIN blobs ON sha256 = result_blob"
    rows = journal.connection.execute(f"{query} WHERE run_id = ? ORDER BY units.rowid", (run_id,))
    for *row, start, length in rows:
        row[_TOKENS] = as_tokens(row[_TOKENS])
        attempt = Attempt(*row)
        yield attempt if start is None else replace(attempt, result=Excerpt(start, length))


def attempt_count(journal: Journal, run_id: str) -> int:
    """The number of attempts of a run."""
    query = "SELECT count(*) FROM units WHERE run_id = ?"
    return int(journal.connection.execute(query, (run_id,)).fetchone()[0])


def steps_with_heads(journal: Journal, run_id: str, most: int) -> list[tuple[StepRow, Excerpt | None]]:
    """All steps in order without their artifacts, beside each the first ``most`` bytes of it."""
    head, size = _head("artifact", most)
    query = (
        f"SELECT {_STEP}, {head}, {size} FROM steps LEFT JOIN blobs ON sha256 = artifact_blob"
        " WHERE run_id = ? ORDER BY step"
    )
    found = []
    for *row, start, length in journal.connection.execute(query, (run_id,)):
        found.append((StepRow(*row), None if start is None else Excerpt(start, length)))
    return found


def with_artifact(journal: Journal, run_id: str, row: StepRow) -> StepRow:
    """``row`` with what its step promoted, whole."""
    query = "SELECT coalesce(artifact, data) FROM steps LEFT JOIN blobs ON sha256 = artifact_blob"
    found = journal.connection.execute(f"{query} WHERE run_id = ? AND step = ?", (run_id, row.index)).fetchone()
    return replace(row, artifact=None if found is None else journal.stored(found[0]))


def _head(column: str, most: int) -> tuple[str, str]:
    """SQL for the beginning of a stored value and for its size, both in bytes."""
    if not most:
        return "NULL", "0"
    stored = f"coalesce({column}, data)"
    return f"CAST(substr(CAST({stored} AS BLOB), 1, {int(most)}) AS BLOB)", f"length(CAST({stored} AS BLOB))"
