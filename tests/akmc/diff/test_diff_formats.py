"""The four formats of a comparison."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from akmc.diff.compare import compare_plans
from akmc.diff.html_format import html_format
from akmc.diff.json_format import json_format
from akmc.diff.markdown_format import markdown_format
from akmc.diff.model import PlanDiff
from akmc.diff.text_format import summary_line, text_format

HOSTILE = "</pre><script>alert(1)</script> @team `x` | \x1b[31m \u202e"


@pytest.fixture
def diff(plans: Any) -> PlanDiff:
    old = plans.plan(
        plans.step("build", plans.exec("make", "all")),
        plans.step("tell", plans.prompt(), unit={"instructions": "Same.\nSame.\nSame.\nWrite the short report."}),
        outputs={"report": {"from": plans.ref("steps.tell.output")}},
    )
    new = plans.plan(
        plans.step("build", plans.exec("make", "more")),
        plans.step("tell", plans.prompt(), unit={"instructions": "Same.\nSame.\nSame.\nWrite the long report."}),
        outputs={"other": {"from": plans.ref("steps.tell.output")}},
    )
    return compare_plans(old, new)


@pytest.fixture
def hostile(plans: Any) -> PlanDiff:
    return compare_plans(
        plans.plan(plans.step("s", plans.exec("make"))), plans.plan(plans.step("s", plans.exec("make", HOSTILE)))
    )


def test_text(diff: PlanDiff) -> None:
    assert (
        text_format(diff, "old.json", "new.json", color=False)
        == """\
old.json -> new.json: 1 breaking, 1 security, 2 behaviour

breaking    outputs.report: export is gone

security    steps.build.unit.target.command: runs `make more`, ran `make all`
  --> workflows/a.md:3:5

behaviour   steps.tell.unit.instructions: prose changed (1 line out, 1 in)
  --> workflows/a.md:4:5
    ... 2 equal lines
    Same.
  - Write the [-short-] report.
  + Write the {+long+} report.

behaviour   outputs.other: new export

akm-run --reuse would treat the finished units of an old run so:
  build  again    command changed
  tell   again    prompt changed
"""
    )


def test_text_is_coloured_on_request_and_never_by_user_text(diff: PlanDiff, hostile: PlanDiff) -> None:
    assert "\x1b[1;31mbreaking" in text_format(diff, "a", "b", color=True)
    shown = text_format(hostile, "a", "b", color=False)
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_summary_is_one_line(diff: PlanDiff, plans: Any) -> None:
    assert summary_line(diff) == "1 breaking, 1 security, 2 behaviour"
    same = plans.plan(plans.step("s"))
    assert summary_line(compare_plans(same, same)) == "the plans are equal"


def test_json_satisfies_its_schema(diff: PlanDiff, hostile: PlanDiff) -> None:
    schema = json.loads((files("akmc.diff") / "diff.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for found in (diff, hostile):
        document = json.loads(json_format(found, "old.json", "new.json"))
        jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
        assert document["equal"] is False
        assert [change["class"] for change in document["changes"]] == [change.class_ for change in found.changes]


def test_markdown(diff: PlanDiff) -> None:
    text = markdown_format(diff, "old.json", "new.json")
    assert text.startswith("### Plan diff: `old.json` → `new.json`\n\n**1 breaking, 1 security, 2 behaviour**\n")
    assert "  ```diff\n  @@ 2 equal lines @@\n    Same.\n  - Write the [-short-] report.\n" in text
    assert "| `tell` | again | prompt changed |" in text


def test_markdown_keeps_user_text_inert_and_fits_a_comment(hostile: PlanDiff, plans: Any) -> None:
    text = markdown_format(hostile, "a`b", "c")
    assert "<script>" not in text
    assert "@team" not in text
    assert "``a`b``" in text
    steps = [plans.step(f"s{index}", plans.exec("make", "x" * 900)) for index in range(200)]
    long = markdown_format(compare_plans(plans.plan(plans.step("a")), plans.plan(*steps)), "a", "b")
    assert len(long) < 65_536
    assert "akmc diff" in long


def test_html_is_one_inert_page(diff: PlanDiff, hostile: PlanDiff) -> None:
    page = html_format(diff, "old.json", "new.json")
    assert page.startswith("<!doctype html>")
    assert "<del>- Write the <b>short</b> report.</del>" in page
    assert "<ins>+ Write the <b>long</b> report.</ins>" in page
    assert "<script" not in html_format(hostile, "<script>", "b")
