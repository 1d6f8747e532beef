"""The event stream and the rows beside it, as the events that the core folds.

Rows hold a step's or unit's last state, so an early entry may carry late content; folding is last-wins, and what was
superseded decides nothing any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from akm_run.events import (
    Cause,
    Event,
    Role,
    RunAbandoned,
    RunResumed,
    RunSettled,
    StepLooped,
    StepRejected,
    StepSettled,
    StepStatus,
    UnitFinished,
    UnitReused,
    UnitStarted,
)
from akm_run.rows import EventRow, StepRow, UnitRow, run_status


def entries(stream: Iterable[EventRow], steps: Mapping[str, StepRow], units: Mapping[str, UnitRow]) -> Iterator[Event]:
    """One core event per entry of ``stream``; steps by id, units by unit id."""
    seen: set[str] = set()
    for row in stream:
        step = steps[row.step] if row.step is not None else None
        match row.type:
            case "unit.started":
                unit = units[row.unit or ""]
                yield _started(unit, respawn=unit.unit_id in seen)
                seen.add(unit.unit_id)
            case "unit.reused":
                yield _reused(units[row.unit or ""])
            case "unit.finished":
                yield _finished(units[row.unit or ""])
            case "step.settled" if step is not None:
                status = cast(StepStatus, row.status)
                yield StepSettled(step.index, status, step.artifact, step.selected)
            case "step.looped" if step is not None:
                yield StepLooped(step.index, step.loop, step.feedback or "")
            case "step.rejected" if step is not None:
                yield StepRejected(step.index, step.summary or "")
            case "run.settled":
                yield RunSettled(run_status(row.status or ""))
            case "run.resumed":
                yield RunResumed()
            case "run.abandoned":
                yield RunAbandoned()


def _started(unit: UnitRow, *, respawn: bool) -> UnitStarted:
    return UnitStarted(
        step=unit.step,
        key=unit.key,
        unit_id=unit.unit_id,
        attempt=unit.attempt,
        loop=unit.loop,
        role=cast(Role, unit.role),
        cause=cast(Cause, unit.cause),
        input_hash=unit.input_hash,
        respawn=respawn,
        index=unit.item_index,
    )


def _reused(unit: UnitRow) -> UnitReused:
    return UnitReused(
        step=unit.step,
        key=unit.key,
        role=cast(Role, unit.role),
        loop=unit.loop,
        input_hash=unit.input_hash,
        from_run=unit.reused_run or "",
        from_unit=unit.reused_unit or "",
        index=unit.item_index,
        value=unit.value,
    )


def _finished(unit: UnitRow) -> UnitFinished:
    return UnitFinished(
        unit.step, unit.key, unit.unit_id, unit.value, unit.reason, unit.diagnostic, unit.errors, unit.tokens
    )
