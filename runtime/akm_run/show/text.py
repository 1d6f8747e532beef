"""A run for people: status, steps, outputs, failures, and what to type next."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import cast

from msgspec import UNSET, UnsetType

from akm_run.console import paint, visible
from akm_run.cuts import PIECE_BYTES
from akm_run.journal.stored import Stored
from akm_run.policy import BUDGET_EXCEEDED
from akm_run.show.document import ChildPart, RunDocument, StepPart, UnitPart
from akm_schemas.counting import counted

_SHOWN_CHARS = 2000


def run_text(document: RunDocument, *, color: bool, notices: bool = False) -> str:
    """The whole of a run, ending in a newline."""
    lines = [
        f"run {document.run_id}  {paint(document.status, document.status, color=color)}  {visible(document.ref)}",
    ]
    if document.parent_run is not UNSET:
        lines.append(f"composed by run {document.parent_run}")
    width = max((len(step.id) for step in document.steps), default=0)
    for step in document.steps:
        lines += _step(step, width, color=color)
    if document.units is not UNSET:
        lines += ["units:", *(line for unit in document.units for line in _unit(unit, color=color))]
    if document.outputs is not None:
        outputs = document.outputs.members() if isinstance(document.outputs, Stored) else document.outputs
        lines += ["outputs:", *(f"  {name}: {_value(value)}" for name, value in outputs.items())]
    if notices and document.notices:
        lines += ["notices:", *(f"  {notice_text(n.step, n.unit, n.text)}" for n in document.notices)]
    lines.append(f"units dispatched: {document.units_dispatched}, tokens used: {document.tokens_used}")
    if document.children is not UNSET:
        lines += ["children:", *_children(document.children, 1, color=color)]
    if document.commands:
        lines += ["to go on:", *(f"  {command}" for command in document.commands)]
    elif document.status == "failed" and any(step.failure_reason == BUDGET_EXCEEDED for step in document.steps):
        lines += ["to go on, with a changed plan:", f"  akm-run NEW-PLAN --reuse {document.run_id}"]
    return "\n".join(lines) + "\n"


def notice_text(step: str, unit: str | UnsetType | None, text: str) -> str:
    """A notice with the unit, or else the step, that it is about."""
    return f"{unit or step}: {visible(text)}"


def _step(step: StepPart, width: int, *, color: bool) -> list[str]:
    facts = [paint(step.status, step.status, color=color)]
    if step.failure_reason is not UNSET:
        facts.append(step.failure_reason)
    if step.unit_count > 1 or step.failed_units:
        facts.append(f"{counted(step.unit_count, 'unit')}, {step.failed_units} failed")
    if step.selected is not UNSET:
        facts.append(f"-> {step.selected}")
    lines = [f"  {step.id.ljust(width)}  {'  '.join(facts)}"]
    if step.summary is not UNSET:
        lines += [f"      {line}" for line in visible(step.summary).splitlines()]
    if step.output is not UNSET:
        lines.append(f"      output: {_value(step.output)}")
    return lines


def _unit(unit: UnitPart, *, color: bool) -> list[str]:
    facts = [paint(unit.status, unit.status, color=color)]
    if unit.failure_reason is not UNSET:
        facts.append(unit.failure_reason)
    if unit.dispatches is not UNSET:
        facts.append(f"dispatched {unit.dispatches} times under this id: a driver ended before the result was recorded")
    if unit.reused_from is not UNSET:
        facts.append(f"reused from {unit.reused_from}")
    if unit.tokens is not UNSET:
        facts.append(counted(unit.tokens, "token"))
    lines = [f"  {unit.id}  {'  '.join(facts)}"]
    if unit.diagnostic is not UNSET:
        lines += [f"      {line}" for line in visible(unit.diagnostic).splitlines()]
    return lines


def _children(children: list[ChildPart], depth: int, *, color: bool) -> list[str]:
    lines: list[str] = []
    for child in children:
        status = paint(child.status, child.status, color=color)
        commands = f"  ({'; '.join(child.commands)})" if child.commands else ""
        lines.append(f"{'  ' * depth}{child.run_id}  {status}  {visible(child.ref)}{commands}")
        lines += _children(child.children, depth + 1, color=color)
    return lines


def _value(value: Stored | str) -> str:
    """The beginning of a text as it is, of anything else as canonical JSON."""
    text, length = "", 0
    for piece in _pieces(value):
        shown = visible(piece)
        text += shown[: max(0, _SHOWN_CHARS - length)]
        length += len(shown)
    if length > _SHOWN_CHARS:
        text += f" ... ({length} characters; --json shows all)"
    return text.replace("\n", "\n        ")


def _pieces(value: Stored | str) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        return
    with value.text() as data:
        if data[:1] == b'"':
            yield cast(str, value.decode(data[:]))
            return
        decoder = codecs.getincrementaldecoder("utf-8")()
        for at in range(0, len(data), PIECE_BYTES):
            yield decoder.decode(data[at : at + PIECE_BYTES])
