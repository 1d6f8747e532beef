"""Clean verdicts found ahead of a check of many files or large ones, by forked processes on the machine's other cores.

A helper says nothing but which verdicts are clean, each in the form in which it is remembered. Whatever it does not
say, because there is a finding, or a crash, or because it died, the one check that prints looks at itself. So no output
depends on helpers: they save time, and can do nothing else.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Final

from msgspec import Struct

Verdict = Callable[[int], "bytes | None"]
"""The key of the clean verdict on the n-th target, ``None`` when it is not clean."""

WORTH_IT: Final = 256
"""Targets without a verdict from which on helpers are started; a helper costs some milliseconds."""
MOST: Final = 8
"""Processes, this one included; beyond that the disk and the one that prints are what a check waits for."""
_GRACE: Final = 16  # files of a helper's share that it looks at whatever comes of them
_PLACE_BYTES: Final = 4
_KEY_BYTES: Final = 32


class Helper(Struct):
    """A process that looks at the targets from the ``first`` on; what it finds comes through ``pipe``."""

    first: int
    pid: int
    pipe: int


class Ahead:
    """The helpers of one check."""

    def __init__(self, helpers: list[Helper]) -> None:
        self._helpers = helpers
        self._clean: dict[int, bytes] = {}

    def reach(self, index: int) -> bytes | None:
        """The check comes to this target: the key of its clean verdict, waited for; ``None`` where no helper has one."""
        while self._helpers and self._helpers[0].first <= index:
            self._clean.update(_harvest(self._helpers.pop(0)))
        return self._clean.get(index)

    def close(self) -> None:
        """End the helpers that nobody has waited for."""
        for helper in self._helpers:
            with suppress(ProcessLookupError):
                os.kill(helper.pid, signal.SIGKILL)  # it holds nothing and has written nothing
            _harvest(helper)
        self._helpers = []


def start(unknown: Sequence[int], verdict: Verdict) -> Ahead | None:
    """Helpers for all but the first share of the ``unknown`` targets (ascending indexes), one for each further core.

    ``None`` where they cannot help: few targets, one core, no fork, or threads, which a fork would leave behind.
    """
    processes = min(_cores(), MOST, len(unknown) // (WORTH_IT // 2))
    if len(unknown) < WORTH_IT or processes < 2 or not _can_fork():
        return None
    bounds = [len(unknown) * part // processes for part in range(processes + 1)]
    helpers: list[Helper] = []
    for begin, end in pairwise(bounds[1:]):
        helper = _fork(unknown[begin:end], verdict)
        if helper is None:  # no more processes or descriptors: the rest is checked here
            break
        helpers.append(helper)
    return Ahead(helpers)


def beside(verdict: Verdict) -> Ahead | None:
    """A helper for one target, the 0th, while this process does something else; ``None`` where it cannot help."""
    helper = _fork([0], verdict) if _cores() > 1 and _can_fork() else None
    return None if helper is None else Ahead([helper])


def _cores() -> int:
    """The cores that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def _can_fork() -> bool:
    """macOS forks too, but its libraries do not bear it; Windows does not."""
    return sys.platform == "linux" and threading.active_count() == 1


def _fork(share: Sequence[int], verdict: Verdict) -> Helper | None:
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
        return Helper(share[0], pid, reader)
    try:
        os.close(reader)
        _help(share, verdict, writer)
    finally:  # whatever happened: what belongs to the other process must neither be flushed nor closed here
        os._exit(0)


def _help(share: Sequence[int], verdict: Verdict, writer: int) -> None:
    """Write place and key of each clean target of a share; give up where most files have findings, which would be looked at twice."""
    clean: list[bytes] = []
    for seen, index in enumerate(share):
        if seen >= _GRACE and 2 * len(clean) < seen:
            break
        key = verdict(index)
        if key is not None:
            clean.append(index.to_bytes(_PLACE_BYTES, "big") + key)
    data = memoryview(b"".join(clean))
    while data:
        data = data[os.write(writer, data) :]


def _harvest(helper: Helper) -> dict[int, bytes]:
    """What a helper found, target by target; waits until it has ended."""
    data = b""
    with os.fdopen(helper.pipe, "rb") as pipe:
        data = pipe.read()
    with suppress(ChildProcessError):  # somebody around us reaps all children
        os.waitpid(helper.pid, 0)
    size = _PLACE_BYTES + _KEY_BYTES
    whole = len(data) - len(data) % size  # the last one is torn where a helper was killed
    entries = (data[at : at + size] for at in range(0, whole, size))
    return {int.from_bytes(entry[:_PLACE_BYTES], "big"): entry[_PLACE_BYTES:] for entry in entries}
