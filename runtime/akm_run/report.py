"""A run as one HTML page: no script, no network, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape

from msgspec import UNSET

from akm_run.console import visible
from akm_run.document import ChildPart, RunDocument, StepPart, UnitPart
from akm_run.rows import StepRow
from akm_schemas.canonical import canonical_text
from akm_schemas.json_types import Json

_SHOWN_CHARS = 20_000
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1c1c1c; }
h1, h2 { line-height: 1.2; } code, pre { font: 13px/1.4 ui-monospace, monospace; }
pre { background: #f4f4f4; padding: .6rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .3rem .5rem; border-bottom: 1px solid #ddd; vertical-align: top; }
.completed { color: #176b2c; } .failed { color: #a11616; } .blocked { color: #8a5a00; } .skipped, .pending { color: #666; } .active, .running { color: #0b5a8a; }
.bar { position: relative; height: .7rem; background: #eee; } .bar span { position: absolute; height: 100%; min-width: 2px; background: currentColor; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; } pre, .bar { background: #262626; } td, th { border-color: #333; }
.completed { color: #6cc784; } .failed { color: #ef7d7d; } .blocked { color: #e0b35a; } .active, .running { color: #6bb7e5; } }
"""


def page(document: RunDocument, rows: Sequence[StepRow]) -> str:
    """The page; ``rows`` give the steps' times."""
    title = f"Run {document.run_id}"
    parts = [
        f"<h1>{_text(document.title or document.ref)}</h1>",
        f"<p>Run <code>{_text(document.run_id)}</code> of <code>{_text(document.ref)}</code>: {_status(document.status)}.",
        f"Published {_text(document.created_at)}, last change {_text(document.updated_at)}.",
        f"{document.units_dispatched} units dispatched, {document.tokens_used} tokens reported.</p>",
        "<h2>Steps</h2>",
        _steps(document.steps),
        "<h2>Timeline</h2>",
        _timeline(rows),
        _failures(document),
        "<h2>Outputs</h2>",
        "<p>None yet: they are resolved when the run completes.</p>" if document.outputs is None else "",
        *(f"<h3>{_text(name)}</h3>{_value(value)}" for name, value in (document.outputs or {}).items()),
        "<h2>Artifacts</h2>",
        *(f"<h3>{_text(step.id)}</h3>{_value(step.output)}" for step in document.steps if step.output is not UNSET),
        "<h2>Units</h2>",
        _units(document.units if document.units is not UNSET else []),
        _notices(document),
        _children(document.children if document.children is not UNSET else []),
    ]
    body = "\n".join(part for part in parts if part)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{_text(title)}</title>'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n'
    )


def _text(text: str) -> str:
    return escape(visible(text))


def _status(status: str) -> str:
    return f'<b class="{escape(status)}">{escape(status)}</b>'


def _value(value: Json) -> str:
    text = value if isinstance(value, str) else canonical_text(value)
    clipped = ""
    if len(text) > _SHOWN_CHARS:
        clipped = f"<p>The first {_SHOWN_CHARS} of {len(text)} characters.</p>"
        text = text[:_SHOWN_CHARS]
    return f"<pre>{_text(text)}</pre>{clipped}"


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Cells are HTML already."""
    if not lines:
        return "<p>None.</p>"
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>" for line in lines)
    return f"<table><tr>{head}</tr>{body}</table>"


def _steps(steps: Sequence[StepPart]) -> str:
    lines = []
    for step in steps:
        facts = [step.failure_reason] if step.failure_reason is not UNSET else []
        facts += [f"selected {step.selected}"] if step.selected is not UNSET else []
        facts += [f"{step.unit_count} units, {step.failed_units} failed"] if step.unit_count else []
        lines.append(
            (f"<code>{_text(step.id)}</code>", escape(step.kind), _status(step.status), _text("; ".join(facts)))
        )
    return _table(("Step", "Kind", "Status", ""), lines)


def _timeline(rows: Sequence[StepRow]) -> str:
    timed = [(row, _seconds(row.started_at), _seconds(row.finished_at)) for row in rows]
    ends = [moment for _, start, end in timed for moment in (start, end) if moment is not None]
    if not ends:
        return "<p>Nothing has started.</p>"
    first, span = min(ends), max(max(ends) - min(ends), 0.001)
    lines = []
    for row, start, end in timed:
        if start is None:
            continue
        stop = max(start, max(ends) if end is None else end)  # the wall clock may have been put back
        left, width = 100 * (start - first) / span, 100 * (stop - start) / span
        bar = f'<div class="bar {escape(row.status)}"><span style="left:{left:.2f}%;width:{width:.2f}%"></span></div>'
        lines.append((f"<code>{_text(row.step_id)}</code>", f"{stop - start:.2f} s", bar))
    return _table(("Step", "Time", ""), lines)


def _seconds(moment: str | None) -> float | None:
    return None if moment is None else datetime.fromisoformat(moment).timestamp()


def _failures(document: RunDocument) -> str:
    failed = [step for step in document.steps if step.summary is not UNSET and step.status != "completed"]
    if not failed:
        return ""
    blocks = [
        f"<h3>{_text(step.id)}: {_text(step.failure_reason if step.failure_reason is not UNSET else step.status)}</h3>"
        f"<pre>{_text(step.summary if step.summary is not UNSET else '')}</pre>"
        for step in failed
    ]
    return "<h2>Failures</h2>" + "".join(blocks)


def _units(units: Sequence[UnitPart]) -> str:
    lines = []
    for unit in units:
        reason = unit.failure_reason if unit.failure_reason is not UNSET else ""
        told = f"<pre>{_text(unit.diagnostic)}</pre>" if unit.diagnostic is not UNSET else ""
        times = _text(f"{unit.started_at} - {unit.finished_at if unit.finished_at is not UNSET else ''}")
        lines.append(
            (
                f"<code>{_text(unit.id)}</code>",
                str(unit.attempt),
                f"{_status(unit.status)} {_text(reason)}{told}",
                times,
            )
        )
    return _table(("Unit", "Attempt", "Status", "Time"), lines)


def _notices(document: RunDocument) -> str:
    if not document.notices:
        return ""
    items = [
        f"<li><code>{_text(notice.unit if notice.unit is not UNSET else notice.step)}</code>: {_text(notice.text)}</li>"
        for notice in document.notices
    ]
    return f"<h2>Notices</h2><ul>{''.join(items)}</ul>"


def _children(children: Sequence[ChildPart]) -> str:
    if not children:
        return ""

    def items(level: Sequence[ChildPart]) -> str:
        lines = [
            f"<li><code>{_text(child.run_id)}</code> {_text(child.ref)}: {_status(child.status)}{items(child.children)}</li>"
            for child in level
        ]
        return f"<ul>{''.join(lines)}</ul>" if lines else ""

    return f"<h2>Children</h2>{items(children)}"
