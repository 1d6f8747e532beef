"""The state that the core folds events into."""

from __future__ import annotations

from msgspec import Struct

from akm_run.events import Cause, Role, RunResumed, StepStatus, UnitFinished, UnitReused, UnitStarted
from akm_run.transitions import STEP, UNIT, AttemptStatus, IllegalTransition
from akm_schemas.json_types import Json


class UnitState(Struct):
    """All attempts at one unit; ``status`` is that of the last one, ``None`` before there is any.

    ``lost``: running when its driver ended. ``retries`` and ``corrected`` count within ``episode``, that is since the
    last ``resume``. ``errors`` are those of the last failed attempt, which a correction is given.
    """

    key: str
    role: Role
    status: AttemptStatus | None = None
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
        if event.respawn:
            self.lose()  # in a journal, that it was started again is the proof
        elif self.status == "lost":
            raise IllegalTransition(f"unit: {event.unit_id} cannot start before {self.unit_id} is closed")
        self.status = UNIT.move(self.status, "unit.started", "running")
        if episode != self.episode:
            self.episode, self.retries, self.corrected = episode, 0, False
        if not event.respawn:
            self.retries += event.cause == "retry"
            self.corrected = self.corrected or event.cause == "correction"
        self.attempt, self.unit_id = event.attempt, event.unit_id
        self.input_hash, self.cause = event.input_hash, event.cause

    def reused(self, event: UnitReused, episode: int) -> None:
        """The unit's result was taken over from another run."""
        self.status = UNIT.move(self.status, "unit.reused", "completed")
        self.episode, self.attempt, self.unit_id, self.cause = episode, 1, event.key, "reused"
        self.input_hash, self.value = event.input_hash, event.value

    def finished(self, event: UnitFinished) -> None:
        """The running attempt ended."""
        self.status = UNIT.move(self.status, "unit.finished", "completed" if event.reason is None else "failed")
        self.value, self.reason, self.diagnostic = event.value, event.reason, event.diagnostic
        self.errors = event.errors

    def lose(self) -> None:
        """The driver of a running attempt has ended; others are as they were."""
        if self.status == "running":
            self.status = UNIT.move(self.status, "driver.ended", "lost")


class StepState(Struct):
    """A step's progress; ``loop`` counts rounds from 1, ``feedback`` is what the round before was rejected with."""

    status: StepStatus = "pending"
    artifact: Json = None
    selected: str | None = None
    loop: int = 1
    feedback: str | None = None

    def move(self, event: str, after: StepStatus = "pending") -> None:
        """``event`` leads to ``after``; most of them leave a step pending."""
        self.status = STEP.move(self.status, event, after)


class Spending(Struct):
    """What the run has used over its life: dispatches and reported tokens."""

    units: int = 0
    tokens: int = 0


def reopen(steps: list[StepState], _: RunResumed) -> None:
    """``resume``: what failed or was blocked is pending again."""
    for step in steps:
        if step.status in ("failed", "blocked"):
            step.move("run.resumed")
