"""What the journal keeps, as read back: one frozen record per row."""

from __future__ import annotations

from typing import cast

import msgspec
from msgspec import Struct

from akm_run.events import RunStatus, StepStatus
from akm_schemas.json_types import Json, JsonObject


class Publication(Struct, frozen=True):
    """A run as it is published. ``plan`` are the bytes of the plan file, ``width`` the run's width.

    ``base_commit`` is the commit that isolated units start from; ``parent_run`` and ``parent_unit`` name the composing
    unit of a child run, the unit without ``~r<n>``; ``parent_hash`` is its input hash. ``reuses`` is the run whose finished units this one takes over.
    """

    run_id: str
    plan: bytes
    title: str
    ref: str
    plan_hash: str
    content_hash: str
    exports: bool
    params: JsonObject
    width: int
    steps: tuple[tuple[str, str], ...]
    base_commit: str | None = None
    parent_run: str | None = None
    parent_unit: str | None = None
    parent_hash: str | None = None
    reuses: str | None = None


class RunRow(Struct, frozen=True):
    """A run. Times are UTC in ISO 8601; ``outputs`` are stored exports, ``exports`` whether the plan declares any."""

    run_id: str
    status: RunStatus
    title: str
    ref: str
    plan_hash: str
    content_hash: str
    width: int
    exports: bool
    base_commit: str | None
    parent_run: str | None
    parent_unit: str | None
    reuses: str | None
    created_at: str
    updated_at: str


class StepRow(Struct, frozen=True):
    """A step. ``artifact`` is what a completed step promoted."""

    index: int
    step_id: str
    kind: str
    status: StepStatus
    reason: str | None
    summary: str | None
    selected: str | None
    loop: int
    feedback: str | None
    unit_count: int
    failed_units: int
    started_at: str | None
    finished_at: str | None
    artifact: Json = None


class UnitRow(msgspec.Struct, frozen=True):
    """An attempt. ``spawns`` above 1: it was repeated after a crash. ``tokens`` is ``None`` when unreported.

    ``reused_run`` and ``reused_unit``: it was taken over from there and never dispatched here.
    """

    unit_id: str
    step: int
    key: str
    role: str
    attempt: int
    loop: int
    cause: str
    input_hash: str
    item_index: int | None
    spawns: int
    status: str
    reason: str | None
    diagnostic: str | None
    errors: tuple[str, ...]
    tokens: int | None
    started_at: str
    finished_at: str | None
    reused_run: str | None
    reused_unit: str | None
    value: Json = None


class EventRow(msgspec.Struct, frozen=True):
    """An entry of the event stream; ids, statuses and enums only."""

    seq: int
    at: str
    type: str
    step: str | None
    unit: str | None
    status: str | None


class Notice(Struct, frozen=True):
    """Something a person should know about a step."""

    step: str
    unit: str | None
    text: str


def run_status(text: str) -> RunStatus:
    """A stored run status; the journal writes no others."""
    return cast(RunStatus, text)
