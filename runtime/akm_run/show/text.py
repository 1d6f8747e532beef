"""A run for people: status, steps, outputs, failures, and what to type next."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import cast

from msgspec import UNSET

from akm_run.console import barred, joined, paint
from akm_run.cuts import PIECE_BYTES
from akm_run.journal.stored import Stored
from akm_run.policy import BUDGET_EXCEEDED
from akm_run.show.document import ChildPart, NoticePart, RunDocument, StepPart, UnitPart
from akm_schemas.counting import counted
from akm_schemas.visible import visible, visible_rows

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
        lines += ["outputs:", *(line for name, value in outputs.items() for line in _value(f"  {name}: ", value))]
    if notices and document.notices:
        lines += ["notices:", *(line for notice in document.notices for line in _notice(notice))]
    lines.append(f"units dispatched: {document.units_dispatched}, tokens used: {document.tokens_used}")
    if document.children is not UNSET:
        lines += ["children:", *_children(document.children, 1, color=color)]
    if document.commands:
        lines += ["to go on:", *(f"  {command}" for command in document.commands)]
    elif document.status == "failed" and any(step.failure_reason == BUDGET_EXCEEDED for step in document.steps):
        lines += ["to go on, with a changed plan:", f"  akm-run NEW-PLAN --reuse {document.run_id}"]
    return joined(lines)


def _notice(notice: NoticePart) -> list[str]:
    """A notice with the unit, or else the step, that it is about."""
    return _led(f"  {notice.unit or notice.step}: ", notice.text)


def _led(lead: str, text: str) -> list[str]:
    """A text of others that begins behind ``lead``; its further lines stand behind bars."""
    first, _, rest = text.replace("\r\n", "\n").partition("\n")
    return [lead + "".join(visible_rows(first)), *(barred(rest, " " * 8) if rest else [])]


def _step(step: StepPart, width: int, *, color: bool) -> list[str]:
    facts = [paint(step.status, step.status, color=color)]
    if step.failure_reason is not UNSET:
        facts.append(step.failure_reason)
    if step.unit_count > 1 or step.failed_units:
        facts.append(_units(step))
    if step.selected is not UNSET:
        facts.append(f"-> {step.selected}")
    lines = [f"  {step.id.ljust(width)}  {'  '.join(facts)}"]
    if step.summary is not UNSET:
        lines += barred(step.summary, " " * 6)
    if step.output is not UNSET:
        lines += _value("      output: ", step.output)
    return lines


def _units(step: StepPart) -> str:
    """How many units a step has, and what became of them; a step under way does not know of failures yet."""
    units = counted(step.unit_count, "unit")
    if step.units_completed is not UNSET and not step.failed_units:
        return f"{step.units_completed} of {units} completed"
    return f"{units}, {step.failed_units} failed"


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
        lines += barred(unit.diagnostic, " " * 6)
    return lines


def _children(children: list[ChildPart], depth: int, *, color: bool) -> list[str]:
    lines: list[str] = []
    for child in children:
        status = paint(child.status, child.status, color=color)
        commands = f"  ({'; '.join(child.commands)})" if child.commands else ""
        lines.append(f"{'  ' * depth}{child.run_id}  {status}  {visible(child.ref)}{commands}")
        lines += _children(child.children, depth + 1, color=color)
    return lines


def _value(lead: str, value: Stored | str) -> list[str]:
    """The beginning of a text as it is, of anything else as canonical JSON."""
    text, length = "", 0
    for piece in _pieces(value):
        text += piece[: max(0, _SHOWN_CHARS - length)]
        length += len(piece)
    if length > _SHOWN_CHARS:
        text += f" ... ({length} characters; --json shows all)"
    return _led(lead, text)


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
