"""Which step is which: renames and moves, in small and in large plans, and nothing told twice because of them."""

from __future__ import annotations

from typing import Any

import pytest

from akmc.diff.compare import compare_plans
from akmc.diff.matching import match_steps


def prompt(plans: Any, name: str, text: str, **keys: Any) -> dict[str, Any]:
    step: dict[str, Any] = plans.step(name, plans.prompt(), unit={"instructions": text}, **keys)
    return step


def text_of(number: int) -> str:
    """Lines of which some are in every text, some in this one alone."""
    return "\n".join(["Be brief.", *(f"Look at part {number} of shelf {number * 7 + line}." for line in range(5))])


@pytest.mark.parametrize("count", [5, 120])
def test_renames_are_found_whatever_the_size(plans: Any, count: int) -> None:
    old = plans.plan(*(prompt(plans, f"a{at}", text_of(at)) for at in range(count)))
    new = plans.plan(*(prompt(plans, f"b{at}", text_of(at).replace("brief", "short")) for at in range(count)))
    assert match_steps(old, new).renames == {f"a{at}": f"b{at}" for at in range(count)}


def test_a_boilerplate_line_alone_makes_no_rename_of_many(plans: Any) -> None:
    def step(name: str, at: int) -> dict[str, Any]:
        return prompt(plans, name, f"Be brief.\nUse {name} {name} {at} {at * 3} {at * 5} {at * 7} {at * 11}.")

    old = plans.plan(*(step(f"a{at}", at) for at in range(1, 60)))
    new = plans.plan(*(step(f"b{at}", at + 1000) for at in range(1, 60)))
    assert match_steps(old, new).renames == {}


def test_only_steps_without_a_namesake_are_renamed(plans: Any) -> None:
    """The new "a" does what the old "b" did; both ids stand, so both steps changed."""
    old = plans.plan(prompt(plans, "a", "One thing."), prompt(plans, "b", "Quite another."))
    new = plans.plan(prompt(plans, "a", "Quite another."), prompt(plans, "b", "One thing."))
    assert match_steps(old, new).renames == {}
    assert len(compare_plans(old, new).changes) == 2


def test_what_follows_from_a_rename_is_folded_into_it(plans: Any) -> None:
    def plan(name: str) -> Any:
        reference = plans.ref(f"steps.{name}.output")
        binding = {"kind": "reference", "name": "x", "from": reference, "schema": {}}
        return plans.plan(
            prompt(plans, name, "Collect all of it."),
            plans.step("reads", plans.exec("cat"), inputs=[reference]),
            plans.step("bound", plans.exec("cat", inputBindings=[binding])),
            plans.step("each", map={"over": reference, "concurrency": 4, "reducer": "collect"}),
            plans.step("fork", route={"input": reference, "when": [{"match": 1, "step": "z"}], "default": "z"}),
            plans.step("z", plans.exec("make", "z")),
            outputs={"o": {"from": reference}},
        )

    diff = compare_plans(plan("a"), plan("b"))
    assert [(change.class_, change.path, change.message) for change in diff.changes] == [
        ("behaviour", "steps.b", 'was called "a"')
    ]
    assert {step.id: step.reuse for step in diff.steps} == {
        "b": "again",
        "reads": "again",
        "bound": "again",
        "each": "depends",
        "z": "reused",
    }
    assert diff.steps[0].why == 'it was step "a": units are known by the id of their step'


def test_a_renamed_target_of_a_route_is_no_change_of_the_route(plans: Any) -> None:
    def plan(name: str) -> Any:
        route = {"input": plans.ref("steps.a.output"), "when": [{"match": 1, "step": name}], "default": name}
        return plans.plan(plans.step("a"), plans.step("r", route=route), plans.step(name, plans.exec("make", "it")))

    assert [change.path for change in compare_plans(plan("b"), plan("c")).changes] == ["steps.c"]


def test_added_and_removed_are_symmetric(plans: Any) -> None:
    one = plans.plan(plans.step("a"), prompt(plans, "b", "Write a poem."))
    other = plans.plan(plans.step("a"), plans.step("c", plans.exec("rm", "-r")), plans.step("d", plans.exec("ls")))
    forth, back = match_steps(one, other), match_steps(other, one)
    assert [step.id for step in forth.removed] == [step.id for step in back.added] == ["b"]
    assert [step.id for step in forth.added] == [step.id for step in back.removed] == ["c", "d"]
