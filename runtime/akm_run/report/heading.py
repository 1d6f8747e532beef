"""What stands on top: the run, how it stands, what it has used, and how to go on."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from akm_run.report.html import block, facts, shown_by
from akm_run.report.part import Part
from akm_run.report.texts import masked
from akm_run.report.words import counted, digits, lasting, pill, seconds_of, when
from akm_schemas.bounds import REPORT_VALUE_BYTES


def run_word(part: Part) -> str:
    """The status of a run; an active one that nobody drives is stopped."""
    run = part.shown.run
    return "stopped" if run.status == "active" and not part.shown.driven else run.status


def status_line(part: Part) -> str:
    """The status with how long it took, and how many steps are done, as HTML."""
    done = sum(row.status in ("completed", "skipped") for row in part.rows)
    stopped = " (active, driven by nobody at the moment)" if run_word(part) == "stopped" else ""
    return (
        f'<p class="status">{pill(run_word(part))} <span>{done} of {counted(len(part.rows), "step")} done</span>'
        f" <span>{_lasted(part)}{stopped}</span></p>"
    )


def run_facts(part: Part) -> Iterator[str]:
    """The facts of a run."""
    run, text = part.shown.run, part.texts.line
    yield from facts(
        [
            ("run", f"<code>{text(run.run_id)}</code>"),
            ("workflow", f"<code>{text(run.ref)}</code>"),
            ("started", when(run.created_at)),
            ("last change", when(run.updated_at)),
            ("units", _units(part)),
            ("tokens", _tokens(part)),
            ("width", f"at most {counted(run.width, 'unit')} of a map at a time"),
            ("commit of isolated units", f"<code>{text(run.base_commit)}</code>" if run.base_commit else ""),
            ("takes over from run", f"<code>{text(run.reuses)}</code>" if run.reuses else ""),
            ("composed by", f"<code>{text(f'{run.parent_run} {run.parent_unit}')}</code>" if run.parent_run else ""),
        ]
    )
    hashes = (("contentHash", run.content_hash), ("planHash", run.plan_hash))
    yield from facts([(name, f"<code>{text(value)}</code>") for name, value in hashes], kind="wide")
    if part.shown.why_not is not None:
        yield f'<p class="note">{text(part.shown.why_not)}. The page shows what the journal says.</p>'
    yield from _params(part)


def going_on(part: Part) -> Iterator[str]:
    """The commands that bring a stopped run on."""
    if part.commands and not part.shown.driven:
        lines = "\n".join(part.texts.line(command) for command in part.commands)
        yield f'<p>To go on with it:</p><pre tabindex="0" aria-label="commands to go on">{lines}</pre>'


def _params(part: Part) -> Iterator[str]:
    params = masked(part.shown.params)
    if not params:
        return
    yield '<details class="params"><summary>Params</summary>'
    room = max(256, REPORT_VALUE_BYTES.high // len(params))
    for name, value in params.items():
        yield f"<h4><code>{part.texts.line(name)}</code></h4>"
        yield from block(part.texts.value(value, room), shown_by("akm-run", "export", part.run_id, "-o", "FILE"), name)
    yield "</details>"


def _lasted(part: Part) -> str:
    run = part.shown.run
    end = part.now if part.shown.driven else seconds_of(run.updated_at)
    seconds = lasting(max(0.0, end - seconds_of(run.created_at)))
    return f"for {seconds} so far" if part.shown.driven else f"in {seconds}"


def _units(part: Part) -> str:
    spent, most = sum(attempt.spawns for attempt in part.attempts), None
    if part.shown.plan is not None and part.shown.plan.budget.max_units is not UNSET:
        most = part.shown.plan.budget.max_units
    reused = sum(attempt.reused_run is not None for attempt in part.attempts)
    taken = f", {digits(reused)} reused" if reused else ""
    return _of(spent, most, "dispatch", "dispatches") + taken


def _tokens(part: Part) -> str:
    spent, most = sum(attempt.tokens or 0 for attempt in part.attempts), None
    if part.shown.plan is not None and part.shown.plan.budget.max_tokens is not UNSET:
        most = part.shown.plan.budget.max_tokens
    return _of(spent, most, "reported", "reported")


def _of(spent: int, most: int | None, one: str, many: str) -> str:
    if most is None:
        return f"{digits(spent)} {one if spent == 1 else many}, no budget"
    share = min(100, round(100 * spent / most))
    meter = f'<span class="meter" aria-hidden="true"><i style="width:{share}%"></i></span>'
    return f"{digits(spent)} of {digits(most)} {many} ({share} %){meter}"
