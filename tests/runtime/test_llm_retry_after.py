"""``Retry-After``, and how long the driver waits for it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, formatdate
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from akm_run.core import replay
from akm_run.dispatch.contract import Cancel, Dispatcher, UnitRequest, UnitResult
from akm_run.dispatch.llm_retry_after import retry_after_s
from akm_run.driver import Driver, Options
from akm_run.executor import Done
from akm_run.journal import Journal
from akm_run.opening import RunFacts
from akm_run.requests import Surroundings
from akm_run.rows import Publication

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker


def test_seconds() -> None:
    assert retry_after_s("2") == 2.0
    assert retry_after_s(" 0 ") == 0.0
    assert retry_after_s("9" * 40) == pytest.approx(2_147_483.647), "bounded, so that a wait can be set at all"


@pytest.mark.parametrize("value", [None, "", "soon", "-1", "1.5", "٢", "2 s"])
def test_what_says_nothing(value: str | None) -> None:
    assert retry_after_s(value) is None


def test_dates_are_read_against_the_servers_clock() -> None:
    sent = datetime(2020, 1, 1, 12, tzinfo=UTC)
    later = format_datetime(sent + timedelta(seconds=90), usegmt=True)
    assert retry_after_s(later, format_datetime(sent, usegmt=True)) == 90.0
    assert retry_after_s(later) == 0.0, "long ago"
    assert 50 < (retry_after_s(formatdate(time.time() + 60, usegmt=True)) or 0) <= 60


@dataclass
class Scripted:
    """An executor that answers from a list and notes when it was asked."""

    answers: list[UnitResult]
    moments: list[float] = field(default_factory=list)

    def submit(
        self, request: UnitRequest, dispatcher: Dispatcher, cancel: Cancel, done: Callable[[Done], None]
    ) -> None:
        del dispatcher, cancel
        self.moments.append(time.monotonic())
        done(Done(request.unit_id, self.answers.pop(0)))


def gap_s(plans: PlanMaker, folder: Path, asked_s: float, timeout_ms: int | None) -> float:
    """Seconds between two attempts, the first of them rate-limited."""
    retry = {"max": 1, "on": ["llm_rate_limit"]}
    plan = plans.plan(plans.step("a", plans.ask(retry, llm=True, timeoutMs=timeout_ms)))
    journal = Journal.create_or_open(folder / "state.db")
    journal.publish(
        Publication("r1", b"{}", "Case", "workflows/case", "p", "c", False, {}, 8, (("a", "unit"),)),
        "2026-03-01T12:00:00.000Z",
    )
    limited = UnitResult(failure_reason="llm_rate_limit", diagnostic="slow down", retry_after_s=asked_s)
    executor = Scripted([limited, UnitResult("at last", tokens=1)])
    around = Surroundings("r1", {}, folder, folder)
    driver = Driver(replay(plan, RunFacts({}, 8), []), journal, executor, around, Options(4))
    driver._random = random.Random(1)
    with closing(journal):
        assert driver.drive() == "settled"
    first, second = executor.moments
    return second - first


def test_the_driver_waits_as_long_as_it_is_asked_to(plans: PlanMaker, tmp_path: Path) -> None:
    assert 2.4 <= gap_s(plans, tmp_path, 2.4, None) < 4


def test_never_shorter_than_the_backoff(plans: PlanMaker, tmp_path: Path) -> None:
    assert 1.0 <= gap_s(plans, tmp_path, 0.0, 60_000) < 2


def test_never_beyond_the_units_remaining_time(plans: PlanMaker, tmp_path: Path) -> None:
    assert 1.0 <= gap_s(plans, tmp_path, 600.0, 1_500) < 3
