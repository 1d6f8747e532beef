"""The JSON document of a run, from the journal alone, so that ``status`` works on plans this version cannot decode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from akm_run.console import escaped_json
from akm_run.cuts import PIECE_BYTES
from akm_run.events import RunStatus, StepStatus
from akm_run.journal import Journal
from akm_run.journal.excerpts import steps_with_heads
from akm_run.journal.stored import Stored, stored_artifacts, stored_outputs
from akm_run.plans import fault_of
from akm_run.recovery import command_for, commands_down, spent
from akm_run.rows import Notice, RunRow, StepRow, UnitRow
from akm_run.show.indented import formatted, indented
from akm_schemas.json_types import Json

_NEWLINE: Final = b"\n"


class StepPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A step; fields that are ``UNSET`` are left out. ``output`` is there for completed steps that promoted something,
    ``units_completed`` for pending ones whose units have begun: of ``unit_count``, in this round."""

    id: str
    status: StepStatus
    kind: str
    output: Stored | UnsetType = UNSET
    unit_count: int
    failed_units: int
    units_completed: int | UnsetType = UNSET
    failure_reason: str | UnsetType = UNSET
    summary: str | UnsetType = UNSET
    selected: str | UnsetType = UNSET
    loop: int | UnsetType = UNSET


class UnitPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An attempt; ``dispatches`` only when it was repeated after a crash.

    ``reused_from`` is the run that its result was taken over from.
    """

    id: str
    step: str
    attempt: int
    status: str
    role: str
    failure_reason: str | UnsetType = UNSET
    diagnostic: str | UnsetType = UNSET
    dispatches: int | UnsetType = UNSET
    reused_from: str | UnsetType = UNSET
    tokens: int | UnsetType = UNSET
    started_at: str
    finished_at: str | UnsetType = UNSET


class NoticePart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A notice; ``unit`` is a unit id."""

    step: str
    unit: str | UnsetType = UNSET
    text: str


class ChildPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A child run with the commands that bring it on, and its own children."""

    run_id: str
    ref: str
    status: RunStatus
    commands: list[str]
    children: list[ChildPart]


class RunDocument(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A run. ``outputs`` is ``None`` until a run that declares exports completes.

    ``commands`` bring it on, those for the children that hold it up first, deepest first."""

    run_id: str
    status: RunStatus
    title: str
    ref: str
    outputs: Stored | dict[str, str] | None
    steps: list[StepPart]
    units_dispatched: int
    tokens_used: int
    notices: list[NoticePart]
    units: list[UnitPart] | UnsetType = UNSET
    children: list[ChildPart] | UnsetType = UNSET
    commands: list[str]
    parent_run: str | UnsetType = UNSET
    created_at: str
    updated_at: str


class Wanted(Struct, frozen=True):
    """Which optional parts a document has."""

    units: bool = False


def run_document(journal: Journal, run: RunRow, wanted: Wanted | None = None) -> RunDocument:
    """The document of ``run``, to be shown within the same ``one_moment``; its results stay in the journal until then.

    Raises DamagedFault for results that cannot be read, so that no document ends in the middle."""
    rows = [row for row, _ in steps_with_heads(journal, run.run_id, 0)]
    artifacts = {index: _sound(stored) for index, stored in stored_artifacts(journal, run.run_id)}
    dispatched, tokens = journal.spent(run.run_id)
    children = children_of(journal, run.run_id)
    units: list[UnitPart] | UnsetType = UNSET
    if wanted is not None and wanted.units:
        units = [unit_part(row, rows[row.step].step_id) for row in journal.units(run.run_id)]
    return RunDocument(
        run_id=run.run_id,
        status=run.status,
        title=run.title,
        ref=run.ref,
        outputs=exported(journal, run),
        steps=[step_part(row, artifacts.get(row.index), _completed(journal, run.run_id, row)) for row in rows],
        units_dispatched=dispatched,
        tokens_used=tokens,
        notices=[
            NoticePart(step=notice.step, unit=notice.unit or UNSET, text=notice.text)
            for notice in standing_notices(journal, run.run_id)
        ],
        units=units,
        children=children or UNSET,
        commands=go_on(journal, run),
        parent_run=run.parent_run or UNSET,
        created_at=run.created_at,
        updated_at=run.updated_at,
    )


def standing_notices(journal: Journal, run_id: str) -> list[Notice]:
    """The notices of a run, without the advice about children that have been brought on since."""
    notices = journal.notices(run_id)
    composing = {child.parent_unit for child in journal.children(run_id)}
    if not composing or not notices:
        return notices
    rows = [row for row in journal.units(run_id) if row.key in composing]
    done = {row.key for row in rows if row.status == "completed"}
    past = {row.unit_id for row in rows if row.status == "failed" and row.key in done}
    return [notice for notice in notices if notice.unit not in past]


