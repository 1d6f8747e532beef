"""Exports: any declared step, only steps, and what may be skipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SPINE = """steps:
  - id: pick
    unit: {exec: {command: [pick]}}
  - id: fork
    route: {input: steps.pick.output, when: [{match: go, step: ship}], default: hold}
  - id: ship
    unit: {exec: {command: [ship]}}
  - id: hold
    unit: {exec: {command: [hold]}}
---
## pick
A.
## ship
A.
## hold
A.
"""


def _outputs(*lines: str) -> str:
    return "---\nparams: {who: {type: string}}\noutputs:\n" + "".join(f"  {line}\n" for line in lines) + SPINE


def test_an_export_is_parsed_and_frozen(check: Callable[..., Any]) -> None:
    checked = check(_outputs("choice: {from: steps.pick.output}"), freeze=True)
    assert checked.rules == []
    assert checked.at("outputs.choice.from") == {
        "text": "steps.pick.output",
        "root": "steps",
        "name": "pick",
        "path": [],
    }


def test_what_is_no_export(check: Callable[..., Any]) -> None:
    text = _outputs(
        "a: {from: params.who}", "b: {from: steps.picc.output}", "c: {from: steps.fork.output}", "d: {from: steps.pick}"
    )
    assert check(text).rules == [
        ("invalid-reference", 4),
        ("unknown-step-reference", 5),
        ("invalid-reference", 6),
        ("invalid-reference", 7),
    ]


def test_an_export_of_what_a_route_can_skip_is_a_warning(check: Callable[..., Any]) -> None:
    checked = check(_outputs("end: {from: steps.ship.output}"))
    assert checked.rules == [("maybe-skipped-reference", 4)]
    assert "the export fails" in checked.printed


def test_exports_wait_for_the_pass_of_their_own(check: Callable[..., Any]) -> None:
    text = _outputs("choice: {from: steps.pick.output}")
    assert ("outputs", "choice", "from") not in check(text, stop_after="references").program.references
    assert ("outputs", "choice", "from") in check(text, stop_after="outputs").program.references
