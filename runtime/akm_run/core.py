"""The interpreter's decisions as a pure state machine: no clock, no I/O, no randomness.

``apply(event)`` folds one fact or decision into the state, in amortised constant time. ``next(room)`` says what is
decided now: events to journal, to apply (all of them, before the next question) and, for ``UnitStarted``, to dispatch;
an empty answer means that only an event from outside, or nothing at all, moves the run.
``replay`` folds a journal. The rules are those of spec 3, sections 2, 3 and 5.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import UNSET

from akm_run.artifacts import Fault, Promoted, errors_text, reduced
from akm_run.clipping import clipped
from akm_run.events import (
    Cause,
    Event,
    NoticeRaised,
    OutputsUnresolved,
    Role,
    RunAbandoned,
    RunResumed,
    RunSettled,
    RunStatus,
    StepLooped,
    StepRejected,
    StepSettled,
    UnitFinished,
    UnitReused,
    UnitStarted,
)
from akm_run.exports import Unresolved, resolve_exports
from akm_run.frame import Frame, PlannedUnit, StepContext
from akm_run.gating import Accepted, Blocked, judge_unit, ruling
from akm_run.identity import attempt_id, judge_key
from akm_run.opening import Ending, Opener, Round, RunFacts
from akm_run.policy import BUDGET_EXCEEDED, Limits, budget_advice, can_loop, exceeded, units_left
from akm_run.resolution import Producer
from akm_run.routing import NoBranch, routers_of, select
from akm_run.state import Spending, StepState, UnitState, reopen
from akm_run.transitions import RUN
from akm_schemas.json_types import Json
from akm_schemas.plan import Plan, Step

Halt: TypeAlias = Literal["max_steps", "rejected", "unresolved"]


class Core:
    """One run. ``frame`` is the open round of the step at ``cursor``; ``halt`` is why an active run stops here."""

    def __init__(self, plan: Plan, facts: RunFacts, limits: Limits | None = None) -> None:
        self.plan = plan
        self.limits = limits or Limits()
        self.status: RunStatus = "active"
        self.steps = [StepState() for _ in plan.steps]
        self.units: dict[str, UnitState] = {}
        self.spent = Spending()
        self.cursor = 0
        self.frame: Frame | None = None
        self.halt: Halt | None = None
        self.stopping = False
        self._episode = 0
        self._finished_here = 0
        self.facts = facts
        self.opener = Opener(facts, self._producer)
        self._indexes = {step.id: step.index for step in plan.steps}
        self._routers = routers_of(plan)

    # ---- folding ----------------------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Fold ``event``."""
        match event:
            case UnitStarted():
                self._apply_started(event)
            case UnitFinished():
                self._apply_finished(event)
            case UnitReused():
                self._apply_reused(event)
            case StepSettled():
                self._apply_settled(event)
            case StepLooped():
                state = self.steps[event.step]
                state.move("step.looped")
                state.loop, state.feedback, self.frame = event.loop, event.feedback, None
            case StepRejected():
                self.steps[event.step].move("step.rejected")
                self.halt = "rejected"
            case OutputsUnresolved():
                self.steps[event.step].move("outputs.unresolved")
                self.halt = "unresolved"
            case RunSettled():
                self.status = RUN.move(self.status, "run.settled", event.status)
            case RunResumed():
                self.status, self.frame = RUN.move(self.status, "run.resumed", "active"), None
                self._episode += 1
                reopen(self.steps, event)
            case RunAbandoned():
                self.status, self.frame = RUN.move(self.status, "run.abandoned", "failed"), None
            case NoticeRaised():
                return

    def take_over(self) -> None:
        """A driver begins: what was running under the one before is lost, and the run may go on."""
        self.halt, self.frame, self._finished_here = None, None, 0
        for state in self.units.values():
            state.lose()

    def forget(self) -> None:
        """Nothing is decided any more: give all results back. The core is part of a cycle, and would keep them."""
        self.frame = None
        self.units.clear()
        for state in self.steps:
            state.artifact = None

    def warm(self, key: str) -> None:
        """The wait before the retry of unit ``key`` is over."""
        if self.frame is not None:
            self.frame.warm(key)

    def _apply_started(self, event: UnitStarted) -> None:
        state = self.units.setdefault(event.key, UnitState(event.key, event.role))
        state.started(event, self._episode)
        self.spent.units += 1
        if self.frame is not None:
            if event.role == "judge":
                self.frame.judging = True
            else:
                self.frame.take(event.key)

    def _apply_finished(self, event: UnitFinished) -> None:
        state = self.units[event.key]
        was_lost = state.status == "lost"
        state.finished(event)
        self.spent.tokens += event.tokens or 0
        if self.frame is None or was_lost:
            return
        if state.role == "judge":
            self.frame.judging, self.frame.judge = False, event
        else:
            self.frame.settle(state, self.limits)

    def _apply_reused(self, event: UnitReused) -> None:
        state = self.units.setdefault(event.key, UnitState(event.key, event.role))
        state.reused(event, self._episode)
        if self.frame is not None and event.role == "judge":
            self.frame.judge = UnitFinished(event.step, event.key, event.key, event.value)

    def _apply_settled(self, event: StepSettled) -> None:
        state = self.steps[event.step]
        state.move("step.settled", event.status)
        state.artifact, state.selected = event.artifact, event.selected
        self.frame = None
        if event.status in ("completed", "skipped"):
            self.cursor = event.step + 1
            self._finished_here += event.status == "completed"

    # ---- deciding ---------------------------------------------------------------------------------------------

    def next(self, room: int) -> list[Event]:
        """What is decided now, given that ``room`` more units may run on this host."""
        if self.stopping or self.halt is not None or self.status != "active":
            return []
        step = self.plan.steps[self.cursor]
        if self.frame is None:
            if self._is_skipped(step):
                return self._complete(StepSettled(step.index, "skipped"))
            if self.limits.max_steps is not None and self._finished_here >= self.limits.max_steps:
                self.halt = "max_steps"
                return []
            return self._open(step, room)
        return self._advance(self.frame, room)

    def _producer(self, step_id: str) -> Producer | None:
        state = self.steps[self._indexes[step_id]]
        match state.status:
            case "completed" | "skipped":
                return Producer(state.status, state.artifact)
            case _:
                return None

    def _is_skipped(self, step: Step) -> bool:
        routers = self._routers.get(step.id)
        return routers is not None and all(self.steps[index].selected != step.id for index in routers)

    def _open(self, step: Step, room: int) -> list[Event]:
        state = self.steps[step.index]
        if step.route is not UNSET:
            return self._open_route(step, room)
        opened = self.opener.open(step, Round(state.loop, state.feedback))
        if isinstance(opened, Fault):
            return self._fail(StepSettled(step.index, "failed", reason=opened.reason, summary=opened.summary))
        if reused := self._reused(opened.frame, opened.frame.units, "unit"):
            return reused  # the step is opened again once they are folded
        opened.frame.admit(self.units, self._episode, self.limits)
        self.frame = opened.frame
        notices = [NoticeRaised(step.index, text) for text in opened.notices]
        return [*notices, *self._advance(opened.frame, room)]

    def _open_route(self, step: Step, room: int) -> list[Event]:
        assert step.route is not UNSET
        value = self.opener.strict(step.route.input)
        selected = value if isinstance(value, Fault) else select(step.route, value)
        if isinstance(selected, Fault):
            return self._fail(StepSettled(step.index, "failed", reason=selected.reason, summary=selected.summary))
        if isinstance(selected, NoBranch):
            return self._fail(StepSettled(step.index, "failed", reason=selected.reason, summary=selected.why))
        judged: Json = {"input": value if not isinstance(value, Fault) else None, "selected": selected}
        self.frame = Frame(step, self.steps[step.index].loop, StepContext(), selected=selected)
        self.frame.reduction = Promoted(judged)
        return self._advance(self.frame, room)

    def _advance(self, frame: Frame, room: int) -> list[Event]:
        if frame.reduction is None:
            if frame.stopping:
                return [] if frame.running else self._fail_by_units(frame)
            if frame.ready:
                return self._start(frame, room)
            if frame.open:
                return []
            frame.reduction = reduced(frame.step, frame.slots(self.units))
        if isinstance(frame.reduction, Fault):
            return self._fail_reduction(frame, frame.reduction)
        if frame.step.gate is not UNSET:
            return self._judge(frame, frame.reduction, room)
        return self._promote(frame, frame.reduction)

    # ---- units ------------------------------------------------------------------------------------------------

    def _start(self, frame: Frame, room: int) -> list[Event]:
        if text := exceeded(self.plan.budget, self.spent):
            return [] if frame.running else self._fail_by_budget(frame, text)
        room = min(room, units_left(self.plan.budget, self.spent))
        starts = [self._started(frame, planned, cause) for planned, cause in frame.startable(room)]
        return [event for start in starts for event in start]

    def _started(self, frame: Frame, planned: PlannedUnit, cause: Cause, role: Role = "unit") -> list[Event]:
        """The start of an attempt; one that was lost and reads something else now is closed first."""
        state = self.units.get(planned.key)
        lost = state is not None and state.status == "lost"
        respawn = state is not None and lost and state.input_hash == planned.input_hash
        attempt = 1 if state is None else state.attempt + (not respawn)
        closed: list[Event] = [] if state is None or not lost or respawn else [_closed(frame.step, state)]
        started = UnitStarted(
            step=frame.step.index,
            key=planned.key,
            unit_id=attempt_id(planned.key, attempt),
            attempt=attempt,
            loop=frame.loop,
            role=role,
            cause=cause,
            input_hash=planned.input_hash,
            respawn=respawn,
            index=planned.index,
            of=len(frame.units),
        )
        return [*closed, started]

    def _reused(self, frame: Frame, units: list[PlannedUnit], role: Role) -> list[Event]:
        """The units that another run has finished with the same input hash, none of which was ever started here."""
        source = self.facts.reusable
        if source is None:
            return []
        return [
            UnitReused(
                frame.step.index, unit.key, role, frame.loop, unit.input_hash, source.run_id, found, unit.index,
                len(frame.units),
            )
            for unit in units
            if unit.key not in self.units and (found := source.units.get((unit.key, unit.input_hash))) is not None
        ]  # fmt: skip

    def _judge(self, frame: Frame, promoted: Promoted, room: int) -> list[Event]:
        if frame.judge is None:
            if frame.judging:
                return []
            planned = judge_unit(frame.step, frame.loop, promoted)
            if reused := self._reused(frame, [planned], "judge"):
                return reused
            if room < 1:
                return []
            if text := exceeded(self.plan.budget, self.spent):
                return self._fail_by_budget(frame, text)
            return self._started(frame, planned, "again" if planned.key in self.units else "first", "judge")
        match ruling(frame.judge):
            case Accepted():
                return self._promote(frame, promoted)
            case Blocked(reason, summary):
                return self._fail(self._settled(frame, "blocked", reason, summary), "blocked")
            case rejected:
                if self._loops_left(frame):
                    return self._loop(frame, rejected.feedback)
                summary = clipped(f"rejected by the judge: {rejected.feedback}")
                return [StepRejected(frame.step.index, summary, len(frame.units), frame.failed)]

    def _loop(self, frame: Frame, feedback: str) -> list[Event]:
        return [*self._closed(frame), StepLooped(frame.step.index, frame.loop + 1, feedback)]

    def _closed(self, frame: Frame) -> list[Event]:
        """The end of the round's attempts that were lost: nobody will start them again."""
        keys = [*(planned.key for planned in frame.units), judge_key(frame.step.id, frame.loop)]
        states = [state for key in keys if (state := self.units.get(key)) is not None]
        return [_closed(frame.step, state) for state in states if state.status == "lost"]

    def _loops_left(self, frame: Frame) -> bool:
        gate = frame.step.gate
        loopable = frame.step.unit is not UNSET and can_loop(frame.step.unit.target)
        return gate is not UNSET and loopable and frame.loop < gate.max_loops

    # ---- settling ---------------------------------------------------------------------------------------------

    def _promote(self, frame: Frame, promoted: Promoted) -> list[Event]:
        step = frame.step
        artifact = None if step.route is not UNSET else promoted.value
        summary = self._counts(frame) if frame.failed else None
        return self._complete(
            StepSettled(
                step.index, "completed", artifact, frame.selected, None, summary, len(frame.units), frame.failed
            )
        )

    def _complete(self, settled: StepSettled) -> list[Event]:
        if settled.step < len(self.steps) - 1:
            return [settled]
        if not self.plan.outputs:
            return [settled, RunSettled("completed")]
        status: Literal["completed", "skipped"] = "skipped" if settled.status == "skipped" else "completed"
        ending = Ending(self.plan.steps[settled.step].id, Producer(status, settled.artifact))
        exports = resolve_exports(self.plan.outputs, lambda reference: self.opener.strict(reference, ending))
        if isinstance(exports, Unresolved):
            summary = "\n".join(["the outputs could not be resolved:", *exports.lines])
            return [OutputsUnresolved(settled.step, exports.reason, summary, settled.unit_count, settled.failed_units)]
        return [settled, RunSettled("completed", exports)]

    def _settled(self, frame: Frame, status: Literal["failed", "blocked"], reason: str, summary: str) -> StepSettled:
        _, failed = frame.tally(self.units)
        return StepSettled(frame.step.index, status, None, None, reason, clipped(summary), len(frame.units), failed)

    def _fail(self, settled: StepSettled, status: RunStatus = "failed") -> list[Event]:
        closed = [] if self.frame is None else self._closed(self.frame)
        return [*closed, settled, RunSettled(status)]

    def _fail_by_units(self, frame: Frame) -> list[Event]:
        first = frame.first_failed(self.units)
        errors = first.errors or ((first.diagnostic or "",) if first.reason == "validation_error" else ())
        unit_owns_schema = frame.step.output is UNSET or frame.unit.output is not UNSET
        if errors and first.reason == "validation_error" and not unit_owns_schema and self._loops_left(frame):
            return self._loop(frame, errors_text(errors))
        status: Literal["failed", "blocked"] = "blocked" if frame.blocked else "failed"
        settled = self._settled(frame, status, first.reason or "", first.diagnostic or first.reason or "")
        return self._fail(settled, status)

    def _fail_by_budget(self, frame: Frame, text: str) -> list[Event]:
        told = f"{text}: {self._counts(frame)}\n{budget_advice(self.plan.budget, self.spent)}"
        return self._fail(self._settled(frame, "failed", BUDGET_EXCEEDED, told))

    def _fail_reduction(self, frame: Frame, fault: Fault) -> list[Event]:
        if fault.reason == "validation_error" and self._loops_left(frame):
            return self._loop(frame, fault.summary)
        return self._fail(self._settled(frame, "failed", fault.reason, fault.summary))

    def _counts(self, frame: Frame) -> str:
        done, failed = frame.tally(self.units)
        return f"{done} ok, {failed} failed, {len(frame.units) - done - failed} never run"


def _closed(step: Step, state: UnitState) -> UnitFinished:
    why = "its driver ended before the result was recorded"
    return UnitFinished(step.index, state.key, state.unit_id, None, "aborted", why)


def replay(plan: Plan, facts: RunFacts, journal: Iterable[Event], limits: Limits | None = None) -> Core:
    """The core after all events of ``journal``, ready for a driver."""
    core = Core(plan, facts, limits)
    for event in journal:
        core.apply(event)
    core.take_over()
    return core
