"""The moments that records carry."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from akm_run import clock


@pytest.mark.parametrize(
    ("nanoseconds", "written"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_772_366_400_123_999_999, "2026-03-01T12:00:00.123Z"),
        (1_772_366_400_999_999_999, "2026-03-01T12:00:00.999Z"),
        (1_772_366_401_000_000_000, "2026-03-01T12:00:01.000Z"),
        (1_772_366_400_005_000_000, "2026-03-01T12:00:00.005Z"),  # a clock that was put back
    ],
)
def test_a_moment_to_the_millisecond(monkeypatch: pytest.MonkeyPatch, nanoseconds: int, written: str) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: nanoseconds)
    assert clock.now() == written
    assert clock.to_second(written) == written[:19]


def test_now_is_now() -> None:
    before = time.time() - 0.001  # what is below a millisecond is cut off
    assert before <= datetime.fromisoformat(clock.now()).timestamp() <= time.time()
