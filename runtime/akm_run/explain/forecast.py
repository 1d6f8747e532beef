"""What a new run would do, decided without dispatching anything (``--dry-run``).

Steps are walked in order. A step whose units would all be taken over has an artifact, and the steps behind it are decided
with it; what depends on a result that is not known yet is said to be unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from akm_run.artifacts import Fault, Promoted, Slot, reduced
from akm_run.events import UnitFinished
from akm_run.explain.past import Past
from akm_run.frame import PlannedUnit
from akm_run.gating import Accepted, Rejected, Ruling, judge_unit, ruling
from akm_run.opening import Opened, Opener, Round, RunFacts
from akm_run.policy import can_loop, exceeded
from akm_run.resolution import Producer
from akm_run.routing import NoBranch, routers_of, select
from akm_run.state import Spending
from akm_run.widths import run_width
from akm_schemas.counting import counted
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import ChildTarget, CommandTarget, ExecTarget, Plan, Step
from akm_schemas.plan_references import step_references

Verdict: TypeAlias = Literal["run", "reuse", "mixed", "decided", "skip", "fail", "unknown", "stop"]


class UnitForecast(msgspec.Struct, frozen=True, kw_only=True):
    """A unit, or a judge call: whether it would be dispatched or taken over, and why; ``stop``: the budget forbids it."""

    id: str
    verdict: Literal["run", "reuse", "stop"]
    why: str


class StepForecast(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A step. ``units`` are those that are known; ``timeout_ms`` is ``None`` for none, absent for routes."""

    id: str
    kind: str
    verdict: Verdict
    why: str | UnsetType = UNSET
    engine: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    width: int | UnsetType = UNSET
    timeout_ms: int | UnsetType | None = UNSET
    units: list[UnitForecast] = []
    child: list[StepForecast] = []


class Judged(Struct, frozen=True):
    """A judge call, and what it ruled where that is known."""

    shown: UnitForecast
    ruling: Ruling | None


