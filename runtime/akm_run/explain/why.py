"""Why a unit was, or would be, dispatched or reused: its input hash part by part, against another run's."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from akm_run.artifacts import Fault, Promoted
from akm_run.core import Core
from akm_run.explain.rounds import RoundPart, Rounds
from akm_run.facts import core_of
from akm_run.faults import UsageFault
from akm_run.gating import judge_unit
from akm_run.journal import Journal
from akm_run.opening import Round
from akm_run.parts import Part, first_difference, judge_parts, target_differences, unit_parts
from akm_run.plans import decode
from akm_run.rows import RunRow, UnitRow
from akm_schemas.hashing import json_hash
from akm_schemas.plan import Plan, Step
from akm_schemas.spelling import nearest

_KEY = re.compile(r"(?P<key>(?P<step>[^:]+):(?P<name>[^~]+)(?:~l(?P<loop>[0-9]{1,4}))?)(?P<attempt>~r[0-9]+)?")


class PartRow(msgspec.Struct, frozen=True, kw_only=True):
    """A part; ``other`` is the digest in the run that is compared with, ``None`` where it has no such part."""

    name: str
    sha256: str | None
    other: str | UnsetType | None = UNSET


class Why(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The document of ``why``. ``differs`` names the first part that differs from the run ``compared_with``.

    ``rounds`` are those of the unit's step, where it has a gate.
    """

    run_id: str
    unit: str
    verdict: str
    input_hash: str | UnsetType = UNSET
    compared_with: str | UnsetType = UNSET
    differs: str | UnsetType = UNSET
    parts: list[PartRow]
    rounds: list[RoundPart] | UnsetType = UNSET


class Known(Struct, frozen=True):
    """What the journal and the plan say of a unit; ``why_not`` instead of parts that cannot be known."""

    step: Step
    parts: tuple[Part, ...] = ()
    input_hash: str | None = None
    why_not: str | None = None
    rounds: tuple[RoundPart, ...] = ()


def explain(journal: Journal, run: RunRow, unit_id: str, against: RunRow | None) -> Why:
    """The document about a unit. ``against`` is the run to compare with, else the one that ``run`` reuses.

    Raises UsageFault: no such unit, or a plan that cannot be decoded.
    """
    match = _KEY.fullmatch(unit_id)
    plan = decode(journal.plan_bytes(run.run_id), f"run {run.run_id}")
    rows = [row for row in journal.units(run.run_id) if match and row.key == match["key"]]
    step = None if match is None else _step(plan, match["step"])
    if match is None or step is None:
        raise UsageFault(*_no_unit(journal, run, unit_id, plan))
    mine = _known(journal, run, plan, step, match)
    if match["attempt"] is not None and unit_id not in {row.unit_id for row in rows}:
        raise UsageFault(*_no_unit(journal, run, unit_id, plan))
    if mine.why_not is None and mine.input_hash is None and not rows:
        raise UsageFault(*_no_unit(journal, run, unit_id, plan))
    other = against or (None if run.reuses is None else journal.run(run.reuses))
    theirs = None if other is None else _known_there(journal, other, match)
    return _document(journal, run, rows, mine, other, theirs, match["key"])


def _step(plan: Plan, name: str) -> Step | None:
    return next((step for step in plan.steps if step.id == name), None)


def _known_there(journal: Journal, other: RunRow, match: re.Match[str]) -> Known | None:
    plan = decode(journal.plan_bytes(other.run_id), f"run {other.run_id}")
    step = _step(plan, match["step"])
    return None if step is None else _known(journal, other, plan, step, match)


def _known(journal: Journal, run: RunRow, plan: Plan, step: Step, match: re.Match[str]) -> Known:
    core = core_of(journal, run, plan)
    loop = int(match["loop"] or 1)
    rounds = Rounds(journal, run, step, journal.steps(run.run_id)[step.index], journal.units(run.run_id))
    return replace(_opened(core, rounds, match, loop), rounds=tuple(rounds.parts()))


def _opened(core: Core, rounds: Rounds, match: re.Match[str], loop: int) -> Known:
    """The parts of a unit's or a judge call's hash in round ``loop``."""
    step, state = rounds.step, core.steps[rounds.step.index]
    if core.cursor < step.index and state.status == "pending":
        return Known(step, why_not=f'step "{step.id}" has not been reached, so what it reads is not known yet')
    if match["name"] == "gate":
        return _judge_known(core, rounds, loop)
    if step.unit is UNSET:
        return Known(step)
    if loop > state.loop:
        return Known(step)
    feedback = rounds.feedback(loop)
    if loop > 1 and feedback is None:
        return Known(step, why_not=f"the feedback of round {loop} is not kept")
    opened = core.opener.open(step, Round(loop, feedback))
    if isinstance(opened, Fault):
        return Known(step, why_not=opened.summary)
    unit = next((unit for unit in opened.frame.units if unit.key == match["key"]), None)
    if unit is None:
        return Known(step)
    return Known(step, tuple(unit_parts(opened.frame.shared, core.facts.params, unit)), unit.input_hash)


