"""What went wrong, above everything else: readable without scripts, and without looking for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from akm_run.journal.excerpts import Attempt
from akm_run.report.heading import going_on
from akm_run.report.html import block, shown_by
from akm_run.report.part import Part
from akm_run.report.words import counted, pill
from akm_run.rows import StepRow

_MOST_UNITS = 20


def failures(part: Part) -> Iterator[str]:
    """The steps that hold the run up, the units that failed in them, and what to type; nothing for a run without."""
    held = [row for row in part.rows if _holds_up(row)]
    for row in held:
        yield from _failure(part, row)
    lost = [row for row in part.rows if row.failed_units and row not in held]
    for row in lost:
        yield from _units(part, row, f"Step <b>{part.texts.line(row.step_id)}</b> went on without these units")
    if part.commands and part.shown.run.status != "completed":
        yield from going_on(part)


def title(part: Part) -> str:
    """What the section is called: it may hold failures, units that were done without, or only how to go on."""
    if any(_holds_up(row) for row in part.rows):
        return "What went wrong"
    return "What did not work" if any(row.failed_units for row in part.rows) else "How to go on"


def _holds_up(row: StepRow) -> bool:
    return row.status in ("failed", "blocked") or (row.status == "pending" and row.reason is not None)


def _failure(part: Part, row: StepRow) -> Iterator[str]:
    link = f'<a href="#{part.anchor(f"step-{row.index}")}">{part.texts.line(row.step_id)}</a>'
    reason = f" <code>{part.texts.line(row.reason)}</code>" if row.reason else ""
    yield f"<p>{pill(part.step_word(row))} Step <b>{link}</b>{reason}</p>"
    if row.summary:
        command = shown_by("akm-run", "status", part.run_id)
        yield from block(part.texts.piece(row.summary), command, f"what went wrong in {row.step_id}")
    if row.unit_count > 1 or row.failed_units > 1:
        yield from _units(part, row, "Units that failed")


def _units(part: Part, row: StepRow, title: str) -> Iterator[str]:
    failed = [attempt for attempt in part.attempts_of(row.index) if _lost(part, attempt)]
    if not failed:
        return
    yield f"<details><summary>{title} ({len(failed)})</summary>"
    for attempt in islice(failed, _MOST_UNITS):
        reason = f" <code>{part.texts.line(attempt.reason or '')}</code>"
        yield f"<p>{pill(part.word(attempt))} <code>{part.texts.line(attempt.unit_id)}</code>{reason}</p>"
        if attempt.diagnostic:
            command = shown_by("akm-run", "logs", part.run_id, attempt.unit_id)
            yield from block(part.texts.piece(attempt.diagnostic), command, f"diagnostic of {attempt.unit_id}")
    if len(failed) > _MOST_UNITS:
        yield f'<p class="note">And {counted(len(failed) - _MOST_UNITS, "more unit")}: {shown_by("akm-run", "status", part.run_id, "--units")}</p>'
    yield "</details>"


def _lost(part: Part, attempt: Attempt) -> bool:
    return attempt.role == "unit" and attempt.status == "failed" and attempt.unit_id in part.last
