"""Whether a file of runs can be trusted with being taken over: every value, what refers to what, and the tale it tells.

An exported file comes from anybody. What is imported is driven, shown, pruned and named on file systems, so a row that
no version of this program writes is refused before anything of the file is published.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from akm_run.facts import core_of
from akm_run.faults import UsageFault
from akm_run.journal import Journal
from akm_run.journal.columns import COLUMNS, misfits
from akm_run.journal.schema import tables
from akm_run.journal.soundness import fault_in
from akm_run.plans import plan_of
from akm_run.rows import RunRow
from akm_schemas.plan import Plan


def require_trustworthy(journal: Journal, source: str) -> None:
    """Raises UsageFault about ``source``, the name of the file in ``journal``, for the first thing that is wrong in it."""
    why = _first_fault(journal)
    if why is not None:
        raise UsageFault(
            f'"{source}" cannot be imported: {why}; nothing was imported',
            "name a file that akm-run export has written, unchanged",
        )


def _first_fault(journal: Journal) -> str | None:
    missing = sorted(COLUMNS.keys() - tables(journal.connection))
    if missing:
        return f'it has no table "{missing[0]}"'
    try:
        misfit = next(misfits(journal.connection), None)
        if misfit is not None:
            return str(misfit)
        if (fault := fault_in(journal.path)) is not None:
            return fault
        return next(_faults(journal), None)
    except sqlite3.Error as error:
        return _unnamed(str(error), journal.path)
    except UsageFault as fault:  # of a plan, or of events that contradict each other
        return _unnamed(str(fault), journal.path)


def _unnamed(text: str, path: Path) -> str:
    """``text`` without the place of the copy that is looked at, which tells a person nothing."""
    return text.replace(f'the state file "{path}" is damaged: ', "").replace(str(path), "the file")


def _faults(journal: Journal) -> Iterator[str]:
    for name, data in journal.connection.execute("SELECT sha256, data FROM blobs"):
        if hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest() != name:
            yield f'table "blobs", row "{name}", column "data": it is not what its SHA-256 names'
    for run in journal.runs():
        plan = plan_of(run, journal.plan_bytes(run.run_id))
        yield from _odd_run(journal, run, plan)
        yield from _odd_events(journal, run)
        yield from _odd_tale(journal, run, plan)


def _odd_run(journal: Journal, run: RunRow, plan: Plan) -> Iterator[str]:
    """Where the rows of a run are not those of its plan, or of the unit that composed it."""
    place = f'table "runs", row "{run.run_id}", column'
    for column, found, expected in (
        ("title", run.title, plan.provenance.title),
        ("ref", run.ref, plan.provenance.ref),
        ("exports", run.exports, bool(plan.outputs)),
    ):
        if found != expected:
            yield f'{place} "{column}": it is not that of the plan'
    declared = [(index, step.id, step.kind) for index, step in enumerate(plan.steps)]
    if [(step.index, step.step_id, step.kind) for step in journal.steps(run.run_id)] != declared:
        yield f'table "steps", row "{run.run_id}": the steps are not those of the plan'
    if run.parent_run is not None and journal.run(run.parent_run) is not None:
        composing = {unit.key for unit in journal.units(run.parent_run)}
        if run.parent_unit not in composing:
            yield f'{place} "parent_unit": run "{run.parent_run}" has no such unit'


def _odd_events(journal: Journal, run: RunRow) -> Iterator[str]:
    """Where the event stream has holes, or is not of these rows."""
    stream = journal.events(run.run_id)
    place = f'table "events", row "{run.run_id}"'
    if not stream or stream[0].type != "run.published":
        yield f'{place} 1, column "type": a run begins with "run.published"'
    for number, row in enumerate(stream, 1):
        if row.seq != number:
            yield f'{place} {row.seq}, column "seq": entry {number} is missing'
            return
    told = {row.unit: row.status for row in stream if row.unit is not None}
    for unit in journal.units(run.run_id):
        if told.pop(unit.unit_id, None) != unit.status:
            yield f'table "units", row "{run.run_id}" "{unit.unit_id}", column "status": its events say otherwise'
    for unit_id in told:
        yield f'{place}, column "unit_id": there is no unit "{unit_id}"'


def _odd_tale(journal: Journal, run: RunRow, plan: Plan) -> Iterator[str]:
    """Where folding the events, as a driver would, leads to other statuses than the rows have."""
    core = core_of(journal, run, plan)
    if core.status != run.status:
        yield f'table "runs", row "{run.run_id}", column "status": its events lead to {core.status}'
    for row, state in zip(journal.steps(run.run_id), core.steps, strict=True):
        if row.status != state.status:
            yield f'table "steps", row "{run.run_id}" {row.index}, column "status": its events lead to {state.status}'
