"""Stopping and going on, on the pure core: step limits, resume, abandon, crashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from akm_run.core import Core, replay
from akm_run.events import (
    RunAbandoned,
    RunResumed,
    RunSettled,
    StepSettled,
    UnitFinished,
    UnitStarted,
)
from akm_run.opening import RunFacts
from akm_run.policy import Limits
from akm_schemas.plan import Plan

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker, World

End = Callable[..., UnitFinished]
ByKey = Callable[[End, dict[str, Any]], Callable[[UnitStarted], UnitFinished]]


def start(plan: Plan, limits: Limits | None = None, **params: Any) -> Core:
    return Core(plan, RunFacts(params, 8), limits)


def test_max_steps_counts_finished_steps_only(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    plan = plans.plan(
        plans.step("a"),
        plans.route("r", "steps.a.output", [("no", "b")], default="c"),
        plans.step("b"),
        plans.step("c"),
        plans.step("d"),
    )
    here = world(by_key(end, {}))
    core = here.run(start(plan, Limits(max_steps=3)))
    assert (core.status, core.halt) == ("active", "max_steps")
    assert [state.status for state in core.steps] == ["completed", "completed", "skipped", "completed", "pending"]
    assert here.run(replay(plan, RunFacts({}, 8), here.log)).status == "completed"
    assert here.started() == ["a:solo", "c:solo", "d:solo"]


def test_resume_runs_only_what_is_not_completed(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    unit = plans.unit(on_error="continue", retry={"max": 1, "on": ["timeout"]})
    plan = plans.plan(plans.step("m", unit, over="params.l", output={"type": "array", "items": {"type": "string"}}))
    here = world(by_key(end, {"m:d4735e3a265e16ee*": ValueError("timeout")}), room=1)
    facts = RunFacts({"l": [1, 2, 3]}, 8)
    assert here.run(Core(plan, facts)).status == "failed"  # the null slot misses the schema
    for round_ in (2, 4):
        here.log.append(RunResumed())
        before = len(here.log)
        assert here.run(replay(plan, facts, here.log)).status == "failed"
        again = [event.unit_id for event in here.log[before:] if isinstance(event, UnitStarted)]
        assert again == [f"m:d4735e3a265e16ee~r{round_}", f"m:d4735e3a265e16ee~r{round_ + 1}"]


def test_abandoned_and_resumed_in_any_order(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    plan = plans.plan(plans.step("a"), plans.step("b"))
    facts = RunFacts({}, 8)
    here = world(by_key(end, {"b:solo": ValueError("timeout")}))
    here.run(Core(plan, facts))
    here.log += [RunResumed(), RunAbandoned(), RunResumed(), RunAbandoned(), RunResumed()]
    assert here.run(replay(plan, facts, here.log)).status == "completed"
    assert here.started() == ["a:solo", "b:solo", "b:solo~r1"]


def test_what_ran_in_a_crash_runs_again_under_the_same_id(
    plans: PlanMaker, world: type[World], end: End, by_key: ByKey
) -> None:
    plan = plans.plan(plans.step("a"), plans.step("b"))
    here = world(by_key(end, {}))
    here.run(Core(plan, RunFacts({}, 8)), finishes=1)
    core = here.run(replay(plan, RunFacts({}, 8), here.log))
    assert here.started() == ["a:solo", "b:solo", "b:solo"]
    assert core.spent.units == 3


def test_a_failed_step_closes_what_was_lost(plans: PlanMaker, world: type[World], end: End) -> None:
    plan = plans.plan(plans.step("m", over="params.l"))
    facts = RunFacts({"l": [1, 2]}, 8)
    core = Core(plan, facts)
    log = [*core.next(2)]
    for event in log:
        core.apply(event)
    first = log[0]
    assert isinstance(first, UnitStarted)
    log.append(end(first, None, "timeout"))
    core = replay(plan, facts, log)
    closed, step, run = core.next(2)
    assert isinstance(closed, UnitFinished) and closed.reason == "aborted"
    assert isinstance(step, StepSettled) and step.reason == "timeout"
    assert isinstance(run, RunSettled)


def test_aborted_units_run_again_without_resume(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    plan = plans.plan(plans.step("a"))
    core = Core(plan, RunFacts({}, 8))
    (started,) = core.next(1)
    assert isinstance(started, UnitStarted)
    aborted = end(started, None, "aborted")
    core = replay(plan, RunFacts({}, 8), [started, aborted])
    here = world(by_key(end, {}))
    assert here.run(core).status == "completed"
    assert here.started() == ["a:solo~r1"]
