"""Runs that units compose: published or found again, opened, and what their end means for the unit (spec 3, section 4).

A child is named by its parent run, the composing unit's id without ``~r<n>``, and that unit's input hash: whatever
happens to the parent, the same unit with the same inputs goes on with the same child.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from akm_run import lease
from akm_run.artifacts import schema_errors
from akm_run.clock import monotonic
from akm_run.dispatch.contract import UnitResult
from akm_run.dispatch.outcome import failed
from akm_run.events import UnitStarted
from akm_run.facts import core_of, surroundings_of
from akm_run.faults import BusyFault, UsageFault
from akm_run.journal import Journal
from akm_run.plans import decode
from akm_run.policy import CHILD_BLOCKED, CHILD_FAILED, Limits
from akm_run.publishing import Composing, Origin, publish
from akm_run.recovery import exports, going_on, stopped_child
from akm_run.rows import RunRow
from akm_run.sweeping import sweep
from akm_run.underway import UnderWay
from akm_schemas.canonical import canonical_bytes
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import ChildTarget, Plan

CHILD_INVALID = "child_invalid"
CHILD_BUSY = "child_busy"


class Children(Struct, frozen=True):
    """Opens and closes child runs; ``limits`` are the invocation's, ``bundle_of`` says where a plan's env files are."""

    journal: Journal
    limits: Limits
    bundle_of: Callable[[Plan], Path]

    def open(self, run: UnderWay, started: UnitStarted, target: ChildTarget) -> UnderWay | UnitResult:
        """The child run of a unit, under its lease and ready to be driven, or what came of the unit without driving."""
        frame = run.core.frame
        assert frame is not None
        try:
            row = self._row(run, started, target, frame.context.task_inputs or {})
            plan = decode(self.journal.plan_bytes(row.run_id), f"run {row.run_id}")
        except sqlite3.Error as error:
            return failed(CHILD_INVALID, f"{target.ref} cannot be published: {error}")
        except UsageFault as fault:
            return failed(CHILD_INVALID, str(fault))
        if row.status != "active":
            return self._result(row, frame.schema)
        try:
            held = lease.acquire(self.journal.path, row.run_id)
        except (BusyFault, UsageFault) as fault:
            return failed(CHILD_BUSY if isinstance(fault, BusyFault) else CHILD_INVALID, str(fault))
        try:
            child = self._under_way(run, started, row, plan)
        except UsageFault as fault:  # its rows are damaged: that is the composing step's failure
            held.release()
            return failed(CHILD_INVALID, str(fault))
        child.lease = held
        sweep(self.journal, row.run_id, plan, run.around.workspace)
        if child.core.status != "active":  # another driver finished it while we took the lease
            child.close()
            return self._result(self._again(row.run_id), frame.schema)
        return child

    def close(self, child: UnderWay) -> UnitResult:
        """What came of the composing unit, now that its child moves no more."""
        assert child.composer is not None and child.composer.core.frame is not None
        ending = child.ended()
        child.close()
        row = self._again(child.run_id)
        if row.status == "active" and ending == "timeout":
            return self._stopped(row, "timeout", "ran longer than the composing step allows")
        if row.status == "active" and ending == "interrupted":
            return failed("aborted", f"run {row.run_id} of {row.ref} was ended because the run was interrupted")
        return self._result(row, child.composer.core.frame.schema, unresolved=child.core.halt == "unresolved")

    def _row(self, run: UnderWay, started: UnitStarted, target: ChildTarget, params: JsonObject) -> RunRow:
        """The child's row, published now unless a driver before this one did it."""
        found = self.journal.child(run.run_id, started.key, started.input_hash)
        if found is not None:
            return found
        plan = target.frozen_plan
        data = canonical_bytes(msgspec.to_builtins(plan)) + b"\n"
        composing = Composing(run.run_id, started.key, started.input_hash, run.around.commit)
        origin = Origin(composing, self._reuses(run, started))
        return self._again(publish(self.journal, plan, data, params, run.around.workspace, origin))

    def _reuses(self, run: UnderWay, started: UnitStarted) -> str | None:
        """The child of the same unit in the run that ``run`` takes units over from: an edit in one step of a child
        makes only that step of it dispatch again."""
        source = self._again(run.run_id).reuses
        found = None if source is None else self.journal.child_of_unit(source, started.key)
        return None if found is None else found.run_id

    def _again(self, run_id: str) -> RunRow:
        row = self.journal.run(run_id)
        assert row is not None, "runs that are being driven are not deleted"
        return row

    def _under_way(self, run: UnderWay, started: UnitStarted, row: RunRow, plan: Plan) -> UnderWay:
        limits = Limits(self.limits.max_retries)  # --max-steps counts the steps of the run that was named
        core = core_of(self.journal, row, plan, limits)
        around = surroundings_of(self.journal, row, core, run.around.workspace, self.bundle_of(plan))
        frame = run.core.frame
        assert frame is not None
        timeout_ms = frame.unit.timeout_ms
        deadline = None if timeout_ms is None else monotonic() + timeout_ms / 1000
        return UnderWay(core, around, deadline, composer=run, composing=started)

    def _result(self, row: RunRow, schema: JsonObject | None, *, unresolved: bool = False) -> UnitResult:
        if row.status == "completed":
            return _exported(row, exports(self.journal, row), schema)
        if row.status == "failed" or unresolved:
            why = "its outputs could not be resolved" if unresolved else "it failed"
            return self._stopped(row, CHILD_FAILED, why)
        why = "a gate rejected its work" if row.status == "active" else "it is blocked"
        return self._stopped(row, CHILD_BLOCKED, why)

    def _stopped(self, row: RunRow, reason: str, why: str) -> UnitResult:
        """A unit whose child waits for a person."""
        note = f"run {row.run_id} of {row.ref}: {why}; {going_on(self.journal, row)}"
        return failed(reason, stopped_child(self.journal, row, why), notices=(note,))


def _exported(row: RunRow, value: Json, schema: JsonObject | None) -> UnitResult:
    errors = () if schema is None else schema_errors(schema, value)
    if not errors:
        return UnitResult(value)
    message = f"the exports of run {row.run_id} do not satisfy the step's schema"
    return failed("validation_error", "\n".join((message, *errors)), errors=errors)
