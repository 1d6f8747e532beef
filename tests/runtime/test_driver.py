"""The driver, with a real journal and units that are answered in threads."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from akm_run import underway as underway_module
from akm_run.core import Core, replay
from akm_run.dispatch.contract import Cancel, Dispatcher, UnitRequest, UnitResult
from akm_run.driver import Driver, Options
from akm_run.executor import Done, LocalExecutor
from akm_run.journal import Journal
from akm_run.opening import RunFacts
from akm_run.policy import Limits
from akm_run.requests import Surroundings
from akm_run.rows import Publication
from akm_run.underway import Ending
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import Plan

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Perform = Callable[[UnitRequest, Cancel], UnitResult]
AT = "2026-03-01T12:00:00.000Z"


@dataclass
class Stand:
    """One run with everything around it; ``perform`` stands for all dispatchers."""

    plan: Plan
    perform: Perform
    journal: Journal
    params: JsonObject = field(default_factory=dict)
    requests: list[UnitRequest] = field(default_factory=list)
    most: int = 0
    _running: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        steps = tuple((step.id, step.kind) for step in self.plan.steps)
        run = Publication(
            "r1", b"{}", "Case", "workflows/case", "p", "c", bool(self.plan.outputs), self.params, 8, steps
        )
        self.journal.publish(run, AT)

    def submit(
        self, request: UnitRequest, dispatcher: Dispatcher, cancel: Cancel, done: Callable[[Done], None]
    ) -> None:
        del dispatcher
        self.requests.append(request)
        rows = {row.unit_id: row.status for row in self.journal.units("r1")}
        assert rows[request.unit_id] == "running", "the row is committed before the spawn"
        LocalExecutor().submit(request, self._counted, cancel, done)

    def _counted(self, request: UnitRequest, cancel: Cancel) -> UnitResult:
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
        try:
            return self.perform(request, cancel)
        finally:
            with self._lock:
                self._running -= 1

    def driver(
        self, host: int = 4, timeout_s: float | None = None, limits: Limits | None = None
    ) -> tuple[Driver, Core]:
        core = replay(self.plan, RunFacts(self.params, 8), self.journal.entries("r1"), limits)
        around = Surroundings("r1", self.params, Path("/work"), Path("/work"))
        return Driver(core, self.journal, self, around, Options(host, timeout_s)), core

    def drive(self, host: int = 4, timeout_s: float | None = None, limits: Limits | None = None) -> tuple[Ending, Core]:
        driver, core = self.driver(host, timeout_s, limits)
        return driver.drive(), core


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Callable[..., Stand]]:
    with ExitStack() as stack:

        def make(plan: Plan, perform: Perform, **params: object) -> Stand:
            journal = stack.enter_context(closing(Journal.create_or_open(tmp_path / "state.db")))
            return Stand(plan, perform, journal, dict(params))  # type: ignore[arg-type]

        yield make


def until_cancelled(_: UnitRequest, cancel: Cancel) -> UnitResult:
    for _turn in range(500):
        if cancel.is_set():
            return UnitResult(failure_reason="aborted", diagnostic="told to stop")
        time.sleep(0.01)
    return UnitResult("never told")


@pytest.mark.parametrize(("host", "width"), [(1, 1), (3, 3), (8, 4)])
def test_width_is_the_least_of_map_and_host(
    plans: PlanMaker, stand: Callable[..., Stand], host: int, width: int
) -> None:
    barrier = threading.Barrier(width, timeout=10)

    def perform(request: UnitRequest, _: Cancel) -> UnitResult:
        barrier.wait()
        return UnitResult(request.context.item)

    here = stand(plans.plan(plans.step("m", over="params.l", concurrency=4)), perform, l=list(range(1, 13)))
    ending, core = here.drive(host)
    assert (ending, core.status, core.steps[0].artifact) == ("settled", "completed", list(range(1, 13)))
    assert here.most == width


def test_the_engines_width_counts(plans: PlanMaker, stand: Callable[..., Stand]) -> None:
    def perform(request: UnitRequest, _: Cancel) -> UnitResult:
        time.sleep(0.01)
        return UnitResult("x", tokens=1)

    here = stand(plans.plan(plans.step("m", plans.ask(width=2), over="params.l")), perform, l=[1, 2, 3, 4, 5])
    assert here.drive(8)[1].status == "completed"
    assert here.most == 2


def test_requests_carry_what_the_unit_is_given(plans: PlanMaker, stand: Callable[..., Stand]) -> None:
    binding = {"kind": "literal", "name": "tag", "value": [1]}
    plan = plans.plan(
        plans.step("a", output={"type": "string"}),
        plans.step("m", plans.unit(bindings=[binding], timeoutMs=1500), ["steps.a.output"], over="params.l"),
    )
    here = stand(plan, lambda *_: UnitResult("text"), l=["x", "y"])
    here.drive(1)
    first, second, third = here.requests
    assert (first.schema, first.timeout_s, first.context.inputs, first.context.task_inputs) == (
        {"type": "string"},
        None,
        None,
        None,
    )
    assert (second.schema, second.timeout_s) == (None, 1.5)
    assert [request.context.item_index for request in here.requests] == [None, 0, 1]
    assert [request.context.item for request in here.requests] == [None, "x", "y"]
    assert third.context.inputs == {"steps.a.output": "text"}
    assert third.context.task_inputs == {"tag": [1]}
    assert third.context.params == {"l": ["x", "y"]}


def test_a_correction_is_told_the_errors(plans: PlanMaker, stand: Callable[..., Stand]) -> None:
    answers = iter(
        [UnitResult(failure_reason="validation_error", diagnostic="d", errors=("/n: wrong",)), UnitResult({"n": 1})]
    )
    here = stand(plans.plan(plans.step("a", plans.ask(output={"type": "object"}))), lambda *_: next(answers))
    assert here.drive()[1].status == "completed"
    assert [request.context.correction for request in here.requests] == [(), ("/n: wrong",)]
    assert [request.attempt for request in here.requests] == [1, 2]


def test_a_judge_sees_artifact_and_rubric_and_its_row_says_what_was_wrong(
    plans: PlanMaker, stand: Callable[..., Stand]
) -> None:
    def perform(request: UnitRequest, _: Cancel) -> UnitResult:
        return UnitResult("sorry" if ":gate" in request.unit_id else {"made": 1})

    here = stand(plans.plan(plans.step("a", rubric="- the  rubric")), perform)
    ending, core = here.drive()
    assert (ending, core.status) == ("settled", "blocked")
    judge = here.requests[1]
    assert '{"made":1}' in judge.instructions and "- the  rubric" in judge.instructions
    row = here.journal.units("r1")[1]
    assert (row.unit_id, row.role, row.status, row.reason) == ("a:gate~l1", "judge", "failed", "judge_unreadable")
    assert "JSON" in (row.diagnostic or "")


def test_unreported_usage_is_said(plans: PlanMaker, stand: Callable[..., Stand]) -> None:
    here = stand(plans.plan(plans.step("a", plans.ask()), plans.step("b")), lambda *_: UnitResult("x"))
    here.drive()
    assert [(n.step, n.text) for n in here.journal.notices("r1")] == [
        ("a", 'token usage unreported by engine "tool": counted as 0')
    ]


def test_unreported_usage_is_said_once_and_only_of_answers(plans: PlanMaker, stand: Callable[..., Stand]) -> None:
    retry = {"max": 2, "on": ["spawn_failed"]}
    plan = plans.plan(
        plans.step("refused", plans.ask(retry, "continue")), plans.step("a", plans.ask()), plans.step("b", plans.ask())
    )

    def perform(request: UnitRequest, _: object) -> UnitResult:
        return UnitResult(failure_reason="spawn_failed") if request.step_id == "refused" else UnitResult("x")

    here = stand(plan, perform)
    here.drive()
    assert len(here.requests) == 5
    assert [(n.step, n.text) for n in here.journal.notices("r1")] == [
        ("a", 'token usage unreported by engine "tool": counted as 0')
    ]


@pytest.mark.parametrize("how", ["timeout", "interrupted"])
def test_stopping_aborts_units_and_leaves_the_run_active(
    plans: PlanMaker, stand: Callable[..., Stand], how: str
) -> None:
    here = stand(plans.plan(plans.step("a", plans.unit(retry={"max": 5, "on": ["aborted"]}))), until_cancelled)
    driver, core = here.driver(timeout_s=0.05 if how == "timeout" else None)
    if how == "interrupted":
        threading.Timer(0.05, driver.interrupt, [signal.SIGTERM]).start()
    assert driver.drive() == how
    assert core.status == "active"
    (row,) = here.journal.units("r1")
    assert (row.status, row.reason, row.diagnostic) == ("failed", "aborted", "told to stop")
    assert here.journal.steps("r1")[0].status == "pending"
    here.perform = lambda *_: UnitResult("done")
    assert here.drive()[1].status == "completed"
    assert [row.unit_id for row in here.journal.units("r1")] == ["a:solo", "a:solo~r1"]


@pytest.mark.parametrize(("reason", "low", "high"), [("llm_rate_limit", 0.95, 5.0), ("timeout", 0.0, 0.8)])
def test_retries_of_model_reasons_wait_and_others_do_not(
    plans: PlanMaker,
    stand: Callable[..., Stand],
    monkeypatch: pytest.MonkeyPatch,
    reason: str,
    low: float,
    high: float,
) -> None:
    monkeypatch.setattr(underway_module, "JITTER", 0.0)
    answers = iter([UnitResult(failure_reason=reason), UnitResult("x")])
    moments: list[float] = []

    def perform(_: UnitRequest, __: Cancel) -> UnitResult:
        moments.append(time.monotonic())
        return next(answers)

    here = stand(plans.plan(plans.step("a", plans.ask(retry={"max": 1, "on": [reason]}))), perform)
    assert here.drive()[1].status == "completed"
    assert low <= moments[1] - moments[0] <= high


def test_a_bug_in_a_dispatcher_ends_the_driver_and_all_units(plans: PlanMaker, stand: Callable[..., Stand]) -> None:
    ended = threading.Event()

    def perform(request: UnitRequest, cancel: Cancel) -> UnitResult:
        if request.context.item_index == 0:
            time.sleep(0.05)
            raise ZeroDivisionError
        result = until_cancelled(request, cancel)
        ended.set()
        return result

    here = stand(plans.plan(plans.step("m", over="params.l")), perform, l=[1, 2])
    with pytest.raises(ZeroDivisionError):
        here.drive()
    assert ended.is_set()
    here.perform = lambda *_: UnitResult("x")
    assert here.drive()[1].status == "completed"
    assert {row.spawns for row in here.journal.units("r1")} == {2}
    assert len([n for n in here.journal.notices("r1") if "same id" in n.text]) == 2


def test_a_judge_has_ten_minutes_and_sees_nothing_of_the_run(plans: PlanMaker, stand: Callable[..., Stand]) -> None:
    here = stand(
        plans.plan(plans.step("a", plans.ask(timeoutMs=5000), inputs=["params.p"], rubric="- ok")),
        lambda *_: UnitResult('{"complete": true}', tokens=1),
        p="x",
    )
    assert here.drive()[1].status == "completed"
    unit, judge = here.requests
    assert (unit.timeout_s, judge.timeout_s) == (5.0, 600.0)
    assert judge.context.params == {} and judge.context.inputs is None


def test_a_driver_that_is_told_before_it_begins_starts_nothing(plans: PlanMaker, stand: Callable[..., Stand]) -> None:
    here = stand(plans.plan(plans.step("a")), lambda *_: UnitResult("x"))
    driver, core = here.driver()
    driver.interrupt(signal.SIGTERM)
    assert (driver.drive(), core.status, here.requests) == ("interrupted", "active", [])
