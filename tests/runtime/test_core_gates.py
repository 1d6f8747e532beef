"""Gates on the pure core: verdicts, feedback, rounds, budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from akm_run.core import Core, replay
from akm_run.events import (
    Event,
    RunResumed,
    StepRejected,
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


def start(plan: Plan, limits: Limits | None = None, **params: Any) -> Core:
    return Core(plan, RunFacts(params, 8), limits)


def settled(log: list[Event]) -> dict[int, StepSettled]:
    return {event.step: event for event in log if isinstance(event, StepSettled)}


def judging(end: End, verdicts: list[str | Exception], work: Any = "v") -> Callable[[UnitStarted], UnitFinished]:
    answers = iter(verdicts)

    def answer(started: UnitStarted) -> UnitFinished:
        if started.role == "unit":
            return end(started, work)
        verdict = next(answers)
        return (
            end(started, None, str(verdict), diagnostic="why")
            if isinstance(verdict, Exception)
            else end(started, verdict)
        )

    return answer


REJECTED = '{"complete": false, "missing": ["the readme"], "feedback": "try again"}'
ACCEPTED = '{"complete": true}'


def test_a_rejection_goes_round_with_feedback(plans: PlanMaker, world: type[World], end: End) -> None:
    plan = plans.plan(plans.step("a", plans.ask(), rubric="- ok", loops=3))
    here = world(judging(end, [REJECTED, ACCEPTED]))
    core = here.run(start(plan))
    assert core.status == "completed"
    assert here.started() == ["a:solo", "a:gate~l1", "a:solo~l2", "a:gate~l2"]
    assert core.steps[0].feedback == "try again\nMissing:\n- the readme"
    hashes = [event.input_hash for event in here.log if isinstance(event, UnitStarted) and event.role == "unit"]
    assert len(set(hashes)) == 2


def test_rejected_for_good_asks_the_judge_again_and_nobody_else(plans: PlanMaker, world: type[World], end: End) -> None:
    plan = plans.plan(plans.step("a", plans.ask(), rubric="- ok", loops=2))
    here = world(judging(end, [REJECTED, REJECTED, REJECTED, ACCEPTED]))
    core = here.run(start(plan))
    assert (core.status, core.halt) == ("active", "rejected")
    assert isinstance(here.log[-1], StepRejected)
    core = here.run(replay(plan, RunFacts({}, 8), here.log))
    assert core.halt == "rejected"
    assert here.run(replay(plan, RunFacts({}, 8), here.log)).status == "completed"
    assert here.started() == ["a:solo", "a:gate~l1", "a:solo~l2", "a:gate~l2", "a:gate~l2~r1", "a:gate~l2~r2"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (RuntimeError("llm_http_error"), "judge_failed"),
        (RuntimeError("judge_unreadable"), "judge_unreadable"),
        ("sorry", "judge_unreadable"),
    ],
)
def test_no_verdict_blocks_and_uses_up_no_loop(
    plans: PlanMaker, world: type[World], end: End, answer: Any, reason: str
) -> None:
    plan = plans.plan(plans.step("a", plans.ask(), rubric="- ok", loops=2))
    here = world(judging(end, [answer, REJECTED, ACCEPTED]))
    core = here.run(start(plan))
    assert (core.status, core.steps[0].status, settled(here.log)[0].reason) == ("blocked", "blocked", reason)
    here.log.append(RunResumed())
    assert here.run(replay(plan, RunFacts({}, 8), here.log)).status == "completed"
    assert here.started() == ["a:solo", "a:gate~l1", "a:gate~l1~r1", "a:solo~l2", "a:gate~l2"]


def test_exec_steps_never_loop(plans: PlanMaker, world: type[World], end: End) -> None:
    here = world(judging(end, [REJECTED]))
    core = here.run(start(plans.plan(plans.step("a", rubric="- ok", loops=1))))
    assert (core.halt, here.started()) == ("rejected", ["a:solo", "a:gate~l1"])


def test_a_schema_miss_may_use_loops_without_the_judge(plans: PlanMaker, world: type[World], end: End) -> None:
    values: list[Any] = [["x"], ["x"], ["y"]]
    plan = plans.plan(
        plans.step("a", plans.ask(), over="params.l", rubric="- ok", loops=2, output={"type": "array", "minItems": 2})
    )
    here = world(judging(end, [], values))
    core = here.run(start(plan, l=[1]))
    assert core.status == "failed"
    assert settled(here.log)[0].reason == "validation_error"
    assert [unit_id.partition("~")[2] for unit_id in here.started()] == ["", "l2"]


def test_judge_calls_count_in_the_budget(plans: PlanMaker, world: type[World], end: End) -> None:
    plan = plans.plan(plans.step("a", plans.ask(), rubric="- ok"), budget={"maxUnits": 1})
    here = world(judging(end, [ACCEPTED]))
    assert here.run(start(plan)).status == "failed"
    assert settled(here.log)[0].reason == "budget_exceeded"
