"""Gates: the rubric, and round for round what the judge said about what the step had made."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from msgspec import UNSET

from akm_run.journal.excerpts import Attempt
from akm_run.judge import Verdict, read_verdict
from akm_run.report.html import block, shown_by
from akm_run.report.part import Part
from akm_run.report.words import counted, lasting, pill, span_of
from akm_run.rows import StepRow


def gates(part: Part) -> Iterator[str]:
    """Every gate of the run, those that were not reached too."""
    for row in part.rows:
        step = part.step(row.index)
        judged = [attempt for attempt in part.attempts_of(row.index) if attempt.role == "judge"]
        if step is None and not judged:
            continue
        if step is not None and step.gate is UNSET and not judged:
            continue
        rounds = "" if step is None or step.gate is UNSET else f", at most {counted(step.gate.max_loops, 'round')}"
        yield f'<article class="gate"><h4>Gate of <b>{part.texts.line(row.step_id)}</b>{rounds}</h4>'
        if step is not None and step.gate is not UNSET:
            yield "<details><summary>Rubric</summary>"
            command = shown_by("akm-run", "export", part.run_id, "-o", "FILE")
            yield from block(part.texts.piece(step.gate.rubric), command, f"rubric of {row.step_id}")
            yield "</details>"
        yield from _rounds(part, row, judged)
        yield "</article>"


def _rounds(part: Part, row: StepRow, judged: list[Attempt]) -> Iterator[str]:
    loops = range(1, row.loop + 1) if row.started_at is not None else range(0)
    by_loop: dict[int, list[Attempt]] = {}
    for attempt in judged:
        by_loop.setdefault(attempt.loop, []).append(attempt)
    if not loops:
        yield '<p class="note">not reached</p>'
        return
    yield "<ol>"
    for loop in sorted({*loops, *by_loop}):
        for attempt in by_loop.get(loop, []):
            yield from _verdict(part, attempt)
        if loop not in by_loop:
            yield f"<li>Round {loop}: {_unjudged(row, loop)}"
            if loop + 1 == row.loop and row.feedback:
                yield from _told(part, row.feedback, f"feedback of round {loop}")
            yield "</li>"
    yield "</ol>"


def _unjudged(row: StepRow, loop: int) -> str:
    if loop < row.loop:
        return "not judged, the result did not satisfy the step&#x27;s output schema"
    return {"completed": "completed without a judge call", "failed": "failed before the judge was asked"}.get(
        row.status, "not judged"
    )


def _verdict(part: Part, attempt: Attempt) -> Iterator[str]:
    span = span_of(attempt)
    took = "" if span.end is None else f", {lasting(span.end - span.start)}"
    used = f", {counted(attempt.tokens, 'token')}" if attempt.tokens else ""
    if attempt.status != "completed":
        word = part.word(attempt)
        said = "no verdict" if attempt.status == "failed" else "the judge is being asked"
        yield f"<li>Round {attempt.loop}: {pill(word)} {said}{_reason(attempt)}{took}{used}"
        if attempt.diagnostic:
            yield from _told(part, attempt.diagnostic, f"diagnostic of {attempt.unit_id}")
        yield "</li>"
        return
    answer = part.journal.unit_value(part.run_id, attempt.unit_id)
    verdict = read_verdict(answer) if isinstance(answer, str) else None
    if not isinstance(verdict, Verdict):
        why = "" if verdict is None else f": {part.texts.line(verdict.why)}"
        yield f"<li>Round {attempt.loop}: {pill('blocked')} no verdict{why}{took}{used}</li>"
        return
    yield f"<li>Round {attempt.loop}: {pill('completed', ', accepted') if verdict.complete else pill('rejected')}{took}{used}"
    if verdict.missing:
        items = "".join(f"<li>{part.texts.line(entry)}</li>" for entry in verdict.missing)
        yield f"<p>Missing:</p><ul>{items}</ul>"
    if verdict.feedback:
        yield from _told(part, verdict.feedback, f"feedback of round {attempt.loop}")
    yield "</li>"


def _reason(attempt: Attempt) -> str:
    return f" <code>{escape(attempt.reason)}</code>" if attempt.reason else ""


def _told(part: Part, text: str, label: str) -> Iterator[str]:
    yield from block(part.texts.piece(text), shown_by("akm-run", "export", part.run_id, "-o", "FILE"), label)
