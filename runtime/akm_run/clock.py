"""The only clock: wall time for records, a monotonic one for waiting."""

from __future__ import annotations

import time


def now() -> str:
    """UTC in ISO 8601 with milliseconds, for example ``2026-03-01T12:00:00.123Z``."""
    seconds, millis = divmod(time.time_ns() // 1_000_000, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{millis:03}Z"


def monotonic() -> float:
    """Seconds on a clock that never goes back."""
    return time.monotonic()
