"""One driver per run, by a lock of the operating system.

``flock`` belongs to an open file description and ends with the process that holds it, however that ends: no lock is
left for a person to delete, and no reused process id can block a run. The file's content only tells who holds it.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from akm_run.clock import monotonic, now
from akm_run.faults import BusyFault, UsageFault
from akm_run.run_ids import as_file_name, is_run_id
from akm_schemas.bounds import LOCK_BYTES
from akm_schemas.regular_files import read_regular

# A lock whose holder is dead, or that names nobody yet, changes in a moment: a process that was being spawned when its
# driver was killed has the descriptor until it has begun, and ``tidy`` holds a lock while it removes the file.
_PATIENCE_S: Final = 0.5
_LOOK_AGAIN_S: Final = 0.005


class Holder(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who drives a run: process id, host, and when it began (ISO 8601)."""

    pid: int
    host: str
    started_at: str


class Lease(Struct):
    """A held lock; ``release`` gives the run back."""

    path: Path
    _descriptor: int

    def release(self) -> None:
        """Free the run. The file goes while the lock is still held, so that nobody can lock what is about to vanish."""
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)


def lock_path(state_file: Path, run_id: str) -> Path:
    """Where the lock of a run lies, beside its state file; raises UsageFault for an id that names no file."""
    return state_file.with_name(state_file.name + ".locks") / f"{as_file_name(run_id)}.lock"


def acquire(state_file: Path, run_id: str) -> Lease:
    """The lease on ``run_id``; raises ``BusyFault`` naming the holder when another driver has it."""
    path = lock_path(state_file, run_id)
    patience = monotonic() + _PATIENCE_S
    while True:
        descriptor = _opened(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _holder(descriptor)
            os.close(descriptor)
            if monotonic() < patience and (holder is None or _is_gone(holder)):
                time.sleep(_LOOK_AGAIN_S)
                continue
            raise BusyFault(run_id, _says(run_id, holder)) from error
        if _still_there(path, descriptor):
            mine = Holder(pid=os.getpid(), host=socket.gethostname(), started_at=now())
            with suppress(OSError):  # on a full disk others are told less, and the lock counts all the same
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, msgspec.json.encode(mine), 0)
            return Lease(path, descriptor)
        os.close(descriptor)  # its holder removed the file between our opening and locking it


def tidy(state_file: Path, run_ids: Iterable[str]) -> None:
    """Remove the files of locks that nobody holds: a driver that was killed after its run had ended leaves one."""
    for run_id in filter(is_run_id, run_ids):
        path = lock_path(state_file, run_id)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue  # there is none, which is the rule, or it is not ours to remove
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _still_there(path, descriptor):
                path.unlink()
        except OSError:
            continue  # somebody has it
        finally:
            os.close(descriptor)


def is_driven(state_file: Path, run_id: str) -> bool:
    """Whether a driver seems to have the run, for those who only look on: nothing is locked, and no driver disturbed."""
    if not is_run_id(run_id):  # of a file that something else has changed: nobody can drive it
        return False
    try:
        holder = msgspec.json.decode(read_regular(lock_path(state_file, run_id), LOCK_BYTES.high), type=Holder)
    except (OSError, msgspec.DecodeError):
        return False  # released, or taken at this very moment
    return not _is_gone(holder)  # where its driver was killed, the file is left for the next one to take


def _is_gone(holder: Holder) -> bool:
    """Whether the holder was a process of this host that is there no more."""
    if holder.host != socket.gethostname():
        return False
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageFault(
            f'cannot create the lock "{path}": {error.strerror or error}', "a run's state must be writable"
        ) from error


def _still_there(path: Path, descriptor: int) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(descriptor))


def _holder(descriptor: int) -> Holder | None:
    try:
        return msgspec.json.decode(os.pread(descriptor, LOCK_BYTES.high, 0), type=Holder)
    except msgspec.DecodeError:
        return None  # locked a moment ago, not written yet


def _says(run_id: str, holder: Holder | None) -> str:
    if holder is None:
        return f"another driver has just taken run {run_id}"
    return f"run {run_id} is driven by process {holder.pid} on {holder.host} since {holder.started_at}"
