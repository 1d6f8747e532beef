"""The only clock: wall time for records, a monotonic one for waiting."""

from __future__ import annotations

import time
from functools import lru_cache


def now() -> str:
    """UTC in ISO 8601 with milliseconds, for example ``2026-03-01T12:00:00.123Z``."""
    seconds, millis = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{_second(seconds)}.{millis:03}Z"


@lru_cache(maxsize=2)  # of units of a millisecond, hundreds are written down within one second
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def to_second(moment: str) -> str:
    """A moment of ``now`` without what is below a second."""
    return moment[:19]


def before(seconds: float) -> str:
    """The moment so many seconds ago, as ``now`` writes it; the earliest one that can be written for longer ago."""
    moment = max(0.0, time.time() - seconds)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment % 1 * 1000):03}Z"


def monotonic() -> float:
    """Seconds on a clock that never goes back."""
    return time.monotonic()
