"""``akmc graph`` as a person calls it."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from akmc.cli import run
from akmc.faults import USAGE

Capture = pytest.CaptureFixture[str]


def test_a_source_is_drawn_without_a_config(workflows: Path, capsys: Capture) -> None:
    assert run(["graph", "workflows/release.md"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("flowchart TD\n")
    assert "engine not resolved" in shown.out
    assert "s2{{" in shown.out
    assert shown.err == ""


def test_with_a_config_its_engines_are_named(configured: Path, capsys: Capture) -> None:
    assert run(["graph", "workflows/release.md"]) == 0
    assert "engine local #40;llm#41;#44; model tiny" in capsys.readouterr().out


@pytest.mark.parametrize("format_name", ["mermaid", "dot", "svg", "html"])
def test_a_plan_and_its_source_give_the_same_drawing(configured: Path, capsys: Capture, format_name: str) -> None:
    assert run(["compile", "workflows/outer.yml", "-o", "plan.json"]) == 0
    drawings = []
    for name in ("plan.json", "workflows/outer.yml"):
        assert run(["graph", name, "--format", format_name, "-o", "drawn"]) == 0
        drawings.append((configured / "drawn").read_bytes())
    assert drawings[0] == drawings[1]
    assert b"kid" in drawings[0]
    assert b"5 steps" in drawings[0]
    assert capsys.readouterr().out == ""


def test_svg_goes_to_standard_output(workflows: Path, capsys: Capture) -> None:
    assert run(["graph", "--format", "svg", "workflows/release.md", "-o", "-"]) == 0
    assert ET.fromstring(capsys.readouterr().out).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("order", [["--diff", "plan.json", "workflows/release.md"],
                                   ["plan.json", "workflows/release.md", "--diff"]])  # fmt: skip
def test_the_difference_of_a_plan_and_its_source(configured: Path, capsys: Capture, order: list[str]) -> None:
    assert run(["compile", "workflows/release.md", "-o", "plan.json"]) == 0
    source = configured / "workflows" / "release.md"
    source.write_text(source.read_text().replace("[make, quick]", "[make, quicker]"))
    assert run(["graph", *order]) == 0
    out = capsys.readouterr().out
    assert 's3["#126; changed quick #40;exec#41;' in out
    assert "class s3 warn" in out


def test_sides_of_a_difference_must_freeze(workflows: Path, capsys: Capture) -> None:
    assert run(["graph", "--diff", "workflows/release.md", "workflows/release.md"]) == 78
    assert "no-engine" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "one plan is drawn, and none were named"),
        (["a", "b"], "add --diff to compare two"),
        (["--diff", "a"], "--diff draws two plans, and 1 were named"),
        (["--diff", "-", "-"], "both sides are standard input"),
        (["missing.json"], 'there is no file "missing.json"'),
    ],
)
def test_calls_that_make_no_sense(workflows: Path, capsys: Capture, arguments: list[str], said: str) -> None:
    assert run(["graph", *arguments]) == USAGE
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""


def test_a_faulty_source_shows_its_findings(workflows: Path, capsys: Capture) -> None:
    source = workflows / "workflows" / "release.md"
    source.write_text(source.read_text().replace("step: quick", "step: quack"))
    assert run(["graph", "workflows/release.md"]) == USAGE
    shown = capsys.readouterr()
    assert "route-unknown-target" in shown.err
    assert shown.out == ""


def test_too_many_edges_are_said(workflows: Path, capsys: Capture) -> None:
    steps = "".join(
        f"  - {{id: r{i}, route: {{input: params.p, when: [{', '.join(f'{{match: {j}, step: u{j}}}' for j in range(60))}]}}}}\n"
        for i in range(10)
    )
    units = "".join(f"  - {{id: u{j}, unit: {{exec: {{command: [make]}}}}}}\n" for j in range(60))
    body = "".join(f"## u{j}\nGo.\n" for j in range(60))
    (workflows / "workflows" / "many.md").write_text(
        f"---\nparams: {{p: {{type: integer}}}}\nsteps:\n{steps}{units}---\n{body}"
    )
    assert run(["graph", "workflows/many.md"]) == 0
    assert "at most 500 edges" in capsys.readouterr().err


@pytest.mark.parametrize("format_name", ["mermaid", "dot", "svg", "html"])
def test_a_plan_of_250_steps_is_drawn_in_less_than_two_seconds(configured: Path, format_name: str) -> None:
    steps = "".join(f"  - {{id: s{i}, unit: {{exec: {{command: [make, '{'x' * 500}']}}}}}}\n" for i in range(250))
    body = "".join(f"## s{i}\nGo.\n" for i in range(250))
    (configured / "workflows" / "long.md").write_text(f"---\nsteps:\n{steps}---\n{body}")
    assert run(["compile", "workflows/long.md", "-o", "plan.json"]) == 0
    began = time.perf_counter()
    assert run(["graph", "plan.json", "--format", format_name, "-o", "drawn"]) == 0
    assert time.perf_counter() - began < 2
    assert (configured / "drawn").stat().st_size > 1000
