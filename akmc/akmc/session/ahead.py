"""Clean verdicts found by forked processes on the machine's other cores, meanwhile.

A helper says nothing but which verdicts are clean, each in the form in which it is remembered. Whatever it does not
say, because there is a finding, or a crash, or because it died, the one check that prints looks at itself. So no output
depends on helpers: they save time, and can do nothing else.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import BinaryIO, Final

from msgspec import Struct

Verdict = Callable[[int], "bytes | None"]
"""The key of the clean verdict on the n-th target, ``None`` when it is not clean."""

WORTH_IT: Final = 256
"""Targets without a verdict from which on helpers are started; a helper costs some milliseconds."""
MOST: Final = 8
"""Processes, this one included; beyond that the disk and the one that prints are what a check waits for."""
_SHARE: Final = 8  # targets: so many the last of the processes may still look at when the others have nothing left
_SHARES: Final = 1000  # at most: their tickets fit into one page, which a pipe takes at once
_GRACE: Final = 16  # files that a helper looks at whatever comes of them
_PLACE_BYTES: Final = 4
_KEY_BYTES: Final = 32


class Shares:
    """Places in shares, each for the process that asks first: all tickets lie in a pipe before anybody is forked."""

    def __init__(self, places: Sequence[int]) -> None:
        """``places`` ascend. Raises ``OSError`` where there can be no pipe."""
        self._places = places
        self._size = max(_SHARE, -(-len(places) // _SHARES))
        self._tickets, writer = os.pipe()
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(b"".join(_ticket(first) for first in range(0, len(places), self._size)))

    def take(self) -> Sequence[int]:
        """The next share, in ascending order; empty when all are taken."""
        ticket = os.read(self._tickets, _PLACE_BYTES)
        first = int.from_bytes(ticket, "big")
        return self._places[first : first + self._size] if ticket else ()

    def close(self) -> None:
        """Nobody here asks any more."""
        os.close(self._tickets)


def _ticket(first: int) -> bytes:
    return first.to_bytes(_PLACE_BYTES, "big")


class Helper(Struct):
    """A process; what it finds comes through ``pipe``."""

    pid: int
    pipe: BinaryIO


class Ahead:
    """The helpers of one check, and what is left to this process."""

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        self._helpers: list[Helper] = []

    def add(self, helper: Helper) -> None:
        """One more, forked with the same shares."""
        self._helpers.append(helper)

    def places(self, total: int) -> Iterator[int]:
        """Each of ``total`` places at which this process has to look: its shares while there are any, then whatever no
        helper has called clean, ascending both times."""
        seen: set[int] = set()
        while share := self._shares.take():
            for place in share:
                seen.add(place)
                yield place
        seen |= self.clean.keys()
        yield from (place for place in range(total) if place not in seen)

    @cached_property
    def clean(self) -> dict[int, bytes]:
        """The keys of the clean verdicts that helpers found, by place; waits for them."""
        found: dict[int, bytes] = {}
        while self._helpers:
            found |= _harvest(self._helpers[-1])
            self._helpers.pop()
        return found

    def close(self) -> None:
        """End the helpers that nobody has waited for."""
        self._shares.close()
        for helper in self._helpers:
            with suppress(ProcessLookupError):
                os.kill(helper.pid, signal.SIGKILL)  # it holds nothing and has written nothing
            helper.pipe.close()
            _reap(helper)
        self._helpers = []


def start(unknown: Sequence[int], verdict: Verdict) -> Ahead | None:
    """Helpers for the ``unknown`` targets (ascending places), one for each further core.

    ``None`` where they cannot help: few targets, one core, no fork, or threads, which a fork would leave behind.
    """
    processes = min(_cores(), MOST, len(unknown) // (WORTH_IT // 2))
    if len(unknown) < WORTH_IT or processes < 2 or not _can_fork():
        return None
    return _ahead(unknown, verdict, processes - 1)


def beside(verdict: Verdict) -> Ahead | None:
    """A helper for one target, the 0th, while this process does something else; ``None`` where it cannot help."""
    return _ahead([0], verdict, 1) if _cores() > 1 and _can_fork() else None


def _cores() -> int:
    """The cores that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def _can_fork() -> bool:
    """macOS forks too, but its libraries do not bear it; Windows does not."""
    return sys.platform == "linux" and threading.active_count() == 1


def _ahead(places: Sequence[int], verdict: Verdict, count: int) -> Ahead | None:
    try:
        shares = Shares(places)
    except OSError:  # no more descriptors
        return None
    ahead = Ahead(shares)
    for _ in range(count):
        helper = _fork(shares, verdict)
        if helper is None:  # no more processes or descriptors: those that there are do the rest
            break
        ahead.add(helper)
    return ahead


def _fork(shares: Shares, verdict: Verdict) -> Helper | None:
    try:
        reader, writer = os.pipe()
    except OSError:
        return None
    try:
        pid = os.fork()
    except OSError:
        os.close(reader)
        os.close(writer)
        return None
    if pid:
        os.close(writer)
        return Helper(pid, os.fdopen(reader, "rb"))
    try:
        os.close(reader)
        _help(shares, verdict, writer)
    finally:  # whatever happened: what belongs to the other process must neither be flushed nor closed here
        os._exit(0)


def _help(shares: Shares, verdict: Verdict, writer: int) -> None:
    """Write place and key of each clean target of the shares that this process gets; give up where most files have
    findings, which would be looked at twice."""
    clean: list[bytes] = []
    seen = 0
    while (seen < _GRACE or 2 * len(clean) >= seen) and (share := shares.take()):
        for place in share:
            seen += 1
            key = verdict(place)
            if key is not None:
                clean.append(_ticket(place) + key)
    data = memoryview(b"".join(clean))
    while data:
        data = data[os.write(writer, data) :]


def _harvest(helper: Helper) -> dict[int, bytes]:
    """What a helper found, target by target; waits until it has ended."""
    with helper.pipe as pipe:
        data = pipe.read()
    _reap(helper)
    size = _PLACE_BYTES + _KEY_BYTES
    whole = len(data) - len(data) % size  # the last one is torn where a helper was killed
    entries = (data[at : at + size] for at in range(0, whole, size))
    return {int.from_bytes(entry[:_PLACE_BYTES], "big"): entry[_PLACE_BYTES:] for entry in entries}


def _reap(helper: Helper) -> None:
    with suppress(ChildProcessError):  # somebody around us reaps all children
        os.waitpid(helper.pid, 0)
