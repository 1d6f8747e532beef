"""The verdicts on --reuse as text: steps that are told alike share a line."""

from __future__ import annotations

from typing import Any

from akmc.diff.compare import compare_plans
from akmc.diff.model import Reuse, StepReuse
from akmc.diff.reuse_lines import reuse_lines
from akmc.diff.text_format import text_format


def verdicts(*ids: str, reuse: Reuse = "reused", why: str = "same") -> list[StepReuse]:
    return [StepReuse(id=name, reuse=reuse, why=why) for name in ids]


def test_steps_in_a_row_that_are_told_alike_are_one_line() -> None:
    steps = [*verdicts("a", "b", "c"), *verdicts("d", reuse="again"), *verdicts("e", "f"), *verdicts("g", why="other")]
    assert list(reuse_lines(steps)) == [
        "  a to c (3 steps)  reused   same",
        "  d                 again    same",
        "  e                 reused   same",
        "  f                 reused   same",
        "  g                 reused   other",
    ]
    assert list(reuse_lines([])) == []


def test_steps_inside_share_no_line_with_those_around_them() -> None:
    steps = [*verdicts("a", "b"), *verdicts("b/x", "b/y", "b/z"), *verdicts("c"), *verdicts("c/x", "c/y", "c/z")]
    assert [line.split("  ")[1] for line in reuse_lines(steps)] == [
        "a",
        "b",
        "b/x to b/z (3 steps)",
        "c",
        "c/x to c/z (3 steps)",
    ]


def test_a_long_plan_ends_with_a_few_lines(plans: Any) -> None:
    def plan(word: str) -> Any:
        inner = plans.plan(*(plans.step(f"s{index}", plans.exec("make", str(index))) for index in range(40)))
        last = plans.step("last", plans.exec("make", word))
        kid = plans.child(inner, inputBindings=[])
        return plans.plan(*(plans.step(f"c{index}", kid) for index in range(3)), last)

    diff = compare_plans(plan("a"), plan("b"))
    assert len(diff.steps) == 4
    text = text_format(diff, "old", "new", color=False)
    assert text.splitlines()[-2:] == [
        "  c0 to c2 (3 steps)  reused   nothing that it depends on changed",
        "  last                again    command changed",
    ]
