"""What a comparison says: once, whole, and with nothing of a user's text lost."""

from __future__ import annotations

import re
from typing import Any

import pytest
from markdown_it import MarkdownIt

from akmc.diff.compare import compare_plans
from akmc.diff.entries import entries
from akmc.diff.html_format import html_format
from akmc.diff.markdown_format import markdown_format
from akmc.diff.model import PlanDiff
from akmc.diff.text_format import summary_line, text_format

NAMES = ("fast", "far")


def engine(port: int) -> dict[str, Any]:
    return {"kind": "llm", "name": "fast", "endpoint": f"http://127.0.0.1:{port}/v1/chat/completions"}


def gated(plans: Any, port: int, model: str) -> Any:
    gate = {"rubric": "good", "maxLoops": 1, "judge": plans.prompt(engine=engine(port), model=model)}
    steps = [plans.step(name, plans.prompt(engine=engine(port), model=model)) for name in ("t2", "t3")]
    return plans.plan(plans.step("think", plans.prompt(engine=engine(port), model=model), gate=gate), *steps)


def messages(diff: PlanDiff) -> list[tuple[str, str]]:
    return [(change.class_, change.message) for change in diff.changes]


def shown_in(markdown: str) -> str:
    """The text of a rendered comment."""
    html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(markdown)
    for entity, character in {"&quot;": '"', "&lt;": "<", "&gt;": ">", "&amp;": "&"}.items():
        html = html.replace(entity, character)
    return re.sub(r"</?(?:p|code|li|ul|strong|b|h3|details|summary|pre|table|thead|tbody|tr|th|td)\b[^>]*>", "", html)


@pytest.mark.parametrize(
    "word", ["echo `curl evil`", "``@bar", "`", "a`b``c```d", "say 'it runs `x`'", "`@team`#1", "\\`x\\`", "x`_a_`*b*"]
)
def test_backticks_of_a_command_are_seen_in_a_comment(plans: Any, word: str) -> None:
    old = plans.plan(plans.step("b", plans.exec("make")))
    new = plans.plan(plans.step("b", plans.exec("make")), plans.step("a", plans.exec("sh", "-c", word)))
    diff = compare_plans(old, new)
    (said,) = (change.message for change in diff.changes)
    assert said in shown_in(markdown_format(diff, "a", "b"))


def test_a_value_with_backticks_is_no_code(plans: Any) -> None:
    old, new = (
        plans.plan(plans.step("a"), params={"p": {"type": "string", "default": text}}) for text in ("x", "runs `x`")
    )
    assert 'default is "runs `x`", was "x"' in shown_in(markdown_format(compare_plans(old, new), "a", "b"))


def test_argument_vectors_are_marked_as_code(plans: Any) -> None:
    old, new = (plans.plan(plans.step("a", plans.exec(word, "x"))) for word in ("ls", "cat"))
    (change,) = compare_plans(old, new).changes
    assert isinstance(change.code, list)
    assert [change.message[start:end] for start, end in change.code] == ["`cat x`", "`ls x`"]


def test_a_new_step_says_what_it_sees(plans: Any) -> None:
    env = [{"kind": "literal", "name": "LD_PRELOAD", "value": "./evil.so"}, {"kind": "pass-through", "name": "P"}]
    step = plans.step("b", plans.exec("make", passEnv=["CI"]), unit={"env": env})
    (change,) = compare_plans(plans.plan(plans.step("a")), plans.plan(plans.step("a"), step)).changes
    assert (change.class_, change.message) == (
        "security",
        'new unit step that runs `make`, sees variable "CI", sets variable "LD_PRELOAD" to "./evil.so", sees variable "P"',
    )


@pytest.mark.parametrize(("port", "model", "headline"), [(8, "m", "1 security"), (9, "n", "1 behaviour")])
def test_a_change_of_the_config_is_said_once(plans: Any, port: int, model: str, headline: str) -> None:
    """Of steps and of the judge alike, in the headline too; the JSON counts every change."""
    diff = compare_plans(gated(plans, 9, "m"), gated(plans, port, model))
    assert len(diff.changes) == 4
    ((entry,),) = entries(diff.changes).values()
    assert {(subject.names, subject.aspect) for subject in entry.subjects} == {
        (("think",), ""),
        (("think",), "gate"),
        (("t2",), ""),
        (("t3",), ""),
    }
    assert summary_line(diff) == headline
    assert f"<b>{headline}</b>" in markdown_format(diff, "a", "b")
    assert headline in html_format(diff, "a", "b")


