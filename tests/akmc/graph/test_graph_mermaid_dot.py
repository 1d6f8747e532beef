"""Mermaid and DOT: structure, limits, and that no text of a plan is read as their language."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_schemas.drawing import Scene
from akm_schemas.visible import visible
from akmc.graph.dot import dot, quoted
from akmc.graph.mermaid import MAX_TEXT, edges, label, limits, mermaid

MakeScene = Callable[..., Scene]

LABEL = r"[^\W_ …]|[ …]|[-_.,/=]|#\d+;|<br/>"
NAME = r"(first|last|s\d+)"
LINES = (
    "flowchart TD",
    rf'  {NAME}(\(\[|\[\[|\[/|\[|\{{\{{)"({LABEL})*"(\]\)|\]\]|/\]|\]|\}}\}})',
    rf"  {NAME} --> {NAME}",
    rf'  s\d+ -\.->\|"({LABEL})*"\| s\d+',
    r"  classDef (maybe|good|bad|warn|busy|quiet) [-a-z0-9:#, ]+",
    r"  class s\d+(,s\d+)* (maybe|good|bad|warn|busy|quiet)",
)
LINE = re.compile("|".join(LINES))
HOSTILE = st.text(max_size=60) | st.sampled_from(
    [
        '"]; click s0 call alert(1)',
        "%%{init: {}}%%",
        "a\n  s0 --> s1",
        "style a:b#c;d",
        "`**x**`",
        '\\"',
        "\\",
        "\\N\\l",
        "&quot;&lt;",
        "\ud800",
        "end",
    ]
)


def test_a_flowchart_has_the_spine_and_the_routes(make_scene: MakeScene) -> None:
    lines = mermaid(make_scene("x", steps=3)).splitlines()
    assert lines[0] == "flowchart TD"
    assert lines[2].startswith('  s0["#126; x x #40;exec#41;<br/>')
    assert lines[3].startswith('  s1[/"x #40;map of prompt#41;')
    assert lines[4].startswith('  s2{{"x #40;route#41;')
    assert lines[6:10] == ["  first --> s0", "  s0 --> s1", "  s1 --> s2", "  s2 --> last"]
    assert lines[10:12] == ['  s0 -.->|"x"| s1', '  s1 -.->|"#126; x x"| s2']
    assert lines[12:] == [
        "  classDef warn stroke:#bf8700,stroke-width:3px",
        "  class s0 warn",
        "  classDef maybe stroke-dasharray:5 4",
        "  class s1 maybe",
    ]


@given(HOSTILE)
def test_every_line_of_a_flowchart_is_ours(make_scene: MakeScene, text: str) -> None:
    lines = mermaid(make_scene(text)).split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(mermaid(make_scene("plain")).splitlines())
    for line in lines:
        assert LINE.fullmatch(line), line


@given(HOSTILE.map(visible))
def test_a_label_decodes_to_its_text(text: str) -> None:
    decoded = re.sub(r"#(\d+);", lambda match: chr(int(match[1])), label(text))
    assert decoded.replace("\u200b", "") == text.replace("\u200b", "")


@pytest.mark.parametrize("text", ["$$x$$", "$$$", "fa:fa-car"])
def test_formulas_and_icons_stay_texts(text: str) -> None:
    decoded = re.sub(r"#(\d+);", lambda match: chr(int(match[1])), label(text))
    assert not re.search(r"\$\$|fa:fa-", decoded)


@pytest.mark.parametrize(("text", "steps"), [("x " * 300, 240), ("日本" * 200, 240), ('"' * 500, 140)])
def test_a_large_plan_stays_within_what_mermaid_draws(make_scene: MakeScene, text: str, steps: int) -> None:
    scene = make_scene(text, steps=steps)
    assert 10_000 < len(mermaid(scene)) <= MAX_TEXT
    assert edges(scene) == 2 * steps
    assert limits(scene, mermaid(scene)) == []


def test_what_mermaid_would_refuse_is_said(make_scene: MakeScene) -> None:
    scene = make_scene("x", steps=251)
    assert limits(scene, "x" * (MAX_TEXT + 1)) == [
        "500 edges, and there are 502",
        "50000 characters, and there are 50001",
    ]


def test_a_small_plan_says_more_than_a_large_one(make_scene: MakeScene) -> None:
    text = "word " * 20
    assert "<br/>over" in mermaid(make_scene(text, steps=3))
    assert "<br/>over" not in mermaid(make_scene(text, steps=200))


def drawn(text: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("dot")
    if program is None:
        pytest.skip("Graphviz is not installed")
    return subprocess.run([program, "-Tplain"], input=text, capture_output=True, encoding="utf-8", timeout=60)


@pytest.mark.parametrize(
    "text", ['a"b', "\\", '\\"', "\\N \\G \\l", "&lt; &amp;", "];}", "a\nb", "<b>x</b>", "日本 é", "# // /*"]
)
def test_graphviz_reads_labels_as_texts(make_scene: MakeScene, text: str) -> None:
    done = drawn(dot(make_scene(text, steps=4)))
    assert done.returncode == 0
    assert done.stderr == ""
    kinds = [line.split(" ", 1)[0] for line in done.stdout.splitlines()]
    assert kinds == ["graph", *["node"] * 6, *["edge"] * 8, "stop"]


def test_graphviz_keeps_the_spine_a_line(make_scene: MakeScene) -> None:
    done = drawn(dot(make_scene("x", steps=6)))
    places = {line.split()[1]: line.split()[2:4] for line in done.stdout.splitlines() if line.startswith("node")}
    heights = [float(places[f"s{index}"][1]) for index in range(6)]
    assert heights == sorted(heights, reverse=True)
    assert len({places[f"s{index}"][0] for index in range(6)}) == 1


@given(HOSTILE)
def test_a_dot_string_holds_its_text(text: str) -> None:
    found = quoted(text)
    assert re.fullmatch(r'"([^"\\\n]|\\["\\])*"', found)
    assert unescape(re.sub(r"\\(.)", r"\1", found[1:-1])) == visible(text)


@given(HOSTILE)
def test_every_line_of_dot_is_ours(make_scene: MakeScene, text: str) -> None:
    def bare(source: str) -> str:
        return re.sub(r'"([^"\\\n]|\\.)*"', '""', source)

    assert bare(dot(make_scene(text))) == bare(dot(make_scene("plain")))
