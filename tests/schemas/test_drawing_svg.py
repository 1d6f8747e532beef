"""Drawings of plans as SVG: well-formed, complete, nothing of a plan interpreted."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_schemas.drawing import Arc, Line, Mark, Node, Scene, draw_plan, draw_scene
from akm_schemas.plan import Plan

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def steps(root: ET.Element) -> list[ET.Element]:
    return [group for group in root.iter(f"{SVG}g") if "step" in (group.get("class") or "").split()]


@pytest.fixture(scope="session")
def rich(kit: Any) -> Plan:
    return msgspec.convert(kit.rich_plan(), Plan)


def test_every_step_is_drawn_in_order_with_its_kind(rich: Plan) -> None:
    drawn = [texts(group) for group in steps(parsed(draw_plan(rich)))]
    assert [rows[:2] for rows in drawn] == [
        ["ask", "prompt"],
        ["fan", "map of prompt"],
        ["pick", "route"],
        ["list", "script"],
        ["kid", "child workflow"],
    ]
    heights = [float(group.findall(f"{SVG}text")[0].get("y") or 0) for group in steps(parsed(draw_plan(rich)))]
    assert heights == sorted(heights)


def test_boxes_say_what_steps_do(rich: Plan) -> None:
    shown = " | ".join(texts(parsed(draw_plan(rich))))
    for fact in (
        "local (llm), model m",
        "steps.ask.output.rows",
        "4 at a time, collect",
        "at most 2 rounds, judge judge (llm), model tiny",
        "scripts/list.sh by sh",
        "coder (opencode-sdk agent)",
        "workflows/kid",
        "2 steps",
        "limit",
        "100 units, 9 tokens",
        "all from steps.fan.output",
    ):
        assert fact in shown


def test_routes_are_arcs_with_their_matches_and_skips_go_round(rich: Plan) -> None:
    root = parsed(draw_plan(rich))
    arcs = [group for group in root.iter(f"{SVG}g") if group.get("class") == "arc"]
    assert [texts(arc) for arc in arcs] == [["1.5"], ['true, "x", otherwise']]
    assert len([path for path in root.iter(f"{SVG}path") if path.get("class") == "skip"]) == 2
    assert "a step that is skipped unless a route selects it" in texts(root)


def test_a_plan_without_routes_has_neither(kit: Any) -> None:
    root = parsed(draw_plan(msgspec.convert(kit.small_plan(), Plan)))
    classes = {element.get("class") for element in root.iter()}
    assert classes & {"skip", "route", "arc"} == set()
    assert "make everything" in texts(root)


def test_a_mark_is_a_word_and_a_tone(rich: Plan) -> None:
    marks = {"ask": Mark("completed", "good"), "kid": Mark("failed", "bad", ("timeout", "1", "2", "3", "4", "5"))}
    drawn = {texts(group)[0]: group for group in steps(parsed(draw_plan(rich, marks=marks)))}
    assert drawn["ask"].get("class") == "step marked good"
    assert texts(drawn["ask"])[-1] == "completed"
    assert drawn["kid"].get("class") == "step marked bad"
    assert {"failed", "timeout", "and 2 more"} <= set(texts(drawn["kid"]))
    assert drawn["fan"].get("class") == "step"
    (gone, *_) = steps(parsed(draw_plan(rich, marks={"ask": Mark("- removed", "bad", gone=True)})))
    assert gone.get("class") == "step marked bad gone"


def test_links_are_anchors_with_a_name(rich: Plan) -> None:
    root = parsed(draw_plan(rich, links={"ask": '#a"b'}, marks={"ask": Mark("failed", "bad")}))
    (link,) = root.iter(f"{SVG}a")
    assert link.get("href") == '#a"b'
    assert link.get("aria-label") == "step ask, prompt, failed"
    assert root.get("role") == "group"


def test_a_drawing_is_self_contained_and_the_same_every_time(rich: Plan) -> None:
    text = draw_plan(rich)
    assert text == draw_plan(rich)
    assert "prefers-color-scheme: dark" in text
    assert {element.tag for element in parsed(text).iter()} & {f"{SVG}script", f"{SVG}image", f"{SVG}use"} == set()
    assert text.count("http") == text.count('xmlns="http://www.w3.org/2000/svg"') == 1
    assert "<style>" not in draw_plan(rich, styled=False)
    assert not any(element.get("id") for element in parsed(text).iter())


def node(index: int, text: str = "make", **more: Any) -> Node:
    lines = (Line("exec", text),)
    return Node(**{"key": f"s{index}", "id": f"s{index}", "kind": "exec", "mapped": False, **more, "optional": False,
                   "lines": lines, "prose": ()})  # fmt: skip


HOSTILE = st.text(max_size=80) | st.sampled_from(["]]>", "<script>", '"><a/>', "&lt;", "\x00\ud800\uffff", "\u202ea"])


@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_text_leaves_its_place(title: str, text: str, label: str) -> None:
    def drawn(title: str, text: str, label: str) -> ET.Element:
        mark = Mark(label, "warn", (text, label))
        nodes = (node(0, text, mark=mark, id=title, kind="route"), node(1, label, mapped=True))
        scene = Scene(title, text, (Line(label, text),), nodes, (Arc(0, 1, label, mark),), (Line("output", title),))
        return parsed(draw_scene(scene, links={"s0": text}))

    def shape(root: ET.Element) -> list[str]:
        return [element.tag for element in root.iter() if element.tag != f"{SVG}text"]

    assert shape(drawn(title, text, label)) == shape(drawn("a", "b", "c"))


def test_lanes_of_routes_never_share_a_stretch() -> None:
    arcs = tuple(Arc(source, target, "x") for source in range(0, 30, 3) for target in range(source + 1, 31, 4))
    scene = Scene("t", "", (), tuple(node(index) for index in range(31)), arcs, ())
    from akm_schemas.drawing.layout import lay_out

    layout = lay_out(scene)
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for curve in layout.curves:
        key = (curve.lane, curve.arc.source)
        spans[key] = (curve.start, max(curve.end, spans.get(key, (0, 0))[1]))
    items = sorted(spans.items())
    assert len(items) == 10
    for (lane, source), (_, end) in items:
        for (other_lane, other), (start, _) in items:
            assert lane != other_lane or other <= source or start > end
    assert max(curve.lane for curve in layout.curves) < layout.width
    ports = [(curve.arc.target, curve.end) for curve in layout.curves]
    assert len(set(ports)) == len(arcs)


def test_two_hundred_and_fifty_steps_take_less_than_two_seconds() -> None:
    arcs = tuple(Arc(source, target, "x") for source in range(0, 250, 5) for target in range(source + 1, 250, 9))
    nodes = tuple(node(index, "make " + "x" * 4000, kind="exec") for index in range(250))
    began = time.perf_counter()
    text = draw_scene(Scene("t", "", (), nodes, arcs, ()))
    assert time.perf_counter() - began < 2
    assert len(steps(parsed(text))) == 250


def test_notes_of_a_mark_stand_behind_its_label_or_its_word(kit: Any) -> None:
    plan = msgspec.convert(kit.small_plan(), Plan)
    step = plan.steps[0].id
    labelled = texts(parsed(draw_plan(plan, marks={step: Mark("✓ completed", "good", ("1.2 s",), label="this run")})))
    assert labelled[labelled.index("1.2 s") - 1] == "this run" and "✓ completed" in labelled
    plain = texts(parsed(draw_plan(plan, marks={step: Mark("+ added", "good", ("a line",))})))
    assert plain[plain.index("a line") - 1] == "+ added"


@pytest.mark.parametrize(("kind", "mapped"), [("exec", False), ("child workflow", True)])
def test_a_long_id_never_runs_into_the_kind(kind: Any, mapped: bool) -> None:
    node = Node("k", "i" * 63, kind, mapped, False, (), ())
    drawn = texts(steps(parsed(draw_scene(Scene("t", "r", (), (node,), (), ()))))[0])
    assert drawn[0].endswith("…") and drawn[1] == node.label
    assert 30 <= len(drawn[0]) <= (452 - 7.3 * len(node.label)) / 8.5
