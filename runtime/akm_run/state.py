"""The state that the core folds events into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from akm_run.events import Cause, Role, RunResumed, StepStatus, UnitFinished, UnitReused, UnitStarted
from akm_schemas.json_types import Json


@dataclass(slots=True)
class UnitState:
    """All attempts at one unit.

    ``lost``: running when its driver ended. ``retries`` and ``corrected`` count within ``episode``, that is since the
    last ``resume``. ``errors`` are those of the last failed attempt, which a correction is given.
    """

    key: str
    role: Role
    status: Literal["running", "lost", "completed", "failed"] = "running"
    attempt: int = 0
    unit_id: str = ""
    input_hash: str = ""
    episode: int = -1
    retries: int = 0
    corrected: bool = False
    cause: Cause = "first"
    value: Json = None
    reason: str | None = None
    diagnostic: str | None = None
    errors: tuple[str, ...] = ()

    def started(self, event: UnitStarted, episode: int) -> None:
        """An attempt began in ``episode``."""
        if episode != self.episode:
            self.episode, self.retries, self.corrected = episode, 0, False
        if not event.respawn:
            self.retries += event.cause == "retry"
            self.corrected = self.corrected or event.cause == "correction"
        self.status, self.attempt, self.unit_id = "running", event.attempt, event.unit_id
        self.input_hash, self.cause = event.input_hash, event.cause

    def reused(self, event: UnitReused, episode: int) -> None:
        """The unit's result was taken over from another run."""
        self.episode, self.attempt, self.unit_id, self.cause = episode, 1, event.key, "reused"
        self.status, self.input_hash, self.value = "completed", event.input_hash, event.value

    def finished(self, event: UnitFinished) -> None:
        """The running attempt ended."""
        self.status = "completed" if event.reason is None else "failed"
        self.value, self.reason, self.diagnostic = event.value, event.reason, event.diagnostic
        self.errors = event.errors


@dataclass(slots=True)
class StepState:
    """A step's progress; ``loop`` counts rounds from 1, ``feedback`` is what the round before was rejected with."""

    status: StepStatus = "pending"
    artifact: Json = None
    selected: str | None = None
    loop: int = 1
    feedback: str | None = None


@dataclass(slots=True)
class Spending:
    """What the run has used over its life: dispatches and reported tokens."""

    units: int = 0
    tokens: int = 0


def reopen(steps: list[StepState], _: RunResumed) -> None:
    """``resume``: what failed or was blocked is pending again."""
    for step in steps:
        if step.status in ("failed", "blocked"):
            step.status = "pending"
