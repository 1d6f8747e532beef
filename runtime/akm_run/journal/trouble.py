"""What SQLite cannot do with a state file, as a fault that names the file and says what to do.

The words follow the primary result code (https://sqlite.org/rescode.html), for SQLite's own differ between versions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from akm_run.faults import UsageFault
from akm_run.scope import printable

BUSY_TIMEOUT_S: Final = 60.0
ELSEWHERE: Final = "name another state file with --db"
_STATE_FILE: Final = "state file"
_GOES_ON: Final = "akm-run RUN_ID goes on with a run that is still active"
_RESCUE: Final = (
    "put a copy back, or move the file and its -wal away and start anew;"
    " the sqlite3 program's .recover may save what is left"
)
_WORDS: Final = {  # primary result code -> what happened ({}: SQLite's words), what to do
    sqlite3.SQLITE_FULL: ("cannot be written: the disk is full", "free space"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written: {}", "free space, or look at the disk"),
    sqlite3.SQLITE_READONLY: (
        "cannot be written: it, or its folder, is read-only",
        f"make both writable, or {ELSEWHERE}",
    ),
    sqlite3.SQLITE_CORRUPT: ("is damaged: {}", _RESCUE),
    sqlite3.SQLITE_NOTADB: ("is no database", ELSEWHERE),
    sqlite3.SQLITE_BUSY: (
        f"is locked by another program, for {BUSY_TIMEOUT_S:g} s already",
        "close what holds it open",
    ),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened: {}", f"make it and its folder writable, or {ELSEWHERE}"),
    sqlite3.SQLITE_PERM: ("cannot be opened: {}", f"make it and its folder writable, or {ELSEWHERE}"),
}
_PASSING: Final = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY})  # runs in it stay sound


class DamagedFault(UsageFault):
    """The file holds what this program does not write: bytes or rows were changed by something else."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f'the state file "{printable(path)}" is damaged: {what}', _RESCUE)


def state_fault(
    error: sqlite3.Error, path: Path, kind: str = _STATE_FILE, runs: Collection[str] = ()
) -> UsageFault | None:
    """The fault of the file at ``path`` that ``error`` tells of, or ``None`` for a mistake of the program itself."""
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        return None
    if isinstance(error, sqlite3.IntegrityError):  # rows that a sound file has are missing, or the program is wrong
        return damage_behind(path, runs)
    code = getattr(error, "sqlite_errorcode", None)  # Python's own complaint about text that is no UTF-8 has none
    primary = sqlite3.SQLITE_CORRUPT if code is None else code & 0xFF
    what, help = _WORDS.get(primary, ("cannot be used: {}", ELSEWHERE))
    if primary in _PASSING and kind == _STATE_FILE:
        help = f"{help}; {_GOES_ON}"
    return UsageFault(f'the {kind} "{printable(path)}" {what.format(error)}', help)


def is_full(error: sqlite3.OperationalError) -> bool:
    """Whether a full disk may be why a file could not be opened: SQLite tells of it as of a disk that fails."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def damage_behind(path: Path, runs: Collection[str] = ()) -> DamagedFault | None:
    """What the file at ``path`` holds that may have misled a command about ``runs`` (none given: about all of them);
    ``None`` where that is sound: a bug did it."""
    from akm_run.journal.soundness import fault_in  # never needed where all goes well

    what = fault_in(path, runs)
    return None if what is None else DamagedFault(path, what)


@contextmanager
def explained(path: Path, kind: str = _STATE_FILE) -> Iterator[None]:
    """Turn SQLite's errors about the file at ``path`` into words for a person."""
    try:
        yield
    except sqlite3.Error as error:
        fault = state_fault(error, path, kind)
        if fault is None:
            raise
        raise fault from error
