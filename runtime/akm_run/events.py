"""What the core knows: one event per fact or decision, in the order in which they were journaled.

``core.apply`` folds them into a state; ``journal`` stores them as rows and gives them back for ``core.replay``.
A unit *key* names a unit within its round (``<step>:solo``, ``<step>:<16 hex>#2~l3``); a unit *id* names one attempt at
it (the key, with ``~r<n>`` from the second attempt on).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from akm_schemas.json_types import Json, JsonObject

RunStatus: TypeAlias = Literal["active", "completed", "failed", "blocked"]
StepStatus: TypeAlias = Literal["pending", "completed", "failed", "blocked", "skipped"]
Role: TypeAlias = Literal["unit", "judge"]
Cause: TypeAlias = Literal["first", "retry", "correction", "again", "reused"]


class UnitStarted(msgspec.Struct, frozen=True):
    """An attempt was written as running and is about to be spawned.

    ``cause`` is ``again`` for attempts after an abort, a ``resume`` or changed inputs. ``respawn``: the same attempt
    once more, because its driver ended before the result was recorded. ``index`` is the item's index, from 0, and
    ``of`` the number of units of the round.
    """

    step: int
    key: str
    unit_id: str
    attempt: int
    loop: int
    role: Role
    cause: Cause
    input_hash: str
    respawn: bool = False
    index: int | None = None
    of: int = 1


class UnitFinished(msgspec.Struct, frozen=True):
    """An attempt ended; ``reason`` is its failure reason, ``None`` for success. ``errors``: schema misses."""

    step: int
    key: str
    unit_id: str
    value: Json = None
    reason: str | None = None
    diagnostic: str | None = None
    errors: tuple[str, ...] = ()
    tokens: int | None = None


class UnitReused(Struct, frozen=True):
    """A unit was taken over from ``from_run``, where attempt ``from_unit`` completed with the same input hash.

    Nothing is dispatched and no budget is charged. The core decides without ``value``; the driver fills it in.
    """

    step: int
    key: str
    role: Role
    loop: int
    input_hash: str
    from_run: str
    from_unit: str
    index: int | None = None
    of: int = 1
    value: Json = None


class StepSettled(Struct, frozen=True):
    """A step reached a status other than pending. ``selected`` is a route's decision."""

    step: int
    status: StepStatus
    artifact: Json = None
    selected: str | None = None
    reason: str | None = None
    summary: str | None = None
    unit_count: int = 0
    failed_units: int = 0


class StepLooped(Struct, frozen=True):
    """A rejected step starts round ``loop`` (from 2) with ``feedback`` in every unit's context."""

    step: int
    loop: int
    feedback: str


class StepRejected(Struct, frozen=True):
    """The last allowed round was rejected: the step stays pending, the run active."""

    step: int
    summary: str
    unit_count: int = 0
    failed_units: int = 0


class OutputsUnresolved(Struct, frozen=True):
    """The completion of the last step was taken back, because exports could not be resolved."""

    step: int
    reason: str
    summary: str
    unit_count: int = 0
    failed_units: int = 0


class RunSettled(Struct, frozen=True):
    """The run reached a status other than active. ``outputs`` are the exports of a completed run that declares some."""

    status: RunStatus
    outputs: JsonObject | None = None


class RunResumed(Struct, frozen=True):
    """``resume``: failed or blocked became active again, step and run together."""


class RunAbandoned(Struct, frozen=True):
    """``abandon``: anything not completed became failed."""


class NoticeRaised(Struct, frozen=True):
    """Something a person should know; ``unit`` is a unit id."""

    step: int
    text: str
    unit: str | None = None


Event: TypeAlias = (
    UnitStarted
    | UnitFinished
    | UnitReused
    | StepSettled
    | StepLooped
    | StepRejected
    | OutputsUnresolved
    | RunSettled
    | RunResumed
    | RunAbandoned
    | NoticeRaised
)
