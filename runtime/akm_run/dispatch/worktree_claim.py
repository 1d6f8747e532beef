"""Who uses a worktree: a lock of the operating system on a file beside it, which ends with the driver that holds it.

``.akm/worktrees/<run id>/<unit>-<hex>/`` is a worktree, ``<unit>-<hex>.lock`` its lock. The lock's content is the commit
that the worktree was made at, so that whoever finds it later knows whether it holds work.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

_ATTEMPTS: Final = 5


class Claim(Struct, frozen=True):
    """A worktree that nobody else touches. ``commit`` is what it was made at; empty where that is unknown."""

    place: Path
    commit: str
    _descriptor: int

    def leave(self) -> None:
        """Give the worktree up and let it stand."""
        os.close(self._descriptor)

    def drop(self) -> None:
        """Give up a worktree that is gone; the run's folder goes with its last one."""
        lock_of(self.place).unlink(missing_ok=True)
        os.close(self._descriptor)
        with suppress(OSError):  # others of the run are in it
            self.place.parent.rmdir()


def lock_of(place: Path) -> Path:
    """The lock file of the worktree at ``place``."""
    return place.with_name(f"{place.name}.lock")


def new_claim(folder: Path, prefix: str, commit: str) -> Claim:
    """An empty, private directory in ``folder`` for a worktree at ``commit``, claimed before it is there."""
    for attempt in range(1, _ATTEMPTS + 1):
        place = folder / f"{prefix}-{secrets.token_hex(4)}"
        try:
            folder.mkdir(exist_ok=True)
            descriptor = os.open(lock_of(place), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            if attempt == _ATTEMPTS:
                raise
            continue  # somebody has just removed the folder, which was empty
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, commit.encode("ascii"))
        place.mkdir(0o700)
        return Claim(place, commit, descriptor)
    raise AssertionError("unreachable: the last attempt returns or raises")


def claim_left(place: Path) -> Claim | None:
    """The claim on a worktree that was left behind, or ``None`` while somebody uses it. Raises OSError."""
    descriptor = os.open(lock_of(place), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return Claim(place, os.pread(descriptor, 64, 0).decode("ascii", "replace"), descriptor)
