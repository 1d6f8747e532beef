"""The tables of a state file, and how older files are brought up to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SCHEMA_VERSION: Final = 3
APPLICATION_ID: Final = 0x616B6D72  # "akmr": https://sqlite.org/pragma.html#pragma_application_id
TABLES: Final = frozenset({"runs", "steps", "units", "events"})  # of every version

_TABLES = """
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY, status TEXT NOT NULL, title TEXT NOT NULL, ref TEXT NOT NULL, plan BLOB NOT NULL,
  plan_hash TEXT NOT NULL, content_hash TEXT NOT NULL, params BLOB NOT NULL, width INTEGER NOT NULL,
  exports INTEGER NOT NULL, outputs BLOB, base_commit TEXT, parent_run TEXT, parent_unit TEXT, parent_hash TEXT,
  reuses TEXT,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, outputs_blob TEXT REFERENCES blobs);
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
  reused_run TEXT, reused_unit TEXT, PRIMARY KEY (run_id, unit_id));
CREATE TABLE events (
  run_id TEXT NOT NULL REFERENCES runs, seq INTEGER NOT NULL, at TEXT NOT NULL, type TEXT NOT NULL, step INTEGER,
  unit_id TEXT, status TEXT, PRIMARY KEY (run_id, seq)) WITHOUT ROWID;
CREATE TABLE notices (
  run_id TEXT NOT NULL REFERENCES runs, step INTEGER NOT NULL, unit_id TEXT NOT NULL, text TEXT NOT NULL,
  UNIQUE (run_id, step, unit_id, text));
CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL);
"""
_UPGRADES: Final = {  # from version -> what brings a file to the next one
    1: (
        "ALTER TABLE runs ADD COLUMN reuses TEXT",
        "ALTER TABLE units ADD COLUMN reused_run TEXT",
        "ALTER TABLE units ADD COLUMN reused_unit TEXT",
    ),
    2: ("ALTER TABLE runs ADD COLUMN outputs_blob TEXT REFERENCES blobs",),
}


def version(connection: sqlite3.Connection) -> int:
    """The version of a state file, 0 for a new one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def tables(connection: sqlite3.Connection) -> frozenset[str]:
    """The names of all tables."""
    return frozenset(row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))


def is_foreign(connection: sqlite3.Connection) -> bool:
    """Whether another program made this database. A file without tables is nobody's: a crash may have left it so.

    Files that were made before the application id was written have none, and are known by their tables.
    """
    connection.execute("BEGIN")  # all of it at one moment: another process may be making the tables
    try:
        mark = int(connection.execute("PRAGMA application_id").fetchone()[0])
        found, made_for = tables(connection), version(connection)
    finally:
        if connection.in_transaction:  # SQLite ends it by itself where the disk fails
            connection.execute("ROLLBACK")
    if mark != 0:
        return mark != APPLICATION_ID
    return bool(found) if made_for == 0 else not found >= TABLES


def create(connection: sqlite3.Connection) -> None:
    """Make the tables, in a file that is new or becomes so in another process at this moment."""
    connection.execute("PRAGMA journal_mode=WAL")
    with transaction(connection):
        if version(connection) == 0:
            for statement in _TABLES.strip().split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def upgrade(connection: sqlite3.Connection) -> None:
    """Bring an older file up to this version, all or nothing."""
    with transaction(connection):
        for found in range(version(connection), SCHEMA_VERSION):
            for statement in _UPGRADES[found]:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One writing transaction: all of the block or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:  # whatever interrupted the decision, none of it may stay
        if connection.in_transaction:  # a full disk makes SQLite roll back by itself
            connection.execute("ROLLBACK")
        raise
