"""References: source in, findings and program out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SPINE = """---
params: {rows: {type: array}, timeout: {type: integer}, dry_run: {type: boolean}}
outputs:
  all: {from: steps.last.output.text}
  bad: {from: params.rows}
  lost: {from: steps.lats.output}
steps:
  - id: first
  - id: fan
    map: {over: params.rowz}
  - id: mid
    inputs:
      - steps.first.output
      - steps.mid.output
      - steps.last.output
      - steps.frist.output
      - steps.first.ouput
      - params.rows
      - steps.fork.output
  - id: fork
    route: {input: steps.first.output, when: [{match: a, step: last}], default: other}
  - id: last
    inputs: [steps.first.output, steps.fork.output]
  - id: other
    inputs: [steps.last.output]
---
## first
A.
## fan
A.
## mid
A.
## last
A.
## other
A.
"""


def test_every_fault_of_a_reference(check: Callable[..., Any]) -> None:
    checked = check(SPINE, stop_after="outputs")
    assert checked.rules == [
        ("param-shadows-option", 2),
        ("maybe-skipped-reference", 4),
        ("invalid-reference", 5),
        ("unknown-step-reference", 6),
        ("unknown-param-reference", 10),
        ("self-reference", 14),
        ("forward-reference", 15),
        ("unknown-step-reference", 16),
        ("invalid-reference", 17),
        ("forward-reference", 19),
        ("invalid-reference", 23),
        ("maybe-skipped-reference", 25),
    ]
    kept = {".".join(map(str, path)): item.text for path, item in checked.program.references.items()}
    assert kept == {
        "outputs.all.from": "steps.last.output.text",
        "steps.2.inputs.0": "steps.first.output",
        "steps.2.inputs.5": "params.rows",
        "steps.3.route.input": "steps.first.output",
        "steps.4.inputs.0": "steps.first.output",
        "steps.5.inputs.0": "steps.last.output",
    }


def test_messages(check: Callable[..., Any]) -> None:
    text = """---
params: {rows: {type: array}}
steps:
  - id: gather
  - id: report
    inputs: [steps.gathre.output, params.row, steps.report.output]
---
## gather
A.
## report
B.
"""
    assert check(text, stop_after="references").printed == (
        '6:14 unknown-step-reference: no step is called "gathre"; declared steps: "gather", "report"\n'
        '  help: did you mean "gather"?\n'
        '6:35 unknown-param-reference: no param is called "row"; declared params: "rows"\n'
        '  help: did you mean "rows"?\n'
        '6:47 self-reference: the step "report" reads its own output\n'
        "  help: name an earlier step: a step has no output before it is done"
    )


def test_nothing_cascades_from_what_could_not_be_read(check: Callable[..., Any]) -> None:
    text = """---
params: {"2x": {type: string}, y: 3}
steps:
  - {unit: {exec: {command: [make]}}}
  - {id: use, inputs: [steps.missing.output, params.y, 7]}
---
## use
A.
"""
    rules = [rule for rule, _ in check(text).rules]
    assert sorted(rules) == ["invalid-param-name", "missing-key", "wrong-type", "wrong-type"]


def test_a_params_place_may_be_missing_altogether(check: Callable[..., Any]) -> None:
    text = "---\nsteps:\n  - {id: a, inputs: [params.x]}\n---\n## a\nA.\n"
    assert "declared params: (none)" in check(text).printed
