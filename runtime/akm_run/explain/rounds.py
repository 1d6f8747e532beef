"""The rounds of a gated step, told from the journal: what each promoted, what the judge said, what it led to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from akm_run.artifacts import Fault, Slot, errors_text, reduced
from akm_run.gating import JUDGE_UNREADABLE, feedback_text
from akm_run.identity import judge_key
from akm_run.journal import Journal
from akm_run.judge import Verdict, read_verdict
from akm_run.opening import Opener, Round
from akm_run.rows import RunRow, StepRow, UnitRow
from akm_schemas.json_types import Json
from akm_schemas.plan import Step

Said: TypeAlias = Literal["accepted", "rejected", "unreadable", "judge failed", "waiting", "schema missed"]


class RoundPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One judge call, or a round that missed the step's schema, of which no judge was asked.

    ``feedback`` is what the next round is given, or why there is no verdict; ``led_to`` is a phrase for a person.
    """

    round: int
    unit: str | UnsetType = UNSET
    verdict: Said
    feedback: str | UnsetType = UNSET
    led_to: str


class Rounds(Struct, frozen=True):
    """The rounds of ``step``; ``rows`` are all attempts of the run."""

    journal: Journal
    run: RunRow
    step: Step
    row: StepRow
    rows: Sequence[UnitRow]

    def parts(self) -> list[RoundPart]:
        """One part per judge call, in order; none for a step without gate."""
        if self.step.gate is UNSET:
            return []
        found: list[RoundPart] = []
        for loop in range(1, self.row.loop + 1):
            calls = self.calls(loop)
            found += [self._part(loop, call, last=call is calls[-1]) for call in calls]
            if not calls and loop < self.row.loop:
                text = self.feedback(loop + 1)
                found.append(
                    RoundPart(round=loop, verdict="schema missed", feedback=text or UNSET, led_to=f"round {loop + 1}")
                )
        return found

    def feedback(self, loop: int) -> str | None:
        """What round ``loop`` was given; ``None`` for the first, or where the journal does not say."""
        if loop == 1:
            return None
        if loop == self.row.loop:
            return self.row.feedback
        calls = self.calls(loop - 1)
        if calls:
            verdict = self._verdict(calls[-1])
            return None if verdict is None or verdict.complete else feedback_text(verdict)
        missed = [row.errors for row in self._units(loop - 1).values() if row.status == "failed" and row.errors]
        return errors_text(missed[0]) if missed else None

    def artifact(self, opener: Opener, loop: int) -> Json | Fault:
        """What round ``loop`` promoted to its judge, put together again from the results of its units."""
        opened = opener.open(self.step, Round(loop, self.feedback(loop)))
        if isinstance(opened, Fault):
            return opened
        last, slots = self._units(loop), []
        for planned in opened.frame.units:
            row = last.get(planned.key)
            done = row is not None and row.status == "completed"
            value = self.journal.unit_value(self.run.run_id, row.unit_id) if row is not None and done else None
            slots.append(Slot(done, value, opened.frame.schema is None and value is None))
        reduction = reduced(self.step, slots) if slots or self.step.map is not UNSET else None
        if reduction is None:
            return Fault("unknown", "the step has promoted nothing to judge")
        return reduction if isinstance(reduction, Fault) else reduction.value

    def calls(self, loop: int) -> list[UnitRow]:
        """The judge calls of round ``loop``, in order."""
        key = judge_key(self.step.id, loop)
        return [row for row in self.rows if row.key == key]

    def _units(self, loop: int) -> dict[str, UnitRow]:
        """The last attempt at each unit of a round."""
        mine = (row for row in self.rows if row.step == self.step.index and row.role == "unit" and row.loop == loop)
        return {row.key: row for row in mine}

    def _verdict(self, call: UnitRow) -> Verdict | None:
        if call.status != "completed":
            return None
        value = self.journal.unit_value(self.run.run_id, call.unit_id)
        verdict = read_verdict(value if isinstance(value, str) else "")
        return verdict if isinstance(verdict, Verdict) else None

    def _part(self, loop: int, call: UnitRow, *, last: bool) -> RoundPart:
        verdict = self._verdict(call)
        said: Said
        if call.status == "running":
            said, text = "waiting", None
        elif verdict is not None:
            said = "accepted" if verdict.complete else "rejected"
            text = None if verdict.complete else feedback_text(verdict)
        else:
            said = "unreadable" if call.reason in (JUDGE_UNREADABLE, None) else "judge failed"
            text = call.diagnostic
        led_to = self._led_to(loop, said) if last else _AGAIN[said]
        return RoundPart(round=loop, unit=call.unit_id, verdict=said, feedback=text or UNSET, led_to=led_to)

    def _led_to(self, loop: int, said: Said) -> str:
        """What followed the last judge call of a round."""
        match said:
            case "accepted":
                return "the step completed" if self.row.status == "completed" else f"the step is {self.row.status}"
            case "rejected" if loop < self.row.loop:
                return f"round {loop + 1}"
            case "rejected":
                return f"the step stays pending, no round being left; akm-run {self.run.run_id} asks the judge again"
            case "waiting":
                return "no verdict yet"
        if self.row.status == "blocked":
            return f"the step is blocked; akm-run resume {self.run.run_id} lets the judge be asked again"
        return "the judge is to be asked again, no round being used up"


_AGAIN = {
    "accepted": "the judge was asked again",
    "rejected": "no round was left; the judge was asked again",
    "unreadable": "the step was blocked; after resume the judge was asked again",
    "judge failed": "no verdict; the judge was asked again",
    "waiting": "its driver ended; the judge was asked again",
    "schema missed": "",
}
