"""One run as the sections of its part of the page see it: read once, results not among it."""

from __future__ import annotations

from msgspec import Struct

from akm_run.journal import Journal
from akm_run.journal.excerpts import Attempt, Excerpt, attempts, steps_with_heads
from akm_run.report.inputs import Inputs
from akm_run.report.texts import Texts
from akm_run.report.tree import Shown
from akm_run.report.words import attempt_word, last_attempts, seconds_of, span_of
from akm_run.rows import Notice, StepRow
from akm_run.show.document import go_on
from akm_schemas.bounds import REPORT_VALUE_BYTES
from akm_schemas.plan import Step


class Part(Struct, frozen=True):
    """A run with its rows. ``heads`` are the beginnings of the steps' artifacts; ``now`` is the page's moment, in
    seconds since 1970; ``last`` are the attempts that no other follows at their unit."""

    journal: Journal
    shown: Shown
    texts: Texts
    now: float
    rows: list[StepRow]
    heads: list[Excerpt | None]
    attempts: list[Attempt]
    by_step: dict[int, list[Attempt]]
    last: frozenset[str]
    notices: list[Notice]
    commands: list[str]
    inputs: Inputs

    @property
    def run_id(self) -> str:
        """The run's id, as commands take it."""
        return self.shown.run.run_id

    def anchor(self, name: str = "") -> str:
        """An element id of this run: of positions and fixed words, so that no text of a plan is one."""
        return f"run-{self.shown.number}" + (f"-{name}" if name else "")

    def step(self, index: int) -> Step | None:
        """A step of the plan, ``None`` where the plan cannot be decoded."""
        plan = self.shown.plan
        return plan.steps[index] if plan is not None and index < len(plan.steps) else None

    def word(self, attempt: Attempt) -> str:
        """What became of an attempt."""
        return attempt_word(attempt, last=attempt.unit_id in self.last, alive=self.shown.driven)

    def attempts_of(self, index: int) -> list[Attempt]:
        """The attempts of a step, judge calls among them."""
        return self.by_step.get(index, [])

    def step_word(self, row: StepRow) -> str:
        """The status of a step; a pending one is told apart by what it does."""
        if row.status != "pending":
            return row.status
        if any(attempt.status == "running" for attempt in self.attempts_of(row.index)) and self.shown.driven:
            return "running"
        if row.reason == "gate_rejected":
            return "rejected"
        return "stopped" if row.started_at is not None and not self.shown.driven else "pending"

    def step_seconds(self, row: StepRow) -> float | None:
        """How long a step took, or has taken so far; ``None`` for one that was not started."""
        if row.started_at is None:
            return None
        return max(0.0, self.end_of(row) - seconds_of(row.started_at))

    def end_of(self, row: StepRow) -> float:
        """When a step ended; for one that goes on: now, for one that stopped: when the last of it ended."""
        if row.finished_at is not None:
            return seconds_of(row.finished_at)
        if self.shown.driven:
            return self.now
        ends = [span_of(attempt).end or span_of(attempt).start for attempt in self.attempts_of(row.index)]
        return max(ends, default=seconds_of(row.started_at or self.shown.run.created_at))


def read_part(journal: Journal, shown: Shown, texts: Texts, now: float) -> Part:
    """The part of a run."""
    run_id = shown.run.run_id
    found = steps_with_heads(journal, run_id, REPORT_VALUE_BYTES.high + 16)
    rows = [row for row, _ in found]
    tried = list(attempts(journal, run_id, 0))
    by_step: dict[int, list[Attempt]] = {}
    for attempt in tried:
        by_step.setdefault(attempt.step, []).append(attempt)
    return Part(
        journal=journal,
        shown=shown,
        texts=texts,
        now=now,
        rows=rows,
        heads=[head for _, head in found],
        attempts=tried,
        by_step=by_step,
        last=last_attempts(tried),
        notices=journal.notices(run_id),
        commands=go_on(journal, shown.run),
        inputs=Inputs(journal, shown, rows, texts),
    )