class Forecaster(Struct):
    """Walks one plan. ``known`` has what steps promote, ``None`` for what is not known yet; ``past`` may be reused.

    ``spent`` counts the dispatches that are known: retries, later rounds and steps that are not known yet come on top,
    and tokens are never known.
    """

    plan: Plan
    facts: RunFacts
    past: Past | None
    known: dict[str, Producer | None] = field(default_factory=dict)
    selected: dict[int, str | None] = field(default_factory=dict)
    stopped: bool = False
    spent: Spending = field(default_factory=Spending)

    def steps(self) -> list[StepForecast]:
        """The forecast of every step, in order."""
        opener = Opener(self.facts, self.known.get)
        routers = routers_of(self.plan)
        return [self._step(step, opener, routers.get(step.id, ())) for step in self.plan.steps]

    def _step(self, step: Step, opener: Opener, routers: Sequence[int]) -> StepForecast:
        self.known[step.id] = None
        if self.stopped:
            return self._said(step, "unknown", "an earlier step stops the run")
        chosen = [self.selected.get(index) for index in routers]
        if routers and step.id not in chosen:
            if all(index in self.selected for index in routers):
                self.known[step.id] = Producer("skipped", None)
                if step.route is not UNSET:
                    self.selected[step.index] = None
                return self._said(step, "skip", "no decided route selected it")
            return self._said(step, "unknown", "a route that decides about it is not decided yet")
        read = [reference for reference in step_references(step) if reference.root == "steps"]
        if unknown := [reference.text for reference in read if self.known[reference.name] is None]:
            return self._said(step, "unknown", f"depends on {', '.join(sorted(set(unknown)))}, not known yet")
        return self._route(step, opener) if step.route is not UNSET else self._units(step, opener, Round(1, None))

    def _said(self, step: Step, verdict: Verdict, why: str, opened: Opened | None = None) -> StepForecast:
        engine, model = _engine(step)
        return StepForecast(
            id=step.id,
            kind=step.kind,
            verdict=verdict,
            why=why or UNSET,
            engine=engine,
            model=model,
            width=UNSET if opened is None or step.map is UNSET else opened.frame.width,
            timeout_ms=UNSET if step.unit is UNSET else step.unit.timeout_ms,
        )

    def _stop(self, step: Step, why: str, opened: Opened | None = None) -> StepForecast:
        self.stopped = True
        return self._said(step, "fail", why, opened)

    def _route(self, step: Step, opener: Opener) -> StepForecast:
        assert step.route is not UNSET
        value = opener.strict(step.route.input)
        chosen = value if isinstance(value, Fault) else select(step.route, value)
        if isinstance(chosen, Fault):
            return self._stop(step, chosen.summary)
        if isinstance(chosen, NoBranch):
            return self._stop(step, chosen.why)
        judged: JsonObject = {"input": value if not isinstance(value, Fault) else None, "selected": chosen}
        judge = self._judge(step, 1, Promoted(judged))
        if judge is not None and judge.shown.verdict == "stop":
            return msgspec.structs.replace(self._stop(step, judge.shown.why), units=[judge.shown])
        self.selected[step.index] = chosen
        self.known[step.id] = Producer("completed", None)
        said = self._said(step, "decided", f"selects {chosen}")
        return msgspec.structs.replace(said, units=[] if judge is None else [judge.shown])

    def _units(self, step: Step, opener: Opener, turn: Round) -> StepForecast:
        opened = opener.open(step, turn)
        if isinstance(opened, Fault):
            return self._stop(step, opened.summary)
        units = [self._unit(step, opened, planned) for planned in opened.frame.units]
        verdicts = {unit.verdict for unit in units}
        if "stop" in verdicts:
            counts = (
                f"{sum(unit.verdict != 'stop' for unit in units)} of {counted(len(units), 'unit')} can run or be reused"
            )
            told = self._stop(step, f"{exceeded(self.plan.budget, self.spent)}: {counts}", opened)
            return msgspec.structs.replace(told, units=units)
        if "run" in verdicts:
            verdict: Verdict = "run" if verdicts == {"run"} else "mixed"
            said = msgspec.structs.replace(self._said(step, verdict, "", opened), units=units)
            return msgspec.structs.replace(said, child=self._child(step, opened))
        empty = "" if units else "the list is empty: there is nothing to dispatch"
        said = msgspec.structs.replace(self._said(step, "reuse" if units else "decided", empty, opened), units=units)
        return self._promoted(step, opener, opened, said)

    def _promoted(self, step: Step, opener: Opener, opened: Opened, said: StepForecast) -> StepForecast:
        """All units are taken over: so is what they make, unless a judge has to be asked or rejects it."""
        assert self.past is not None or not opened.frame.units
        empty = opened.frame.schema is None
        values = [self._value(planned) for planned in opened.frame.units]
        reduction = reduced(step, [Slot(True, value, empty and value is None) for value in values])
        if isinstance(reduction, Fault):
            return self._stop(step, reduction.summary)
        judge = self._judge(step, opened.frame.loop, reduction)
        if judge is None or isinstance(judge.ruling, Accepted):
            self.known[step.id] = Producer("completed", reduction.value)
        if judge is None:
            return said
        said = msgspec.structs.replace(said, units=[*said.units, judge.shown])
        if judge.shown.verdict == "stop":
            self.stopped = True
            return msgspec.structs.replace(said, verdict="fail", why=judge.shown.why)
        if judge.ruling is None:
            return msgspec.structs.replace(said, verdict="mixed")
        if isinstance(judge.ruling, Accepted):
            return said
        return self._rejected(step, opener, opened, said, judge.ruling)

    def _rejected(self, step: Step, opener: Opener, opened: Opened, said: StepForecast, ruled: Ruling) -> StepForecast:
        assert step.gate is not UNSET and step.unit is not UNSET
        if isinstance(ruled, Rejected) and can_loop(step.unit.target) and opened.frame.loop < step.gate.max_loops:
            later = self._units(step, opener, Round(opened.frame.loop + 1, ruled.feedback))
            verdict: Verdict = "mixed" if later.verdict == "run" else later.verdict
            return msgspec.structs.replace(later, verdict=verdict, units=[*said.units, *later.units])
        self.stopped = True
        return msgspec.structs.replace(said, verdict="stop", why="the gate does not let it pass")

    def _unit(self, step: Step, opened: Opened, planned: PlannedUnit) -> UnitForecast:
        if self.past is None:
            return self._paid(planned, "a new run reuses nothing without --reuse")
        found = self.past.reusable.units.get((planned.key, planned.input_hash))
        if found is not None:
            return UnitForecast(id=planned.key, verdict="reuse", why=f"equal to {found} of run {self.past.run.run_id}")
        why = self.past.why_not(step, opened.frame.shared, self.facts.params, planned)
        return self._paid(planned, why)

    def _paid(self, planned: PlannedUnit, why: str) -> UnitForecast:
        """A unit that would be dispatched, if the budget allows one more."""
        if text := exceeded(self.plan.budget, self.spent):
            return UnitForecast(id=planned.key, verdict="stop", why=text)
        self.spent.units += 1
        return UnitForecast(id=planned.key, verdict="run", why=why)

    def _value(self, planned: PlannedUnit) -> Json:
        assert self.past is not None
        return self.past.value(self.past.reusable.units[planned.key, planned.input_hash])

    def _judge(self, step: Step, loop: int, promoted: Promoted) -> Judged | None:
        if step.gate is UNSET:
            return None
        planned = judge_unit(step, loop, promoted)
        if self.past is None or (planned.key, planned.input_hash) not in self.past.reusable.units:
            return Judged(self._paid(planned, "no equal judge call has completed"), None)
        answer = UnitFinished(step.index, planned.key, planned.key, self._value(planned))
        why = f"judged in run {self.past.run.run_id}"
        return Judged(UnitForecast(id=planned.key, verdict="reuse", why=why), ruling(answer))

    def _child(self, step: Step, opened: Opened) -> list[StepForecast]:
        """The forecast of a child run, whose params are known now."""
        assert step.unit is not UNSET
        target = step.unit.target
        if not isinstance(target, ChildTarget):
            return []
        plan = target.frozen_plan
        past = None if self.past is None else self.past.child(opened.frame.units[0].key)
        facts = RunFacts(opened.frame.context.task_inputs or {}, run_width(plan), self.facts.commit)
        return Forecaster(plan, facts, past).steps()


def _engine(step: Step) -> tuple[str | UnsetType, str | UnsetType]:
    """Who performs a step, and with which model."""
    if step.unit is UNSET:
        return UNSET, UNSET
    match step.unit.target:
        case CommandTarget(engine=engine, model=model):
            return engine.name, model
        case ChildTarget(ref=ref):
            return ref, UNSET
        case other:
            return ("exec" if isinstance(other, ExecTarget) else other.ref), UNSET
