"""The steps in order: how each stands, how long it took, what it used, read and made."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from akm_run.report.html import block, facts, shown_by
from akm_run.report.part import Part
from akm_run.report.texts import Texts
from akm_run.report.words import counted, lasting, pill, when
from akm_run.rows import StepRow


def steps(part: Part) -> Iterator[str]:
    """Every step as an element that opens; its summary says the essential."""
    most = max((_tokens(part, row) for row in part.rows), default=0)
    for row in part.rows:
        yield from _step(part, row, most)


def _tokens(part: Part, row: StepRow) -> int:
    return sum(attempt.tokens or 0 for attempt in part.attempts_of(row.index))


def _step(part: Part, row: StepRow, most: int) -> Iterator[str]:
    word, text = part.step_word(row), part.texts.line
    seconds, tokens = part.step_seconds(row), _tokens(part, row)
    gist = f'<span class="gist">{text(row.reason or "")}</span>' if row.reason else ""
    yield f'<details class="step {word}" id="{part.anchor(f"step-{row.index}")}">'
    yield (
        f'<summary>{pill(word)} <b>{text(row.step_id)}</b> <span class="kind">{escape(_kind(part, row))}</span>{gist}'
        f'<span class="num">{_used(row, tokens)}{lasting(seconds) if seconds is not None else ""}</span></summary>'
    )
    yield from facts(
        [
            ("started", when(row.started_at) if row.started_at else ""),
            ("finished", when(row.finished_at) if row.finished_at else ""),
            ("units", _units(row)),
            ("tokens", _token_bar(tokens, most)),
            ("round", str(row.loop) if row.loop > 1 else ""),
            ("selected", f"<code>{text(row.selected)}</code>" if row.selected else ""),
            ("failure", text(row.reason) if row.reason else ""),
        ]
    )
    yield from _texts(part, row, part.texts)
    yield "</details>"


def _texts(part: Part, row: StepRow, texts: Texts) -> Iterator[str]:
    command = shown_by("akm-run", "status", part.run_id, "--json")
    if row.summary:
        yield f"<h4>{'What went wrong' if row.status != 'completed' else 'Summary'}</h4>"
        yield from block(texts.piece(row.summary), command, f"summary of {row.step_id}")
    step = part.step(row.index)
    if step is not None and row.started_at is not None:
        for name, piece in part.inputs.of_step(step):
            yield f"<h4>Reads <code>{texts.line(name)}</code></h4>"
            yield from block(piece, command, f"{row.step_id} reads {name}")
    head = part.heads[row.index]
    if head is not None and row.status == "completed":
        yield "<h4>Output</h4>"
        yield from block(texts.excerpt(head), command, f"output of {row.step_id}")


def _kind(part: Part, row: StepRow) -> str:
    step = part.step(row.index)
    if step is None:
        return row.kind
    from akm_schemas.drawing.facts import kind_of

    return f"map of {kind_of(step)}" if row.kind == "map" else kind_of(step)


def _used(row: StepRow, tokens: int) -> str:
    told = [counted(row.unit_count, "unit")] if row.unit_count > 1 else []
    told += [f"{row.failed_units} failed"] if row.failed_units and row.unit_count > 1 else []
    told += [counted(tokens, "token")] if tokens else []
    return "".join(f"{part}, " for part in told)


def _units(row: StepRow) -> str:
    if row.unit_count == 0:
        return ""
    return counted(row.unit_count, "unit") + (f", {row.failed_units} failed" if row.failed_units else "")


def _token_bar(tokens: int, most: int) -> str:
    if not tokens:
        return ""
    width = round(100 * tokens / most)
    return f'{counted(tokens, "token")}<span class="meter" aria-hidden="true"><i style="width:{width}%"></i></span>'
