"""The four formats of a comparison."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from markdown_it import MarkdownIt

from akmc.diff.compare import compare_plans
from akmc.diff.html_format import html_format
from akmc.diff.json_format import json_format
from akmc.diff.markdown_format import CUT, markdown_format, units
from akmc.diff.markdown_text import escaped
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

breaking    output report: export is gone

security    step build: runs `make more`, ran `make all`
  --> workflows/a.md:3:5
    make
  - all
  + more

behaviour   step tell: prose changed (1 line out, 1 in)
  --> workflows/a.md:4:5
    ... 2 equal lines
    Same.
  - Write the [-short-] report.
  + Write the {+long+} report.

behaviour   output other: new export

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


def test_markdown_says_the_headline_first_and_folds_what_is_less_dangerous(diff: PlanDiff) -> None:
    assert (
        markdown_format(diff, "old.json", "new.json")
        == """\
### Plan diff: 1 breaking, 1 security, 2 behaviour

`old.json` → `new.json`

<details open><summary><b>1 breaking</b></summary>

- **output** `report`: export is gone

</details>

<details open><summary><b>1 security</b></summary>

- **step** `build`: runs `make more`, ran `make all` (`workflows/a.md:3:5`)

  ```diff
    make
  - all
  + more
  ```

</details>

<details><summary><b>2 behaviour</b></summary>

- **step** `tell`: prose changed (1 line out, 1 in) (`workflows/a.md:4:5`)

  ```diff
  @@ 2 equal lines @@
    Same.
  - Write the [-short-] report.
  + Write the {+long+} report.
  ```

- **output** `other`: new export

</details>

<details><summary>With <code>--reuse</code> of an old run: 2 dispatched again</summary>

| Step | Finished units | Why |
| --- | --- | --- |
| `build` | dispatched again | command changed |
| `tell` | dispatched again | prompt changed |

</details>
"""
    )


def test_markdown_keeps_user_text_inert(hostile: PlanDiff) -> None:
    """Rendered as GitHub's Markdown, HTML included, no tag or link comes of what a plan says."""
    text = markdown_format(hostile, "a`b", "<b>c</b> www.example.com")
    html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)
    tags = set(re.findall(r"<(/?\w+)", html))
    known = {"h3", "p", "code", "details", "summary", "b", "ul", "li", "strong", "pre", "table", "thead", "tbody"}
    assert {tag.removeprefix("/") for tag in tags} <= known | {"tr", "th", "td"}
    assert "&lt;script&gt;" in html
    outside = re.sub(r"<code.*?</code>", "", html, flags=re.DOTALL)
    assert "@team" not in outside


@pytest.mark.parametrize(
    "text",
    ["@team", "a@b.example #12", "`make x`@me", "@a@b#1", "`x `@y` z", "owner/repo#1", "$x$", "http://x.example"],
)
def test_no_mention_or_reference_stands_outside_code(text: str) -> None:
    html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(escaped(text))
    outside = re.sub(r"<code>.*?</code>", "", html)
    assert "@" not in outside and "#" not in outside
    assert "<code></code>" not in html
    shown = re.sub(r"<[^>]+>", "", html).strip().replace(" ", "")
    assert shown == text.replace("`", "").replace(" ", "") or "`" in text


def test_a_shared_change_is_said_once(plans: Any) -> None:
    """A new endpoint in the config reaches every prompt: one entry, all counted."""
    far = {"kind": "llm", "name": "local", "endpoint": "https://far.example/v1/chat/completions"}
    old, new = (
        plans.plan(*(plans.step(f"s{index}", {**plans.prompt(), **keys}) for index in range(9)))
        for keys in ({}, {"engine": far})
    )
    diff = compare_plans(old, new)
    assert diff.summary.security == 9
    text = text_format(diff, "a", "b", color=False)
    assert text.count("engine endpoint is") == 1
    assert "step s0, step s1, step s2, step s3, step s4, step s5 and 3 more: engine endpoint is" in text
    assert markdown_format(diff, "a", "b").count("engine endpoint is") == 1
    assert html_format(diff, "a", "b").count("engine endpoint is") == 1


@pytest.mark.parametrize("word", ["x" * 900, "\U0001f600" * 900, "`<&@|\n" * 150])
def test_markdown_fits_a_comment(plans: Any, word: str) -> None:
    steps = [plans.step(f"s{index}", plans.exec("make", word)) for index in range(200)]
    other = [plans.step(f"s{index}", plans.exec("make", f"{word} {index}")) for index in range(200)]
    for old in ([plans.step("a")], other):
        text = markdown_format(compare_plans(plans.plan(*old), plans.plan(*steps)), "a", "b")
        assert units(text) <= 65_000
        assert text.startswith("### Plan diff: ")
        assert text.count("<details") == text.count("</details>")
        assert text.endswith(f"{CUT}\n")


def test_html_is_one_inert_page(diff: PlanDiff, hostile: PlanDiff) -> None:
    page = html_format(diff, "old.json", "new.json")
    assert page.startswith("<!doctype html>")
    assert "<del>- Write the <b>short</b> report.</del>" in page
    assert "<ins>+ Write the <b>long</b> report.</ins>" in page
    assert "<script" not in html_format(hostile, "<script>", "b")
    assert page.index("1 breaking, 1 security, 2 behaviour") < page.index("old.json")
