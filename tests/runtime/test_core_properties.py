"""What holds of the core whatever the order of results, the room, and the moment of a crash."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from akm_run.core import Core, replay
from akm_run.events import RunSettled, StepSettled, UnitFinished, UnitStarted
from akm_run.opening import RunFacts
from akm_schemas.plan import Plan

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker, World

End = Callable[..., UnitFinished]
ITEMS = st.lists(st.one_of(st.integers(0, 6), st.sampled_from(["a", "b", ""]), st.booleans()), max_size=12)


def steady(end: End, salt: int) -> Callable[[UnitStarted], UnitFinished]:
    """Answers that depend on the attempt alone: some fail, some are empty."""

    def answer(started: UnitStarted) -> UnitFinished:
        digest = hashlib.sha256(f"{salt} {started.unit_id}".encode()).digest()
        if digest[0] < 70:
            return end(started, None, ("timeout", "non_zero_exit")[digest[1] % 2], diagnostic=started.unit_id)
        return end(started, None if digest[0] < 90 else f"value {digest[2] % 3}", tokens=digest[3])

    return answer


def pipeline(plans: PlanMaker, on_error: str, budget: dict[str, int] | None = None) -> Plan:
    unit = plans.unit(retry={"max": 2, "on": ["timeout"]}, on_error=on_error)
    return plans.plan(
        plans.step("m", unit, over="params.l", concurrency=5),
        plans.step("w", plans.unit(on_error="continue"), inputs=["steps.m.output"]),
        budget=budget or {},
    )


def outcome(core: Core) -> Any:
    return core.status, [(state.status, state.artifact) for state in core.steps]


@given(ITEMS, st.integers(0, 50), st.lists(st.tuples(st.integers(0, 99), st.integers(1, 8)), min_size=2, max_size=4))
@settings(max_examples=60, deadline=None)
def test_any_order_of_results_gives_the_same_artifacts(
    plans: PlanMaker, world: type[World], end: End, items: list[Any], salt: int, ways: list[tuple[int, int]]
) -> None:
    plan = pipeline(plans, "continue")
    outcomes = []
    for seed, room in ways:
        here = world(steady(end, salt), seed=seed, room=room)
        outcomes.append(outcome(here.run(Core(plan, RunFacts({"l": items}, 8)))))
        assert here.most <= min(room, 5)
    assert all(other == outcomes[0] for other in outcomes)


@given(ITEMS, st.integers(0, 50), st.integers(0, 99), st.integers(1, 8), st.data())
@settings(max_examples=80, deadline=None)
def test_a_prefix_of_the_journal_goes_on_as_if_nothing_had_happened(
    plans: PlanMaker,
    world: type[World],
    end: End,
    items: list[Any],
    salt: int,
    seed: int,
    room: int,
    data: st.DataObject,
) -> None:
    plan, facts = pipeline(plans, "continue"), RunFacts({"l": items}, 8)
    straight = world(steady(end, salt), seed=seed, room=room)
    wanted = outcome(straight.run(Core(plan, facts)))
    cut = data.draw(st.integers(0, len(straight.log)))
    if cut < len(straight.log) and isinstance(straight.log[cut], RunSettled):
        cut += 1  # the end of the last step and that of the run are one transaction
    prefix = straight.log[:cut]
    crashed = world(steady(end, salt), seed=seed + 1, room=room, log=list(prefix))
    core = crashed.run(replay(plan, facts, prefix))
    assert outcome(core) == wanted
    finished = {event.unit_id for event in prefix if isinstance(event, UnitFinished)}
    again = {event.unit_id for event in crashed.log[cut:] if isinstance(event, UnitStarted)}
    assert not finished & again
    assert outcome(replay(plan, facts, crashed.log)) == wanted
    ends = Counter(event.unit_id for event in crashed.log if isinstance(event, UnitFinished))
    assert set(ends.values()) <= {1}


@given(
    ITEMS,
    st.integers(0, 50),
    st.integers(0, 99),
    st.integers(1, 8),
    st.integers(1, 12),
    st.sampled_from(["fail", "continue"]),
    st.data(),
)
@settings(max_examples=80, deadline=None)
def test_the_budget_is_never_exceeded_even_across_a_crash(
    plans: PlanMaker,
    world: type[World],
    end: End,
    items: list[Any],
    salt: int,
    seed: int,
    room: int,
    ceiling: int,
    on_error: str,
    data: st.DataObject,
) -> None:
    plan, facts = pipeline(plans, on_error, {"maxUnits": ceiling}), RunFacts({"l": items}, 8)
    here = world(steady(end, salt), seed=seed, room=room)
    here.run(Core(plan, facts), finishes=data.draw(st.integers(0, 20)))
    core = here.run(replay(plan, facts, here.log))
    assert core.spent.units == len(here.started()) <= ceiling
    assert core.status in ("completed", "failed")
    reasons = {event.reason for event in here.log if isinstance(event, StepSettled) and event.status == "failed"}
    assert reasons <= {"budget_exceeded", "timeout", "non_zero_exit"}


def test_the_cost_of_an_event_does_not_grow_with_the_map(plans: PlanMaker, world: type[World], end: End) -> None:
    """Counted in calls, which no other load on the machine can disturb: eight times the units, eight times the calls."""

    def calls(items: int) -> int:
        counted = 0

        def count(_: FrameType, kind: str, __: object) -> None:
            nonlocal counted
            counted += kind in ("call", "c_call")

        core = Core(plan, RunFacts({"l": list(range(items))}, 8))
        here = world(lambda started: end(started, "x"), room=8)
        sys.setprofile(count)
        try:
            here.run(core)
        finally:
            sys.setprofile(None)
        assert core.status == "completed"
        return counted

    plan = plans.plan(plans.step("m", over="params.l", concurrency=8))
    few, many = calls(250), calls(2000)
    assert 6 < many / few < 9
