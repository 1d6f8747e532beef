"""The rules of steps, one by one, on the pure core."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from akm_run.core import Core, replay
from akm_run.events import (
    Event,
    NoticeRaised,
    OutputsUnresolved,
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
OBJECT = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


def start(plan: Plan, limits: Limits | None = None, **params: Any) -> Core:
    return Core(plan, RunFacts(params, 8), limits)


def settled(log: list[Event]) -> dict[int, StepSettled]:
    return {event.step: event for event in log if isinstance(event, StepSettled)}


def test_a_unit_step_promotes_its_result(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    here = world(by_key(end, {"a": "text"}))
    core = here.run(start(plans.plan(plans.step("a"), plans.step("b", inputs=["steps.a.output"]))))
    assert here.started() == ["a:solo", "b:solo"]
    assert (core.status, core.steps[0].artifact, core.steps[1].artifact) == ("completed", "text", "ok")


def test_inputs_name_skipped_and_empty_producers(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    plan = plans.plan(
        plans.step("a"),
        plans.route("r", "steps.a.output", [("left", "p")], default="q"),
        plans.step("p"),
        plans.step("q"),
        plans.step("z", inputs=["steps.p.output", "steps.q.output", "steps.q.output.deep[0]"]),
    )
    here = world(by_key(end, {"q": None}))
    core = here.run(start(plan))
    assert core.steps[2].status == "skipped"
    told = [event.text for event in here.log if isinstance(event, NoticeRaised)]
    assert told == [
        'input steps.p.output is null: step "p" was skipped',
        'input steps.q.output is null: step "q" has no output',
        'input steps.q.output.deep[0] is null: step "q" has no output',
    ]


@pytest.mark.parametrize(
    ("value", "over", "reason", "says"),
    [
        ({"it": "xyz"}, "steps.a.output.it", "not_an_array", "steps.a.output.it is a string"),
        ({"it": None}, "steps.a.output.it", "null_reference", "steps.a.output.it is null"),
        ({}, "steps.a.output.it", "null_reference", 'steps.a.output has no property "it"'),
        ("text", "steps.a.output.x", "wrong_kind", 'steps.a.output is a string: cannot read property "x"'),
        ({"it": {}}, "steps.a.output.it[1]", "wrong_kind", "steps.a.output.it is an object: cannot read index 1"),
        ([1], "steps.a.output[3]", "null_reference", "steps.a.output has 1 item, so no index 3"),
        ([1, None], "steps.a.output", "null_item", "steps.a.output[1] is null"),
        (True, "steps.a.output", "not_an_array", "a boolean"),
    ],
)
def test_over_fails_by_name_before_any_dispatch(
    plans: PlanMaker, world: type[World], end: End, by_key: ByKey, value: Any, over: str, reason: str, says: str
) -> None:
    here = world(by_key(end, {"a": value}))
    core = here.run(start(plans.plan(plans.step("a"), plans.step("m", over=over))))
    last = settled(here.log)[1]
    assert (core.status, last.status, last.reason) == ("failed", "failed", reason)
    assert says in (last.summary or "")
    assert here.started() == ["a:solo"]


def test_inputs_of_the_wrong_kind_fail_but_missing_properties_are_null(
    plans: PlanMaker, world: type[World], end: End, by_key: ByKey
) -> None:
    plan = plans.plan(plans.step("a"), plans.step("b", inputs=["steps.a.output.x.y"]))
    here = world(by_key(end, {"a": {"x": 1}}))
    assert here.run(start(plan)).status == "failed"
    assert settled(here.log)[1].summary == 'steps.a.output.x is a number: cannot read property "y"'
    here = world(by_key(end, {"a": {}}))
    assert here.run(start(plan)).status == "completed"


def test_repeated_items_are_units_of_their_own(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    here = world(by_key(end, {}), room=1)
    here.run(start(plans.plan(plans.step("m", over="params.l")), l=["x", "y", "x", "x"]))
    assert here.started() == [
        "m:ba2df4903a2c14e8",
        "m:2bc983a5942276eb",
        "m:ba2df4903a2c14e8#2",
        "m:ba2df4903a2c14e8#3",
    ]


def test_an_empty_map_dispatches_nothing(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    plan = plans.plan(plans.step("m", over="params.l"), plans.step("v", over="params.l", reducer="vote"))
    here = world(by_key(end, {}))
    core = here.run(start(plan, l=[]))
    assert (core.status, core.steps[0].artifact, core.steps[1].artifact, here.started()) == ("completed", [], None, [])
    plan = plans.plan(plans.step("m", over="params.l", output={"type": "array", "minItems": 1}))
    here = world(by_key(end, {}))
    assert here.run(start(plan, l=[])).status == "failed"
    assert settled(here.log)[0].reason == "validation_error"


@pytest.mark.parametrize(
    ("values", "winner", "reason"),
    [
        (["a", "b", "b"], "b", None),
        ([1, 1.0, 2], 1, None),
        (["a", None, None], "a", None),
        (["a", "b"], None, "vote_tie"),
        ([None, None], None, "vote_no_success"),
        ([ValueError("timeout")], None, "vote_no_success"),
    ],
)
def test_votes(
    plans: PlanMaker, world: type[World], end: End, values: list[Any], winner: Any, reason: str | None
) -> None:
    plan = plans.plan(plans.step("v", plans.unit(on_error="continue"), over="params.l", reducer="vote"))
    answers = iter(values)

    def answer(started: UnitStarted) -> UnitFinished:
        value = next(answers)
        return end(started, None, str(value)) if isinstance(value, Exception) else end(started, value)

    here = world(answer, room=1)
    core = here.run(start(plan, l=list(range(len(values)))))
    assert settled(here.log)[0].reason == reason
    assert core.steps[0].artifact == winner


def test_the_first_failure_stops_dispatches_and_is_shown_in_item_order(
    plans: PlanMaker, world: type[World], end: End
) -> None:
    plan = plans.plan(plans.step("m", over="params.l"))
    core = start(plan, l=[1, 2, 3, 4])
    starts = [event for event in core.next(2) if isinstance(event, UnitStarted)]
    for event in starts:
        core.apply(event)
    core.apply(end(starts[1], None, "timeout", diagnostic="second"))
    assert core.next(1) == []  # the sibling is still running, and nothing new starts
    core.apply(end(starts[0], None, "non_zero_exit", diagnostic="first"))
    step, run = core.next(2)
    assert isinstance(step, StepSettled) and isinstance(run, RunSettled)
    assert (step.reason, step.summary, step.unit_count, step.failed_units) == ("non_zero_exit", "first", 4, 2)
    assert run.status == "failed"


def test_continue_counts_and_keeps_slots(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    plan = plans.plan(plans.step("m", plans.unit(on_error="continue"), over="params.l"))
    here = world(by_key(end, {"m:d4735e3a265e16ee*": ValueError("timeout")}))
    core = here.run(start(plan, l=[1, 2, 3]))
    assert core.steps[0].artifact == ["ok", None, "ok"]
    assert settled(here.log)[0].summary == "2 ok, 1 failed, 0 never run"


def test_retries_have_rows_of_their_own(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    unit = plans.unit(retry={"max": 2, "on": ["timeout"]})
    answers = {"a:solo": ValueError("timeout"), "a:solo~r1": ValueError("timeout"), "a:solo~r2": "ok"}
    here = world(by_key(end, answers))
    assert here.run(start(plans.plan(plans.step("a", unit)))).status == "completed"
    assert here.started() == ["a:solo", "a:solo~r1", "a:solo~r2"]
    here = world(by_key(end, answers))
    assert here.run(start(plans.plan(plans.step("a", unit)), Limits(max_retries=1))).status == "failed"
    assert here.started() == ["a:solo", "a:solo~r1"]
    here = world(by_key(end, {"a": ValueError("non_zero_exit")}))
    assert here.run(start(plans.plan(plans.step("a", unit)))).status == "failed"
    assert here.started() == ["a:solo"]


def test_llm_reasons_cool_down_first(plans: PlanMaker, end: End) -> None:
    core = start(plans.plan(plans.step("a", plans.ask(retry={"max": 3, "on": ["llm_rate_limit"]}))))
    waits: list[float] = []
    for _ in range(3):
        (started,) = core.next(1)
        assert isinstance(started, UnitStarted)
        core.apply(started)
        core.apply(end(started, None, "llm_rate_limit"))
        assert core.next(1) == []
        assert core.frame is not None
        waits += core.frame.cooling.values()
        core.warm("a:solo")
    assert waits == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("reason", ["validation_error", "parse_error"])
def test_a_model_is_corrected_once_and_a_command_never(
    plans: PlanMaker, world: type[World], end: End, by_key: ByKey, reason: str
) -> None:
    here = world(by_key(end, {"a": ValueError(reason)}))
    assert here.run(start(plans.plan(plans.step("a", plans.ask(output=OBJECT))))).status == "failed"
    assert [event.cause for event in here.log if isinstance(event, UnitStarted)] == ["first", "correction"]
    here = world(by_key(end, {"a": ValueError(reason)}))
    assert here.run(start(plans.plan(plans.step("a", plans.unit(output=OBJECT))))).status == "failed"
    assert here.started() == ["a:solo"]


@pytest.mark.parametrize("ceiling", [1, 2, 3, 4])
def test_a_run_that_needs_exactly_its_budget_completes(
    plans: PlanMaker, world: type[World], end: End, by_key: ByKey, ceiling: int
) -> None:
    plan = plans.plan(plans.step("m", plans.unit(on_error="continue"), over="params.l"), budget={"maxUnits": ceiling})
    here = world(by_key(end, {}), room=1)
    core = here.run(start(plan, l=[1, 2, 3]))
    assert core.status == ("completed" if ceiling >= 3 else "failed")
    assert core.spent.units == min(3, ceiling)
    if ceiling < 3:
        last = settled(here.log)[0]
        assert last.reason == "budget_exceeded"
        assert (last.summary or "").startswith(
            f"budget exceeded (max_units ceiling): {ceiling} ok, 0 failed, {3 - ceiling}"
        )


def test_a_unit_that_waits_for_its_retry_has_failed(plans: PlanMaker, world: type[World], end: End) -> None:
    unit = plans.unit(on_error="continue", retry={"max": 2, "on": ["non_zero_exit"]})
    plan = plans.plan(plans.step("m", unit, over="params.l", concurrency=1), budget={"maxUnits": 4})
    here = world(lambda started: end(started, reason="non_zero_exit"), room=1)
    assert here.run(start(plan, l=[1, 2, 3])).status == "failed"
    assert len(here.started()) == 4
    last = settled(here.log)[0]
    assert last.reason == "budget_exceeded"
    assert ": 0 ok, 2 failed, 1 never run\nresume does not help" in (last.summary or "")
    assert (last.unit_count, last.failed_units) == (3, 2)


def test_the_last_unit_may_pass_the_token_ceiling(plans: PlanMaker, world: type[World], end: End) -> None:
    plan = plans.plan(plans.step("m", plans.ask(on_error="continue"), over="params.l"), budget={"maxTokens": 100})
    for items, status in (([1, 2], "completed"), ([1, 2, 3], "failed")):
        here = world(lambda started: end(started, "x", tokens=60), room=1)
        core = here.run(start(plan, l=items))
        assert (core.status, core.spent.tokens, len(here.started())) == (status, 120, 2)


def test_routes_compare_text_and_skip(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    plan = plans.plan(
        plans.step("a"),
        plans.route("r", "steps.a.output", [(True, "p"), (1, "q"), ("1.5", "s")]),
        *(plans.step(name) for name in "pqs"),
    )
    for value, chosen in ((True, 2), ("true", 2), (1, 3), ("1", 3), (1.5, 4), ("1.5", 4)):
        core = world(by_key(end, {"a": value})).run(start(plan))
        assert [index for index in (2, 3, 4) if core.steps[index].status == "completed"] == [chosen], value
    undecided: list[tuple[Any, str]] = [
        ("up", "no_branch"),
        (None, "null_reference"),
        ([1], "wrong_kind"),
        ({}, "wrong_kind"),
    ]
    for other, reason in undecided:
        here = world(by_key(end, {"a": other}))
        assert here.run(start(plan)).status == "failed"
        assert settled(here.log)[1].reason == reason


def test_a_skipped_router_selects_nothing_and_reads_nothing(
    plans: PlanMaker, world: type[World], end: End, by_key: ByKey
) -> None:
    plan = plans.plan(
        plans.step("a"),
        plans.route("outer", "steps.a.output", [("near", "x"), ("far", "inner")]),
        plans.route("inner", "steps.a.output.gone.deeper", [("p", "p")], default="q"),
        plans.step("p"),
        plans.step("q"),
        plans.step("x"),
    )
    core = world(by_key(end, {"a": "near"})).run(start(plan))
    assert [state.status for state in core.steps] == [
        "completed",
        "completed",
        "skipped",
        "skipped",
        "skipped",
        "completed",
    ]


def test_env_bindings_cannot_reach_a_model(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    unit = plans.ask(llm=True, env=[{"kind": "literal", "name": "FOO", "value": "x"}])
    here = world(by_key(end, {}))
    assert here.run(start(plans.plan(plans.step("a", unit)))).status == "failed"
    assert settled(here.log)[0].reason == "env_unsupported"
    assert here.started() == []


def test_isolation_needs_the_commit_of_the_publication(
    plans: PlanMaker, world: type[World], end: End, by_key: ByKey
) -> None:
    plan = plans.plan(plans.step("a", plans.unit(isolation="worktree", retry={"max": 1, "on": ["spawn_failed"]})))
    here = world(by_key(end, {}))
    assert here.run(start(plan)).status == "failed"
    assert here.started() == []
    assert "git directory" in (settled(here.log)[0].summary or "")
    assert here.run(Core(plan, RunFacts({}, 8, "c0ffee"))).status == "completed"


def test_outputs_are_all_or_nothing(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    plan = plans.plan(
        plans.step("a"),
        plans.step("b"),
        outputs={
            "fine": "steps.a.output.k",
            "gone": "steps.a.output.gone",
            "walk": "steps.a.output.k.deeper",
            "typed": {"from": plans.reference("steps.a.output.k"), "schema": {"type": "integer"}},
            "empty": "steps.b.output",
        },
    )
    here = world(by_key(end, {"a": {"k": "text"}, "b": None}))
    core = here.run(start(plan))
    (taken_back,) = [event for event in here.log if isinstance(event, OutputsUnresolved)]
    assert (core.status, core.steps[1].status, core.halt) == ("active", "pending", "unresolved")
    assert [word in taken_back.summary for word in ("fine", "gone", "walk", "typed", "empty")] == [False] + [True] * 4
    assert 'steps.a.output.k is a string: cannot read property "deeper"' in taken_back.summary
    assert here.run(replay(plan, RunFacts({}, 8), here.log)).halt == "unresolved"
    assert here.started() == ["a:solo", "b:solo"]


def test_exports_of_the_last_step_are_its_artifact(
    plans: PlanMaker, world: type[World], end: End, by_key: ByKey
) -> None:
    here = world(by_key(end, {"a": {"k": 1}}))
    here.run(start(plans.plan(plans.step("a"), outputs={"all": "steps.a.output", "one": "steps.a.output.k"})))
    assert here.log[-1] == RunSettled("completed", {"all": {"k": 1}, "one": 1})


def test_null_and_invalid_bindings_fail_by_name(plans: PlanMaker, world: type[World], end: End, by_key: ByKey) -> None:
    binding = {
        "kind": "reference",
        "name": "tag",
        "from": plans.reference("steps.a.output"),
        "schema": {"type": "string"},
    }
    plan = plans.plan(plans.step("a"), plans.step("b", plans.unit(bindings=[binding])))
    for value, reason in ((None, "null_reference"), (7, "validation_error")):
        here = world(by_key(end, {"a": value}))
        assert here.run(start(plan)).status == "failed"
        last = settled(here.log)[1]
        assert last.reason == reason
        assert 'binding "tag"' in (last.summary or "") and "steps.a.output" in (last.summary or "")


@pytest.mark.parametrize("on_error", ["fail", "continue"])
def test_a_blocked_child_blocks_the_step_whatever_on_error_says(
    plans: PlanMaker, world: type[World], end: Callable[..., UnitFinished], on_error: str
) -> None:
    plan = plans.plan(plans.step("m", plans.unit(on_error=on_error), over="params.l", concurrency=1), plans.step("z"))

    def answer(started: UnitStarted) -> UnitFinished:
        if started.index == 1:
            return end(started, None, "child_blocked", diagnostic="child_blocked: what to type")
        return end(started, None, "timeout") if on_error == "continue" and started.index == 0 else end(started, "x")

    here = world(answer)
    core = here.run(Core(plan, RunFacts({"l": [1, 2, 3]}, 8)))
    assert (core.status, core.steps[0].status, core.steps[1].status) == ("blocked", "blocked", "pending")
    settled = here.log[-2]
    assert isinstance(settled, StepSettled)
    assert (settled.reason, settled.summary) == ("child_blocked", "child_blocked: what to type")
    assert len(here.started()) == 2
