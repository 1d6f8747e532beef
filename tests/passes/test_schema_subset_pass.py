"""Schema faults as findings, and the fixes that come with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

TEXT = """---
params:
  a: {const: 3}
  b:
    const: two words   # kept
  c: {type: strig, minimun: 3}
outputs:
  o: {from: steps.s.output, schema: {format: x}}
steps:
  - {id: s, output: {default: 1, type: string}}
  - {id: m, map: {over: params.d, unit: {output: {items: [{}]}}}}
---
## s
A.
## m
B.
"""


def test_faults_at_their_places(check: Callable[..., Any]) -> None:
    checked = check(TEXT, stop_after="schema_subset")
    assert [pair for pair in checked.rules if pair[0].startswith("schema")] == [
        ("schema-unsupported-keyword", 3),
        ("schema-unsupported-keyword", 5),
        ("schema-malformed", 6),
        ("schema-unknown-keyword", 6),
        ("schema-unsupported-keyword", 8),
        ("schema-bad-default", 10),
        ("schema-unsupported-keyword", 11),
    ]


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("3", "{enum: [3]}"),
        ("fast", "{enum: [fast]}"),
        ("'it''s'", "{enum: ['it''s']}"),
        ('"a, b"', '{enum: ["a, b"]}'),
        ("[1, 2]", "{enum: [[1, 2]]}"),
        ("{k: 1}", "{enum: [{k: 1}]}"),
        ("null", "{enum: [null]}"),
    ],
)
def test_const_becomes_a_one_value_enum(check: Callable[..., Any], written: str, fixed: str) -> None:
    text = f"---\nparams:\n  a: {{const: {written}}}\nsteps:\n  - id: s\n---\n## s\nA.\n"
    checked = check(text)
    (finding,) = checked.context.sink.found
    assert finding.fix is not None and finding.fix.safe
    line = text.split("\n")[2]
    for edit in sorted(finding.fix.edits, key=lambda edit: -checked.program.document.locator.span(edit.place).column):
        span = checked.program.document.locator.span(edit.place)
        line = line[: span.column - 1] + edit.text + line[span.end_column - 1 :]
    assert line == f"  a: {fixed}"


def test_no_fix_over_several_lines(check: Callable[..., Any]) -> None:
    text = "---\nparams:\n  a:\n    const: |\n      x\n      y\nsteps:\n  - id: s\n---\n## s\nA.\n"
    (finding,) = check(text).context.sink.found
    assert finding.fix is None
