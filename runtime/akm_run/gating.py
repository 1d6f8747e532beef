"""Gates: what a verdict, or the lack of one, means for a step (spec 3, section 3)."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import UNSET, Struct

from akm_run.artifacts import Promoted
from akm_run.clipping import clipped
from akm_run.events import UnitFinished
from akm_run.frame import PlannedUnit
from akm_run.identity import judge_hash, judge_key
from akm_run.judge import Verdict, read_verdict
from akm_schemas.plan import Step

JUDGE_UNREADABLE = "judge_unreadable"


class Accepted(Struct, frozen=True):
    """The judge lets the step complete."""


class Rejected(Struct, frozen=True):
    """The judge wants the step done again, with this feedback."""

    feedback: str


class Blocked(Struct, frozen=True):
    """There is no verdict: a failure reason and what to show for it."""

    reason: str
    summary: str


Ruling: TypeAlias = Accepted | Rejected | Blocked


def ruling(answer: UnitFinished) -> Ruling:
    """What the finished judge call says."""
    if answer.reason == JUDGE_UNREADABLE:
        return Blocked(JUDGE_UNREADABLE, clipped(f"the judge's answer is no verdict: {answer.diagnostic}"))
    if answer.reason is not None:
        return Blocked("judge_failed", clipped(f"the judge failed ({answer.reason}): {answer.diagnostic or ''}"))
    verdict = read_verdict(answer.value if isinstance(answer.value, str) else "")
    if not isinstance(verdict, Verdict):
        return Blocked(JUDGE_UNREADABLE, clipped(f"the judge's answer is no verdict: {verdict.why}"))
    return Accepted() if verdict.complete else Rejected(feedback_text(verdict))


def judge_unit(step: Step, loop: int, promoted: Promoted) -> PlannedUnit:
    """The judge call about what round ``loop`` promoted."""
    assert step.gate is not UNSET
    digest = judge_hash(step.gate.judge.content_hash, step.gate.rubric, promoted.value)
    return PlannedUnit(judge_key(step.id, loop), digest)


def feedback_text(verdict: Verdict) -> str:
    """A rejection as the text that the next round's units are given."""
    lines = [verdict.feedback.strip()] if verdict.feedback.strip() else []
    if verdict.missing:
        lines += ["Missing:", *(f"- {entry}" for entry in verdict.missing)]
    return "\n".join(lines) or "The result was rejected without a reason."
