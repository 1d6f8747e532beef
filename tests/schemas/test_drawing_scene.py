"""What a drawing knows of a plan: facts, routes, which steps can be skipped; text in cells; colours."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_schemas.drawing import Mark, scene_of
from akm_schemas.drawing.scene import optional_steps
from akm_schemas.drawing.text import cells, clip, wrap
from akm_schemas.drawing.theme import DARK, LIGHT, Palette
from akm_schemas.plan import Plan
from akm_schemas.visible import visible


def plan_with(kit: Any, *steps: dict[str, Any]) -> Plan:
    return msgspec.convert(kit.sealed(kit.plan_of(*steps)), Plan)


def router(kit: Any, name: str, branches: dict[str, str], default: str | None = None) -> dict[str, Any]:
    when = [{"match": match, "step": step} for match, step in branches.items()]
    route = {"input": kit.reference("params.x", "x", root="params"), "when": when}
    return {"id": name, "kind": "route", "inputs": [], "route": route | ({"default": default} if default else {})}


def units(kit: Any, *names: str) -> list[dict[str, Any]]:
    return [kit.unit_step(name, kit.exec_target("make")) for name in names]


def test_targets_can_be_skipped_unless_every_way_leads_there(kit: Any) -> None:
    fork = router(kit, "fork", {"a": "one", "b": "two"})
    assert optional_steps(plan_with(kit, fork, *units(kit, "one", "two", "three"))) == {"one", "two"}
    sure = router(kit, "fork", {"a": "one", "b": "one"}, default="one")
    assert optional_steps(plan_with(kit, sure, *units(kit, "one", "two"))) == frozenset()


def test_a_skipped_router_selects_nothing(kit: Any) -> None:
    first, second = router(kit, "first", {"a": "second", "b": "two"}), router(kit, "second", {"a": "one"})
    assert optional_steps(plan_with(kit, first, second, *units(kit, "one", "two"))) == {"second", "one", "two"}


def test_marks_and_children_go_by_keys(kit: Any) -> None:
    plan = msgspec.convert(kit.rich_plan(), Plan)
    mark = Mark("failed", "bad")
    scene = scene_of(plan, marks={"kid/inner/deep": mark})
    kid = scene.nodes[-1]
    assert kid.mark is None
    assert kid.child is not None
    inner = kid.child.nodes[0]
    assert inner.key == "kid/inner"
    assert inner.child is not None
    assert [(node.key, node.mark) for node in inner.child.nodes] == [("kid/inner/deep", mark)]
    assert scene.deep() == 7


def test_the_page_has_what_the_picture_leaves_out(kit: Any) -> None:
    scene = scene_of(msgspec.convert(kit.rich_plan(), Plan))
    ask, _, pick, _, kid = scene.nodes
    facts = {(line.name, line.text): line.brief for node in scene.nodes for line in node.lines}
    assert facts["env", "env/e (K; secrets s)"] is False
    assert facts["endpoint", "http://127.0.0.1:9/v1/chat/completions"] is False
    assert facts["with", "name = steps.list.output"] is False
    assert [prose.name for prose in ask.prose] == ["instructions", "rubric"]
    assert [line.text for line in pick.lines if line.name == "when"] == ["1.5 → list", 'true, "x", otherwise → kid']
    assert next(line.text for line in kid.lines if line.name == "child") == "workflows/kid"


@given(st.text(), st.integers(4, 60), st.integers(1, 4))
def test_rows_fit(text: str, width: int, count: int) -> None:
    rows = wrap(text, width, count)
    assert len(rows) <= count
    assert all(cells(row) <= width for row in rows)
    assert cells(clip(text, width)) <= width


@given(st.text(alphabet="ab \u3042", min_size=1))
def test_rows_hold_the_whole_text_when_there_is_room(text: str) -> None:
    rows = wrap(text, 12, 1000)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


def test_what_is_cut_says_so() -> None:
    assert wrap("one two three four", 9, 2) == ("one two", "three…")
    assert wrap("x" * 99, 9, 2) == ("x" * 9, "x" * 8 + "…")
    assert clip("abcdef", 4) == "abc…"
    assert clip("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\nb", "a\\nb"), ("\x1b[0m", "\\x1b[0m"), ("\u202e", "\\u202e"), ("\uffff", "\\uffff"), ("\ud800", "\\ud800"),
     ("日本\u3000é", "日本\u3000é")],
)  # fmt: skip
def test_hidden_characters_are_shown(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def luminance(color: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_stand_out_from_their_ground(palette: Palette) -> None:
    for ink in (palette.ink, palette.quiet, palette.route, *palette.tones.values()):
        for ground in (palette.paper, palette.box):
            assert contrast(ink, ground) >= 4.5, (ink, ground)
    assert contrast(palette.line, palette.paper) >= 3
