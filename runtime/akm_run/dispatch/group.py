"""The processes of one unit: who is still alive, who holds its pipes, and signals to all of them.

Every unit is spawned as the leader of a session of its own, so "the group" of a unit is its session: the leader's
process group and the groups that a job-control shell (``set -m``) makes inside it. A descendant that calls
``setsid`` has left the unit; it is named, never signalled.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

_PROC = Path("/proc")
_HAS_PROC = sys.platform == "linux" and (_PROC / "self" / "stat").exists()
_DEAD_STATES = frozenset("ZX")


class ProcessEntry(Struct, frozen=True):
    """One live (not zombie) process: ids, and the name of its program as the kernel shortens it."""

    pid: int
    group: int
    session: int
    name: str

    def says(self) -> str:
        """The process for a message: ``sleep (process 4711)``."""
        return f"{self.name} (process {self.pid})"


def live_processes() -> Iterator[ProcessEntry]:
    """Every process that is no zombie and that this user may see; from ``/proc``, elsewhere from ``ps``."""
    return _from_proc() if _HAS_PROC else _from_ps()


def _from_proc() -> Iterator[ProcessEntry]:
    for name in os.listdir(_PROC):  # noqa: PTH208 - scandir costs a stat for each of thousands of entries
        if not name.isdigit():
            continue
        try:
            stat = (_PROC / name / "stat").read_bytes()
        except OSError:
            continue  # it ended while we were reading
        start, end = stat.find(b"("), stat.rfind(b")")
        state, _parent, group, session = stat[end + 2 :].split(b" ", 4)[:4]
        if state.decode() not in _DEAD_STATES:
            yield ProcessEntry(int(name), int(group), int(session), stat[start + 1 : end].decode(errors="replace"))


def _from_ps() -> Iterator[ProcessEntry]:
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=", "-o", "pgid=", "-o", "state=", "-o", "comm="],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    for line in listing.stdout.splitlines():
        fields = line.split(maxsplit=3)
        if len(fields) < 4 or fields[2][:1] in _DEAD_STATES:
            continue
        pid, group, _state, name = fields
        with contextlib.suppress(OSError):  # it ended in between, or belongs to somebody else
            yield ProcessEntry(int(pid), int(group), os.getsid(int(pid)), name)


def members(leader: int) -> list[ProcessEntry]:
    """The live processes of the session and group that ``leader`` founded.

    ``killpg(leader, 0)`` alone would not do: it also succeeds for zombies, and an orphaned zombie stays one for good
    in a container whose first process never reaps. It is the fallback where processes cannot be listed at all.
    """
    try:
        return [entry for entry in live_processes() if leader in (entry.group, entry.session)]
    except OSError:
        return [ProcessEntry(leader, leader, leader, "process group")] if _has_group(leader) else []


def _has_group(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except OSError:
        return False
    return True


def send(entries: list[ProcessEntry], signum: signal.Signals) -> None:
    """Send ``signum`` to every group that one of ``entries`` is in; only groups that were just seen alive are named,
    so that an id which the system has given away since is not hit."""
    for group in {entry.group for entry in entries}:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # gone meanwhile, or only zombies (macOS)
            os.killpg(group, signum)


def pipe_holders(descriptors: list[int]) -> list[ProcessEntry]:
    """The other live processes that have one of these pipes open, by process id; none where the system cannot tell."""
    if not _HAS_PROC:
        return []
    wanted = {f"pipe:[{os.fstat(descriptor).st_ino}]" for descriptor in descriptors}
    own = os.getpid()
    return sorted((e for e in live_processes() if e.pid != own and _open_files(e.pid) & wanted), key=lambda e: e.pid)


def _open_files(pid: int) -> set[str]:
    found: set[str] = set()
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names only
    except OSError:
        return found  # gone, or somebody else's
    for name in names:
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"{folder}/{name}"))  # noqa: PTH115 - the target is no path
    return found
