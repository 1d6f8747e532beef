"""Two plans as one drawing."""

from __future__ import annotations

from typing import Any

import pytest

from akm_schemas.drawing import Scene, draw_scene
from akm_schemas.plan import Plan
from akmc.graph.difference import difference_scene


def scene(old: Plan, new: Plan) -> Scene:
    return difference_scene(old, new, ("old", "new"))


def words(found: Scene) -> list[tuple[str, str | None]]:
    return [(node.id, None if node.mark is None else node.mark.word) for node in found.nodes]


def arcs(found: Scene) -> list[tuple[str, str, str]]:
    return [(found.nodes[arc.source].id, found.nodes[arc.target].id, arc.text) for arc in found.arcs]


def route(plans: Any, branches: dict[str, str]) -> dict[str, Any]:
    when = [{"match": match, "step": step} for match, step in branches.items()]
    return {"input": plans.ref("params.p"), "when": when}


def test_steps_are_marked_where_they_stand(plans: Any) -> None:
    old = plans.plan(plans.step("a"), plans.step("b", plans.exec("one", "thing")), plans.step("c"))
    new = plans.plan(plans.step("a"), plans.step("c", plans.exec("make", "-j")), plans.step("d", plans.prompt()))
    found = scene(old, new)
    assert words(found) == [("a", None), ("b", "- removed"), ("c", "~ changed"), ("d", "+ added")]
    assert found.ref == "old → new"
    changed = found.nodes[2].mark
    assert changed is not None
    assert changed.notes == ("security: runs `make -j`, ran `make`",)


def test_equal_plans_say_so(plans: Any) -> None:
    plan = plans.plan(plans.step("a"))
    found = scene(plan, plan)
    assert words(found) == [("a", None)]
    assert [line.name for line in found.head] == ["equal"]


def test_changes_of_the_plan_itself_stand_on_top(plans: Any) -> None:
    found = scene(plans.plan(plans.step("a")), plans.plan(plans.step("a"), budget={"maxUnits": 3}))
    assert words(found) == [("a", None)]
    assert [line.text for line in found.head if line.name == "changed"] == [
        "budget.maxUnits: behaviour: budget.max_units is 3, was not set"
    ]


def test_first_steps_that_went_stand_first(plans: Any) -> None:
    old = plans.plan(plans.step("x", plans.prompt()), plans.step("y", plans.script("ls")), plans.step("a"))
    assert words(scene(old, plans.plan(plans.step("a")))) == [("x", "- removed"), ("y", "- removed"), ("a", None)]


def test_renamed_and_moved_steps_are_changed(plans: Any) -> None:
    old = plans.plan(plans.step("a", plans.exec("x")), plans.step("b", plans.exec("y")), plans.step("c"))
    new = plans.plan(plans.step("c"), plans.step("a", plans.exec("x")), plans.step("bee", plans.exec("y")))
    found = scene(old, new)
    assert words(found) == [("c", "~ changed"), ("a", None), ("bee", "~ changed")]


def test_routes_are_marked_too(plans: Any) -> None:
    rest = [plans.step(name, plans.exec(name)) for name in ("one", "two", "three")]
    params = {"params": {"p": {"type": "string"}}}
    old = plans.plan(plans.step("r", route=route(plans, {"a": "one", "b": "two", "c": "three"})), *rest, **params)
    new = plans.plan(plans.step("r", route=route(plans, {"a": "one", "b": "three", "c": "three"})), *rest, **params)
    assert arcs(scene(old, new)) == [
        ("r", "one", '"a"'),
        ("r", "two", '- removed "b"'),
        ("r", "three", '~ "b", "c" (was "c")'),
    ]


def test_a_route_that_would_lead_backwards_is_left_out(plans: Any) -> None:
    params = {"params": {"p": {"type": "string"}}}
    go, one, two = plans.step("r", route=route(plans, {"a": "one"})), plans.step("one"), plans.step("two")
    stay = plans.step("r", route=route(plans, {"a": "two"}))
    found = scene(plans.plan(go, one, two, **params), plans.plan(one, stay, two, **params))
    assert arcs(found) == [("r", "two", '+ added "a"')]
    assert draw_scene(found)


@pytest.mark.parametrize("depth", [1, 2])
def test_children_are_compared_recursively(plans: Any, depth: int) -> None:
    old, new = plans.plan(plans.step("deep")), plans.plan(plans.step("deep", plans.exec("ls")), plans.step("more"))
    for _ in range(depth):
        old, new = (plans.plan(plans.step("kid", plans.child(plan))) for plan in (old, new))
    found = scene(old, new)
    assert words(found) == [("kid", "~ changed")]
    mark = found.nodes[0].mark
    assert mark is not None
    within = "steps.kid.unit.target.frozenPlan." * (depth - 1)
    assert f"security: inside {within}steps.deep.unit.target.command: runs `ls`, ran `make`" in mark.notes
    for _ in range(depth):
        child = found.nodes[0].child
        assert child is not None
        found = child
    assert words(found) == [("deep", "~ changed"), ("more", "+ added")]


def test_what_is_inside_a_new_or_removed_step_is_marked_like_it(plans: Any) -> None:
    kid = plans.step("kid", plans.child(plans.plan(plans.step("deep"))))
    with_kid, without = plans.plan(plans.step("a"), kid), plans.plan(plans.step("a"))
    for old, new, word in ((without, with_kid, "+ added"), (with_kid, without, "- removed")):
        child = scene(old, new).nodes[1].child
        assert child is not None
        assert words(child) == [("deep", word)]
