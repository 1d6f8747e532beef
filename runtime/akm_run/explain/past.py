"""An old run as a source of finished units, for decisions that are only shown (``--dry-run``)."""

from __future__ import annotations

from msgspec import UNSET, Struct

from akm_run.artifacts import Fault
from akm_run.core import Core
from akm_run.facts import core_of
from akm_run.faults import UsageFault
from akm_run.frame import PlannedUnit
from akm_run.identity import StepInputs
from akm_run.journal import Journal
from akm_run.opening import Reusable, Round
from akm_run.parts import first_difference, target_differences, unit_parts
from akm_run.plans import decode
from akm_run.rows import RunRow
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import Step


class Past(Struct, frozen=True):
    """``reusable`` are its completed units; ``core`` is its state, ``None`` where its plan cannot be decoded."""

    journal: Journal
    run: RunRow
    reusable: Reusable
    core: Core | None

    @classmethod
    def of(cls, journal: Journal, run: RunRow) -> Past:
        """The past that ``run`` is."""
        reusable = Reusable(run.run_id, journal.completed_units(run.run_id))
        try:
            plan = decode(journal.plan_bytes(run.run_id), run.run_id)
        except UsageFault:
            return cls(journal, run, reusable, None)  # of another version: what it finished can be reused all the same
        return cls(journal, run, reusable, core_of(journal, run, plan))

    def value(self, unit_id: str) -> Json:
        """What a completed unit gave."""
        return self.journal.unit_value(self.run.run_id, unit_id)

    def child(self, unit_key: str) -> Past | None:
        """The run that the unit composed there."""
        found = self.journal.child_of_unit(self.run.run_id, unit_key)
        return None if found is None else Past.of(self.journal, found)

    def why_not(self, step: Step, shared: StepInputs | None, params: JsonObject, unit: PlannedUnit) -> str:
        """Why a unit cannot be taken over from here."""
        there = None if self.core is None else next((s for s in self.core.plan.steps if s.id == step.id), None)
        if self.core is None or there is None or there.unit is UNSET:
            return f"run {self.run.run_id} has no such step"
        if self.core.steps[there.index].status == "pending" and self.core.cursor < there.index:
            return f"run {self.run.run_id} did not get that far"
        opened = self.core.opener.open(there, Round(1, None))
        if isinstance(opened, Fault):
            return f"it was not dispatched in run {self.run.run_id}: {opened.summary}"
        theirs = next((other for other in opened.frame.units if other.key == unit.key), None)
        if theirs is None:
            return f"run {self.run.run_id} has no such unit"
        mine = unit_parts(shared, params, unit)
        differs = first_difference(mine, unit_parts(opened.frame.shared, self.core.facts.params, theirs))
        if differs is None:
            return f"it did not complete in run {self.run.run_id}"
        inside = f" ({', '.join(target_differences(step, there))})" if differs == "target" else ""
        return f"{differs}{inside} differs from run {self.run.run_id}"
