"""Moving whole runs: out of the journal, into a file of their own, and back.

A run goes with the runs it composes. An exported file is a state file that holds one such tree and nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from akm_run.faults import UsageFault
from akm_run.journal.excerpts import one_moment
from akm_run.journal.schema import TABLES, create, tables, transaction
from akm_run.journal.trouble import explained
from akm_run.journal.writer import Journal

_BY_RUN = ("runs", "steps", "units", "events", "notices")


def tree_of(journal: Journal, run_id: str) -> list[str]:
    """``run_id`` and all runs below it."""
    return [run_id, *(below for child in journal.children(run_id) for below in tree_of(journal, child.run_id))]


def holds_runs(path: Path) -> bool:
    """Whether the file at ``path`` is an undamaged database with the tables of a state file, of any version."""
    with closing(sqlite3.connect(path, isolation_level=None)) as found:
        try:
            return tables(found) >= TABLES and found.execute("PRAGMA quick_check").fetchone()[0] == "ok"
        except sqlite3.DatabaseError:
            return False


class Archive:
    """Whole runs of an open journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._db = journal.connection

    def delete(self, run_ids: Sequence[str]) -> None:
        """Forget the runs, all or none; results that nothing else refers to go with them."""
        self._journal.require_writable()
        with transaction(self._db):
            for table in reversed(_BY_RUN):
                self._db.executemany(f"DELETE FROM {table} WHERE run_id = ?", [(run_id,) for run_id in run_ids])
            self._db.execute(
                "DELETE FROM blobs WHERE sha256 NOT IN"
                " (SELECT result_blob FROM units WHERE result_blob IS NOT NULL"
                " UNION SELECT artifact_blob FROM steps WHERE artifact_blob IS NOT NULL"
                " UNION SELECT outputs_blob FROM runs WHERE outputs_blob IS NOT NULL)"
            )

    def compact(self) -> bool:
        """Give the space of what was deleted back to the file system; ``False`` when others are using the file.

        They will use the space, so nothing is lost by leaving it.
        """
        try:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError:
            return False
        return True

    def export(self, run_ids: Sequence[str], path: Path, target: Path) -> None:
        """Write the runs to a new state file at ``path``; raises UsageFault about ``target`` when that cannot be done."""
        with explained(target, "file"):
            other = sqlite3.connect(path, isolation_level=None)
            try:
                create(other)
                with one_moment(self._journal):  # a driver may be writing to it
                    _copy(self._journal, other, run_ids)
                other.execute("PRAGMA journal_mode=DELETE")  # one file, without companions
            finally:
                other.close()

    def import_from(self, other: Journal) -> list[str]:
        """Take over every run of ``other``, all or none; their ids. Raises UsageFault when that cannot be done.

        A run whose parent is not among them comes as a run of its own: what it is to a run that is here already is not
        for the file to say.
        """
        run_ids = [row[0] for row in other.connection.execute("SELECT run_id FROM runs ORDER BY rowid")]
        for run_id in run_ids:
            if self._journal.run(run_id) is not None:
                raise UsageFault(f'run {run_id} is in "{self._journal.path}" already: nothing was imported')
        try:
            _copy(other, self._db, run_ids, detached=True)
        except sqlite3.IntegrityError as error:  # it came at this very moment, or rows refer to what is not there
            raise UsageFault(f"the runs cannot be taken over ({error}): nothing was imported") from error
        return run_ids


def _copy(source: Journal, target: sqlite3.Connection, run_ids: Sequence[str], *, detached: bool = False) -> None:
    """Copy the runs, all or none; ``detached``: those whose parent is not among them forget it."""
    with transaction(target):
        for name in _blobs_of(source, run_ids):
            for row in _read(source, "SELECT sha256, data FROM blobs WHERE sha256 = ?", name):
                target.execute("INSERT OR IGNORE INTO blobs (sha256, data) VALUES (?, ?)", row)
        for table in _BY_RUN:
            columns = [row[1] for row in target.execute(f"PRAGMA table_info({table})")]
            listed, places = ", ".join(columns), ", ".join("?" * len(columns))
            # the order of attempts and notices is that of rows
            order = "" if table == "events" else " ORDER BY rowid"
            for run_id in run_ids:
                rows = _read(source, f"SELECT {listed} FROM {table} WHERE run_id = ?{order}", run_id)
                target.executemany(f"INSERT INTO {table} ({listed}) VALUES ({places})", rows)
        for run_id in run_ids if detached else ():
            (parent,) = target.execute("SELECT parent_run FROM runs WHERE run_id = ?", (run_id,)).fetchone()
            if parent not in run_ids:
                query = "UPDATE runs SET parent_run = NULL, parent_unit = NULL, parent_hash = NULL WHERE run_id = ?"
                target.execute(query, (run_id,))


def _blobs_of(source: Journal, run_ids: Sequence[str]) -> Iterator[str]:
    for table, column in (("units", "result_blob"), ("steps", "artifact_blob"), ("runs", "outputs_blob")):
        for run_id in run_ids:
            query = f"SELECT DISTINCT {column} FROM {table} WHERE run_id = ? AND {column} IS NOT NULL"
            yield from (row[0] for row in _read(source, query, run_id))


def _read(source: Journal, query: str, value: str) -> Iterator[tuple[Any, ...]]:
    """The rows of ``source``; what is wrong with that file is not blamed on the one that is written."""
    with explained(source.path):
        yield from source.connection.execute(query, (value,))