def test_a_setting_of_runs_is_said_once(plans: Any) -> None:
    old, new = (
        plans.plan(
            plans.step("k", plans.child(plans.plan(plans.step("a"), execution={"maxConcurrency": width}))),
            execution={"maxConcurrency": width},
        )
        for width in (4, 2)
    )
    text = text_format(compare_plans(old, new), "a", "b", color=False)
    assert text.startswith("a -> b: 1 behaviour\n")
    assert "behaviour   run, run k: concurrency of a run is 2, was 4" in text


def test_a_schema_that_takes_other_values_is_told_whole(plans: Any) -> None:
    def plan(least: int, most: int) -> Any:
        schema = {"type": "integer", "minimum": least, "maximum": most}
        out = {"n": {"from": plans.ref("steps.a.output"), "schema": schema}}
        return plans.plan(plans.step("a"), params={"n": schema}, outputs=out)

    assert messages(compare_plans(plan(0, 10), plan(1, 12))) == [
        ("breaking", "accepts less: 0 was accepted and is refused now; and more: 12 was refused and is accepted now"),
        ("breaking", "may yield more: 12 could not come out before; and less: 0 cannot come out any more"),
    ]
    assert messages(compare_plans(plan(0, 10), plan(0, 9)))[0] == (
        "breaking",
        "accepts less: 10 was accepted and is refused now",
    )


def nested(plans: Any, least: int, export: str, binding: dict[str, Any], depth: int = 1) -> Any:
    """A plan that composes one whose param ``n`` has a minimum; ``depth`` plans around it hand their own ``n`` on."""
    schema = {"type": "integer", "minimum": least}
    plan = plans.plan(plans.step("a"), params={"n": schema}, outputs={export: {"from": plans.ref("steps.a.output")}})
    for level in range(depth):
        last = level == depth - 1
        given = {"kind": "reference", "name": "n", "from": plans.ref("params.n"), "schema": {"type": "integer"}}
        bound = [binding if last else given]
        plan = plans.plan(
            plans.step("k", plans.child(plan, inputBindings=bound)), params={"n": {"type": "integer"}}, outputs={}
        )
    return plan


LITERAL = {"kind": "literal", "name": "n", "value": 3}


def test_what_freezing_allowed_inside_breaks_no_caller(plans: Any) -> None:
    """Only the parent calls a composed workflow, and it was frozen with what it gives and reads."""
    old = nested(plans, 0, "r", LITERAL)
    found = compare_plans(old, nested(plans, 1, "s", LITERAL))
    assert {change.class_ for change in found.changes} == {"behaviour"}
    assert [change.path.rpartition(".")[2] for change in found.changes] == ["n", "r", "s"]
    # compared by itself, the composed workflow has callers
    kids = [plan.steps[0].unit.target.frozen_plan for plan in (old, nested(plans, 1, "s", LITERAL))]
    assert [change.class_ for change in compare_plans(*kids).changes] == ["breaking", "breaking", "behaviour"]


@pytest.mark.parametrize("depth", [1, 2])
def test_what_the_caller_gives_may_break_inside(plans: Any, depth: int) -> None:
    """A param handed on unchecked: what the composed workflow refuses now, callers of the root gave."""
    given = {"kind": "reference", "name": "n", "from": plans.ref("params.n"), "schema": {"type": "integer"}}
    found = compare_plans(nested(plans, 0, "r", given, depth), nested(plans, 1, "r", given, depth))
    assert [change.class_ for change in found.changes] == ["breaking"]
    stopped = compare_plans(nested(plans, 0, "r", LITERAL, 2), nested(plans, 1, "r", LITERAL, 2))
    assert [change.class_ for change in stopped.changes] == ["behaviour"]


def test_a_script_that_ends_in_a_newline_ends_in_no_blank_line(plans: Any) -> None:
    old, new = (plans.plan(plans.step("s", plans.script(f"set -e\n{word}\n\necho done\n"))) for word in ("ls", "pwd"))
    text = text_format(compare_plans(old, new), "a", "b", color=False)
    assert "    set -e\n  - ls\n  + pwd\n\n" in text or "    set -e\n  - [-ls-]\n  + {+pwd+}\n\n" in text
    assert not [line for line in text.splitlines() if line != line.rstrip()]
    tail = compare_plans(
        plans.plan(plans.step("s", plans.script("a\n"))), plans.plan(plans.step("s", plans.script("b\n")))
    )
    assert [line.text for line in tail.changes[0].prose or []] == ["a", "b"]