def _judge_known(core: Core, rounds: Rounds, loop: int) -> Known:
    step, state = rounds.step, core.steps[rounds.step.index]
    if step.gate is UNSET or loop > state.loop:
        return Known(step)
    artifact = state.artifact
    if loop < state.loop or (step.route is UNSET and state.status != "completed" and rounds.calls(loop)):
        found = rounds.artifact(core.opener, loop)
        if isinstance(found, Fault):
            return Known(step, why_not=found.summary)
        artifact = found
    elif step.route is not UNSET or state.status != "completed":
        core.next(0)  # opens the step and reduces what is journaled; without room nothing can start
        if core.frame is None or core.frame.step is not step or not isinstance(core.frame.reduction, Promoted):
            return Known(step, why_not="the step has promoted nothing to judge")
        artifact = core.frame.reduction.value
    key = json_hash(artifact)
    return Known(step, tuple(judge_parts(step.gate, key)), judge_unit(step, loop, Promoted(artifact)).input_hash)


def _document(
    journal: Journal,
    run: RunRow,
    rows: Sequence[UnitRow],
    mine: Known,
    other: RunRow | None,
    theirs: Known | None,
    key: str,
) -> Why:
    differs = None
    if mine.parts and theirs is not None and theirs.parts:
        differs = first_difference(mine.parts, theirs.parts)
    input_hash = rows[-1].input_hash if rows else mine.input_hash
    return Why(
        run_id=run.run_id,
        unit=rows[-1].unit_id if rows else key,
        verdict=f"{_happened(journal, run, rows, mine, key)}{_compared(other, mine, theirs, differs)}",
        input_hash=input_hash or UNSET,
        compared_with=UNSET if other is None else other.run_id,
        differs=differs or UNSET,
        parts=_part_rows(mine.parts, theirs),
        rounds=list(mine.rounds) or UNSET,
    )


def _happened(journal: Journal, run: RunRow, rows: Sequence[UnitRow], mine: Known, key: str) -> str:
    if rows:
        last = rows[-1]
        if last.reused_run is not None:
            return f"reused from run {last.reused_run}: {last.reused_unit} completed there with the same input hash"
        causes = {"first": "nothing had been dispatched for it", "again": "the attempt before was aborted or resumed"}
        causes |= {"retry": "the attempt before failed", "correction": "the answer before was not accepted"}
        changed = len(rows) > 1 and rows[-2].input_hash != last.input_hash
        why = "its input hash differs from the attempt before" if changed else causes[last.cause]
        return f"dispatched as attempt {last.attempt}, now {last.status}: {why}"
    if mine.why_not is not None:
        return f"cannot be said yet: {mine.why_not}"
    reusable = {} if run.reuses is None else journal.completed_units(run.reuses)
    if (key, mine.input_hash) in reusable:
        return f"would be reused from run {run.reuses}"
    return "would be dispatched: nothing has been dispatched for it"


def _compared(other: RunRow | None, mine: Known, theirs: Known | None, differs: str | None) -> str:
    """What the comparison adds, beginning with its separator."""
    if other is None or not mine.parts:
        return ""
    if theirs is None or (not theirs.parts and theirs.why_not is None):
        return f"; run {other.run_id} has no such unit"
    if theirs.why_not is not None:
        return f"; in run {other.run_id}: {theirs.why_not}"
    if differs is None:
        return f"; every part is equal in run {other.run_id}"
    inside = f" ({', '.join(target_differences(mine.step, theirs.step))})" if differs == "target" else ""
    return f"; the first part that differs from run {other.run_id} is {differs}{inside}"


def _part_rows(mine: Sequence[Part], theirs: Known | None) -> list[PartRow]:
    if theirs is None or not theirs.parts:
        return [PartRow(name=part.name, sha256=part.sha256) for part in mine]
    here, there = ({part.name: part.sha256 for part in parts} for parts in (mine, theirs.parts))
    names = [*here, *(name for name in there if name not in here)]
    return [PartRow(name=name, sha256=here.get(name), other=there.get(name)) for name in names]


def _no_unit(journal: Journal, run: RunRow, unit_id: str, plan: Plan) -> tuple[str, str]:
    solo = {f"{step.id}:solo" for step in plan.steps if step.unit is not UNSET and step.map is UNSET}
    known = {row.unit_id for row in journal.units(run.run_id)} | solo
    close = nearest(unit_id, known)
    help = f'did you mean "{close}"?' if close else f"akm-run status {run.run_id} --units shows them"
    return f'run {run.run_id} has no unit "{unit_id}"', help
