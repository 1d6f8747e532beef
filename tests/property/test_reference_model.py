"""The reference model by example: it judges the interpreter, so somebody has to judge it."""

from __future__ import annotations

from typing import Any

import pytest
from programs import Each, Program, Say, Step, Turn
from reference_model import run


def outcome(*steps: Step, **outputs: str) -> dict[str, Any]:
    found = run(Program(steps, outputs))
    return {"status": found.status, "outputs": found.outputs, **found.steps}


def test_a_route_runs_what_it_selects_and_skips_the_rest() -> None:
    turn = Turn("r", "steps.a.output", (("x", "b"), ("y", "c")), None)
    found = outcome(Say("a", "x"), turn, Say("b", 1), Say("c", 2), Say("d", 3))
    assert [found[name][0] for name in "rbcd"] == ["completed", "completed", "skipped", "completed"]


def test_a_skipped_route_selects_nothing() -> None:
    first = Turn("r", "steps.a.output", (("x", "s"), ("y", "b")), None)
    second = Turn("s", "steps.none.output", (("x", "c"),), None)
    found = outcome(Say("a", "y"), first, second, Say("b", 1), Say("c", 2))
    assert [found[name][0] for name in "sbc"] == ["skipped", "completed", "skipped"]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(True, "b"), (1, "c"), ("1", "c"), ("other", "d"), (None, "null_reference"), ([1], "wrong_kind")],
)
def test_a_route_goes_by_the_text_of_the_value(value: Any, wanted: str) -> None:
    turn = Turn("r", "steps.a.output", (("true", "b"), ("1", "c")), "d")
    found = outcome(Say("a", value), turn, Say("b", 0), Say("c", 0), Say("d", 0))
    if wanted in ("null_reference", "wrong_kind"):
        assert (found["r"][:2], found["status"]) == (("failed", wanted), "failed")
    else:
        assert [name for name in "bcd" if found[name][0] == "completed"] == [wanted]


@pytest.mark.parametrize(
    ("items", "wanted"),
    [
        ([], ("completed", None, None)),
        ([1, 2, 1], ("completed", None, 1)),
        ([1, 2], ("failed", "vote_tie", None)),
        (["bad"], ("failed", "vote_no_success", None)),
        ([1, None], ("failed", "null_item", None)),
        ({"a": 1}, ("failed", "not_an_array", None)),
    ],
)
def test_a_vote(items: Any, wanted: tuple[str, str | None, Any]) -> None:
    each = Each("m", "steps.a.output", ("bad",), "continue", "vote")
    assert outcome(Say("a", items), each)["m"] == wanted


def test_a_collected_map_keeps_every_slot() -> None:
    each = Each("m", "steps.a.output", ("bad",), "continue")
    assert outcome(Say("a", [1, "bad", 2]), each)["m"] == ("completed", None, [1, None, 2])


def test_exports_that_read_nothing_roll_the_completion_back() -> None:
    found = outcome(Say("a", None), o="steps.a.output")
    assert (found["status"], found["outputs"], found["a"][0]) == ("active", None, "pending")
