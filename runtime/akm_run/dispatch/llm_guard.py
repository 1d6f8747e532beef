"""Waiting on sockets with an end in sight: every wait of an exchange ends with its deadline or its cancellation."""

from __future__ import annotations

import select
import time
from collections.abc import Iterable
from typing import Literal

from akm_run.dispatch.contract import Cancel

READABLE = select.POLLIN
WRITABLE = select.POLLOUT


class Ended(Exception):
    """The exchange is over before its answer came."""

    def __init__(self, reason: Literal["timeout", "aborted"]) -> None:
        super().__init__(reason)
        self.reason = reason


class Guard:
    """One exchange's limits. ``timeout_s`` counts from now, ``None`` for no limit."""

    def __init__(self, timeout_s: float | None, cancel: Cancel) -> None:
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._cancel = cancel

    def wait(self, descriptors: Iterable[int], events: int, seconds: float | None = None) -> list[int]:
        """Those of ``descriptors`` that are ready for ``events`` or broken, none after so many ``seconds``.

        Raises Ended.
        """
        poll = select.poll()
        for descriptor in descriptors:
            poll.register(descriptor, events)
        poll.register(self._cancel.fileno(), select.POLLIN)
        limit = self._left(seconds)
        ready = [descriptor for descriptor, _ in poll.poll(None if limit is None else limit * 1000)]
        if self._cancel.is_set():
            raise Ended("aborted")
        if self._deadline is not None and time.monotonic() >= self._deadline:  # also for who keeps sending a little
            raise Ended("timeout")
        return ready

    def _left(self, seconds: float | None) -> float | None:
        if self._deadline is None:
            return seconds
        left = max(0.0, self._deadline - time.monotonic())
        return left if seconds is None else min(left, seconds)


def is_readable(descriptor: int) -> bool:
    """Whether there is something to read at once, the end included."""
    poll = select.poll()
    poll.register(descriptor, READABLE)
    return bool(poll.poll(0))