def exported(journal: Journal, run: RunRow) -> Stored | dict[str, str] | None:
    """A run's exports, left in the journal; as ``recovery.exports``. Raises DamagedFault where they cannot be read."""
    if not run.exports:
        return {"runId": run.run_id, "status": run.status}
    stored = stored_outputs(journal, run.run_id)
    return None if stored is None else _sound(stored)


def _sound(stored: Stored) -> Stored:
    """``stored``, read once to its end."""
    with stored.text() as text:
        for _ in indented(text, stored.decode):
            pass
    return stored


def _completed(journal: Journal, run_id: str, row: StepRow) -> int | UnsetType:
    under_way = row.status == "pending" and row.unit_count > 0
    return journal.completed_count(run_id, row.index, row.loop) if under_way else UNSET


def step_part(row: StepRow, artifact: Stored | None, completed: int | UnsetType) -> StepPart:
    """A step of the document."""
    return StepPart(
        id=row.step_id,
        status=row.status,
        kind=row.kind,
        output=UNSET if artifact is None or row.status != "completed" else artifact,
        unit_count=row.unit_count,
        failed_units=row.failed_units,
        units_completed=completed,
        failure_reason=row.reason or UNSET,
        summary=row.summary or UNSET,
        selected=row.selected or UNSET,
        loop=row.loop if row.loop > 1 else UNSET,
    )


def unit_part(row: UnitRow, step_id: str) -> UnitPart:
    """An attempt of the document."""
    return UnitPart(
        id=row.unit_id,
        step=step_id,
        attempt=row.attempt,
        status=row.status,
        role=row.role,
        failure_reason=row.reason or UNSET,
        diagnostic=row.diagnostic or UNSET,
        dispatches=row.spawns if row.spawns > 1 else UNSET,
        reused_from=row.reused_run or UNSET,
        tokens=UNSET if row.tokens is None else row.tokens,
        started_at=row.started_at,
        finished_at=row.finished_at or UNSET,
    )


def children_of(journal: Journal, run_id: str) -> list[ChildPart]:
    """The tree of child runs below ``run_id``."""
    return [
        ChildPart(
            run_id=child.run_id,
            ref=child.ref,
            status=child.status,
            commands=commands_for(journal, child),
            children=children_of(journal, child.run_id),
        )
        for child in journal.children(run_id)
    ]


def go_on(journal: Journal, run: RunRow) -> list[str]:
    """What to type to go on with a run: it needs its failed and blocked children brought on first.

    Nothing for one whose budget is spent: no command brings it on."""
    below = [] if run.status in ("active", "completed") else list(commands_down(journal, run))
    own = commands_for(journal, run)
    return [*below, *own] if own else []


def commands_for(journal: Journal, run: RunRow) -> list[str]:
    """What to type to bring a run on; nothing for a completed one, one whose budget is spent, or one whose plan cannot be
    decoded here."""
    first = None if spent(journal, run) else command_for(run)
    if first is not None and fault_of(run, journal.plan_bytes(run.run_id)) is not None:
        return []
    return [] if first is None else sorted({first, f"akm-run {run.run_id}"}, reverse=True)


def as_json(document: msgspec.Struct | Stored | dict[str, str] | Json) -> Iterator[bytes]:
    """Indented JSON text with a final newline, safe on a terminal too; in pieces that have a good size or are the last."""
    room = bytearray()
    for text in _texts(document, _NEWLINE):
        room += escaped_json(text)
        if len(room) >= PIECE_BYTES:
            yield bytes(room)
            room.clear()
    yield bytes(room + _NEWLINE)


def _texts(node: object, pad: bytes) -> Iterator[bytes]:
    """``node`` as indented JSON, whose lines but the first begin with ``pad``. Results are read one after another."""
    match node:
        case Stored():
            with node.text() as text:
                yield from indented(text, node.decode, pad)
        case RunDocument() | StepPart():
            fields = [(field, getattr(node, field.name)) for field in msgspec.structs.fields(node)]
            members = [(formatted(f.encode_name) + b": ", value) for f, value in fields if value is not UNSET]
            yield from _within(b"{", members, b"}", pad)
        case [StepPart(), *_]:
            yield from _within(b"[", [(b"", part) for part in node], b"]", pad)
        case _:
            yield formatted(node).replace(_NEWLINE, pad)


def _within(opening: bytes, members: Sequence[tuple[bytes, object]], closing: bytes, pad: bytes) -> Iterator[bytes]:
    inner = pad + b"  "
    lead = opening
    for name, value in members:
        yield lead + inner + name
        yield from _texts(value, inner)
        lead = b","
    yield pad + closing
