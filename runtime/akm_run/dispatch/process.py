"""One process from spawn to the last of its group: pipes drained, time kept, nothing left alive, no zombie.

A single loop on ``poll`` watches both pipes, the prompt that is still to be written, the end of the process (a pidfd,
elsewhere short polling) and the cancellation of the driver. It has three phases: until the leader ends; up to
``DRAIN_GRACE_S`` more for pipes that descendants still hold; and, after a timeout, a cancellation or a held pipe, the
TERM/KILL ladder for the whole group. Where a pidfd tells of the end, the leader is reaped last, so that its id, which
names the group, cannot be given to another process meanwhile.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Final, Literal

from msgspec import Struct

from akm_run.dispatch import group
from akm_run.dispatch.contract import Cancel
from akm_run.dispatch.spawn import Spawn, Started, start
from akm_schemas.bounds import KIB, STDOUT_BYTES

DRAIN_GRACE_S: Final = 2.0
TERM_GRACE_S: Final = 5.0
KILL_GRACE_S: Final = 5.0  # only an uninterruptible process outlives SIGKILL; nobody waits for it for ever
TAIL_BYTES: Final = 64 * KIB
_READ_BYTES: Final = 64 * KIB  # what a pipe holds
_FIRST_NAP_S: Final = 0.001
_LONGEST_NAP_S: Final = 0.05
_LAST_READS: Final = 64

Stopped = Literal["timeout", "cancelled"]
Tee = Callable[[str, bytes], None]


class ProcessRecord(Struct, frozen=True):
    """How a process ended.

    ``returncode`` is as ``subprocess`` has it: negative for a signal, ``None`` for a process that even SIGKILL did
    not end. ``stdout`` is the first ``STDOUT_BYTES`` of ``stdout_bytes``; ``stderr_tail`` at least the last
    ``TAIL_BYTES`` of ``stderr_bytes``. ``stopped`` says that we ended it. ``stdout_held`` and ``stderr_held``: a
    descendant still had the pipe open after the grace. ``holders`` names who had a pipe open when we stepped in,
    ``outsiders`` those of them in other sessions (not signalled), ``survivors`` what is alive in spite of SIGKILL.
    """

    returncode: int | None
    stdout: bytes
    stdout_bytes: int
    stderr_tail: bytes
    stderr_bytes: int
    stopped: Stopped | None = None
    stdout_held: bool = False
    stderr_held: bool = False
    holders: tuple[str, ...] = ()
    outsiders: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()


def run_process(spawn: Spawn, cancel: Cancel, tee: Tee = lambda _stream, _data: None) -> ProcessRecord:
    """Run ``spawn`` to its end and report; blocks the calling thread. ``tee`` is given what is read, as it is read.

    Raises SpawnFault when nothing could be started.
    """
    deadline = None if spawn.timeout_s is None else time.monotonic() + spawn.timeout_s
    watch = _Watch(start(spawn), spawn.stdin or b"", cancel, tee)
    try:
        stopped = watch.until_exit(deadline)
        if stopped is None:
            stopped = watch.drain()
        return watch.finish(stopped)
    finally:
        watch.close()


class _Head:
    """Keeps the first ``STDOUT_BYTES`` and counts all."""

    def __init__(self) -> None:
        self.total = 0
        self._chunks: list[bytes] = []

    def take(self, data: bytes) -> None:
        room = STDOUT_BYTES.high - self.total
        self.total += len(data)
        if room > 0:
            self._chunks.append(data[:room])

    def kept(self) -> bytes:
        return b"".join(self._chunks)


class _Tail:
    """Keeps at least the last ``TAIL_BYTES`` and counts all."""

    def __init__(self) -> None:
        self.total = 0
        self._kept = bytearray()

    def take(self, data: bytes) -> None:
        self.total += len(data)
        self._kept += data
        if len(self._kept) > 8 * TAIL_BYTES:
            del self._kept[:-TAIL_BYTES]

    def kept(self) -> bytes:
        return bytes(self._kept)


class _Watch:
    """The poll loop over one running process."""

    def __init__(self, started: Started, stdin: bytes, cancel: Cancel, tee: Tee) -> None:
        self._process = started.process
        self._cancel = cancel
        self._tee = tee
        self._exited = False
        self._cancelled = False
        self._head, self._tail = _Head(), _Tail()
        self._stdout, self._stderr, self._stdin = started.stdout, started.stderr, started.stdin
        self._open: dict[int, _Head | _Tail] = {self._stdout: self._head, self._stderr: self._tail}
        self._unwritten = memoryview(stdin)
        self._pidfd = _pidfd(self._process.pid)
        self._poll = select.poll()
        self._watched: set[int] = set()
        for descriptor in (self._stdout, self._stderr, cancel.fileno(), self._pidfd):
            if descriptor >= 0:
                self._add(descriptor, select.POLLIN)
        if self._stdin is not None:
            os.set_blocking(self._stdin, False)
            self._add(self._stdin, select.POLLOUT)

    def until_exit(self, deadline: float | None) -> Stopped | None:
        """Wait for the leader; ``None`` when it ended by itself."""
        nap = _FIRST_NAP_S
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if self._pidfd < 0:  # nothing wakes us when the process ends: look again soon, then ever less often
                left, nap = nap if left is None else min(nap, left), min(2 * nap, _LONGEST_NAP_S)
            self._step(left)
            if self._exited:
                return None
            if self._cancelled:
                return "cancelled"
            if deadline is not None and time.monotonic() >= deadline:
                return "timeout"

    def drain(self) -> Stopped | None:
        """Read on until both pipes end, at most for the grace."""
        self._stop_writing()
        deadline = time.monotonic() + DRAIN_GRACE_S
        while self._open:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            self._step(left)
            if self._cancelled and self._open:
                return "cancelled"
        return None

    def finish(self, stopped: Stopped | None) -> ProcessRecord:
        """End what has to be ended, reap the leader, and report."""
        stdout_held = stopped is None and self._stdout in self._open
        stderr_held = stopped is None and self._stderr in self._open
        holders: list[group.ProcessEntry] = []
        survivors: list[group.ProcessEntry] = []
        if stopped is not None or self._open:
            holders = group.pipe_holders(list(self._open))
            survivors = self._ladder()
        leader = self._process.pid
        return ProcessRecord(
            returncode=self._reap(),
            stdout=self._head.kept(),
            stdout_bytes=self._head.total,
            stderr_tail=self._tail.kept(),
            stderr_bytes=self._tail.total,
            stopped=stopped,
            stdout_held=stdout_held,
            stderr_held=stderr_held,
            holders=tuple(entry.says() for entry in holders),
            outsiders=tuple(entry.says() for entry in holders if leader not in (entry.group, entry.session)),
            survivors=tuple(entry.says() for entry in survivors),
        )

    def close(self) -> None:
        """Close our ends of the pipes; after an unforeseen error also end the group."""
        if self._process.returncode is None:
            group.send(group.members(self._process.pid), signal.SIGKILL)
            self._reap()
        self._stop_writing()
        for descriptor in (self._stdout, self._stderr, self._pidfd):
            if descriptor >= 0:
                os.close(descriptor)

    def _ladder(self) -> list[group.ProcessEntry]:
        """TERM, then KILL for whatever of the group is left; returns what survived even that."""
        self._stop_writing()
        self._remove(self._cancel.fileno())  # it stays readable, and has been heeded
        left = group.members(self._process.pid)
        group.send(left, signal.SIGTERM)
        group.send(left, signal.SIGCONT)  # a stopped process would sit on its SIGTERM
        left = self._wait_for_group(TERM_GRACE_S)
        if left:
            group.send(left, signal.SIGKILL)
            left = self._wait_for_group(KILL_GRACE_S)
        for _ in range(_LAST_READS):  # what is in the pipes by now; an outsider may go on writing for ever
            if not self._step(0):
                break
        return left

    def _wait_for_group(self, seconds: float) -> list[group.ProcessEntry]:
        """Read on until the group is gone or the time is up; returns who is left."""
        deadline = time.monotonic() + seconds
        nap = _FIRST_NAP_S
        while True:
            left = group.members(self._process.pid)
            if not left or time.monotonic() >= deadline:
                return left
            wake = time.monotonic() + nap
            while (wait := wake - time.monotonic()) > 0:
                self._step(wait)
            nap = min(2 * nap, _LONGEST_NAP_S)

    def _step(self, seconds: float | None) -> bool:
        """One ``poll`` of at most so many seconds, and what it brings; whether it brought anything."""
        events = self._poll.poll(None if seconds is None else max(0.0, seconds * 1000))
        for descriptor, _ in events:
            if descriptor in self._open:
                self._read(descriptor)
            elif descriptor == self._pidfd:
                self._exited = True
                self._remove(descriptor)
            elif descriptor == self._cancel.fileno():
                self._cancelled = self._cancelled or self._cancel.is_set()
            else:
                self._write(descriptor)
        if self._pidfd < 0 and not self._exited:
            self._exited = self._process.poll() is not None
        return bool(events)

    def _read(self, descriptor: int) -> None:
        # Poll said that this does not block. POLLHUP alone does not say that nothing is there: Linux looks for bytes first
        # and for writers after that, without a lock, and somebody may have written and gone in between.
        data = _read_from(descriptor)
        if data:
            self._open[descriptor].take(data)
            self._tee("stdout" if descriptor == self._stdout else "stderr", data)
        else:
            del self._open[descriptor]
            self._remove(descriptor)

    def _write(self, descriptor: int) -> None:
        try:
            count = os.write(descriptor, self._unwritten[: 64 * KIB])
        except BlockingIOError:
            return
        except BrokenPipeError:  # a program need not read its prompt to the end
            self._stop_writing()
            return
        self._unwritten = self._unwritten[count:]
        if not self._unwritten:
            self._stop_writing()

    def _stop_writing(self) -> None:
        descriptor, self._stdin = self._stdin, None
        if descriptor is not None:
            self._remove(descriptor)
            os.close(descriptor)

    def _reap(self) -> int | None:
        try:
            return self._process.wait(KILL_GRACE_S)
        except subprocess.TimeoutExpired:
            return None

    def _add(self, descriptor: int, events: int) -> None:
        self._poll.register(descriptor, events)
        self._watched.add(descriptor)

    def _remove(self, descriptor: int) -> None:
        if descriptor in self._watched:
            self._watched.remove(descriptor)
            self._poll.unregister(descriptor)


class _Buffer(threading.local):
    """A thread's own room to read into."""

    def __init__(self) -> None:
        self.room = memoryview(bytearray(_READ_BYTES))


_BUFFER: Final = _Buffer()


def _read_from(descriptor: int) -> bytes:
    """What there is to read, empty at the end.

    ``os.read`` makes room for the most and gives back what was not needed. The gaps that this leaves in the heap, between
    results that stay, doubled the memory of a run with thousands of small results.
    """
    room = _BUFFER.room
    return bytes(room[: os.readv(descriptor, [room])])


def _pidfd(pid: int) -> int:
    """A descriptor that is readable once the process has ended, -1 where there is none (macOS, old kernels)."""
    opener = getattr(os, "pidfd_open", None)
    if opener is None:
        return -1
    try:
        return int(opener(pid))
    except OSError:  # the kernel or a sandbox refuses; polling does as well
        return -1
