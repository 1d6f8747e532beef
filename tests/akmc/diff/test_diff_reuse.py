"""What --reuse would do, inside composed workflows too, and with gates."""

from __future__ import annotations

from typing import Any

from akmc.diff.compare import compare_plans
from akmc.diff.model import PlanDiff


def rows(diff: PlanDiff) -> list[tuple[str, str, str]]:
    return [(step.id, step.reuse, step.why) for step in diff.steps]


def nested(plans: Any, word: str, given: Any = None, *, source: str = "one") -> Any:
    """A step, a composed workflow of three that reads it or is given a value, and a step behind."""
    inner = plans.plan(
        plans.step("x", plans.exec("make", "x")),
        plans.step("y", plans.exec("make", word), inputs=[plans.ref("steps.x.output")]),
        plans.step("z", plans.exec("make", "z"), inputs=[plans.ref("steps.y.output")]),
        params={"n": {}},
    )
    binding = {"kind": "literal", "name": "n", "value": given}
    if given is None:
        binding = {"kind": "reference", "name": "n", "from": plans.ref("steps.a.output"), "schema": {}}
    return plans.plan(
        plans.step("a", plans.exec("make", source)),
        plans.step("kid", plans.child(inner, inputBindings=[binding])),
        plans.step("last", plans.exec("make", "last"), inputs=[plans.ref("steps.kid.output")]),
    )


def test_an_edit_in_a_composed_workflow_costs_that_step(plans: Any) -> None:
    assert rows(compare_plans(nested(plans, "y", 1), nested(plans, "why", 1))) == [
        ("a", "reused", "nothing that it depends on changed"),
        ("kid", "again", "child workflow changed"),
        ("kid/x", "reused", "nothing that it depends on changed"),
        ("kid/y", "again", "command changed"),
        ("kid/z", "depends", 'taken over if step "y" yields the same again'),
        ("last", "depends", 'taken over if step "kid" yields the same again'),
    ]


def test_another_param_of_a_composed_workflow_reaches_all_of_it(plans: Any) -> None:
    found = rows(compare_plans(nested(plans, "y", 1), nested(plans, "y", 2)))
    assert found[1] == ("kid", "again", "bindings changed")
    assert [row[1:] for row in found[2:5]] == [("again", 'what step "kid" gives it changed')] * 3


def test_a_param_from_a_step_that_runs_again_is_a_condition(plans: Any) -> None:
    found = rows(compare_plans(nested(plans, "y"), nested(plans, "why", source="two")))
    assert found[2] == ("kid/x", "depends", 'taken over if step "a" yields the same again')
    assert found[3][:2] == ("kid/y", "again")


def test_a_param_that_may_differ_is_a_condition_inside_where_it_is_handed_on(plans: Any) -> None:
    def plan(params: Any) -> Any:
        binding = {"kind": "reference", "name": "n", "from": plans.ref("params.p"), "schema": {}}
        inner = plans.plan(plans.step("x", plans.exec("make", "x")), params={"n": {}})
        return plans.plan(plans.step("kid", plans.child(inner, inputBindings=[binding])), params=params)

    found = rows(compare_plans(plan({"p": {"default": 1}}), plan({"p": {"default": 2}, "q": {"default": 1}})))
    assert found[0][:2] == ("kid", "again")
    assert found[1] == ("kid/x", "depends", 'taken over if param "p" had the same value')
    found = rows(compare_plans(plan({"p": {}}), plan({"p": {}, "q": {"default": 1}})))
    assert found[0][:2] == ("kid", "again")
    assert found[1] == ("kid/x", "reused", "nothing that it depends on changed")


def test_units_of_another_kind_have_no_run_inside_to_take_over_from(plans: Any) -> None:
    inner = plans.plan(plans.step("x", plans.exec("make", "x")))

    def plan(**keys: Any) -> Any:
        return plans.plan(plans.step("kid", plans.child(inner), **keys), params={"a": {}})

    over = {"over": plans.ref("params.a"), "concurrency": 1, "reducer": "collect"}
    found = rows(compare_plans(plan(), plan(map=over)))
    assert found == [(name, "again", "was a unit step: its units have other keys") for name in ("kid", "kid/x")]


def test_a_rubric_asks_the_judge_anew_and_dispatches_nothing(plans: Any) -> None:
    def plan(rubric: str | None) -> Any:
        gate = {"gate": {"rubric": rubric, "maxLoops": 1, "judge": plans.prompt()}} if rubric else {}
        return plans.plan(plans.step("a", **gate))

    nothing = "nothing that it depends on changed"
    assert rows(compare_plans(plan("Good."), plan("Fine."))) == [
        ("a", "reused", f"{nothing}; what its gate says is asked anew")
    ]
    assert rows(compare_plans(plan("Good."), plan(None))) == [("a", "reused", f"{nothing}; no gate is asked any more")]
    assert rows(compare_plans(plan("Good."), plan("Good."))) == [("a", "reused", nothing)]


def test_policy_costs_nothing(plans: Any) -> None:
    old, new = (plans.plan(plans.step("a", unit=keys)) for keys in ({}, {"timeoutMs": None, "onError": "continue"}))
    assert rows(compare_plans(old, new))[0][1] == "reused"
