"""Which status may follow which: of a run, of a step, and of a unit (spec 3, sections 1 to 3).

Three tables, and the only way to a new status: the core moves its state through them, the journal the rows. A move that
is not in the table is refused. ``docs/run-states.md`` is drawn from them. The events are those of ``akm-run events``.
"""

from __future__ import annotations

from typing import Final, Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct, field

from akm_run.events import RunStatus, StepStatus

AttemptStatus: TypeAlias = Literal["running", "lost", "completed", "failed"]
Status = TypeVar("Status", bound=str)


class IllegalTransition(Exception):
    """A status that cannot follow: a bug, or a state file that somebody else wrote to."""


class Move(Struct, Generic[Status], frozen=True):
    """``event`` leads from ``before`` (``None``: there was nothing yet) to ``after``; ``when`` says for a person why."""

    before: Status | None
    event: str
    after: Status
    when: str


class Machine(Struct, Generic[Status], frozen=True):
    """The moves of one kind of thing; every other one is illegal."""

    name: str
    moves: tuple[Move[Status], ...]
    _legal: dict[tuple[str | None, str, str], Status] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._legal.update({(move.before, move.event, move.after): move.after for move in self.moves})

    def move(self, before: str | None, event: str, after: str) -> Status:
        """``after``, when ``event`` may lead there from ``before``; raises IllegalTransition otherwise."""
        found = self._legal.get((before, event, after))
        if found is None:
            raise IllegalTransition(f"{self.name}: {event} cannot lead from {before or 'nothing'} to {after}")
        return found


RUN: Final = Machine[RunStatus](
    "run",
    (
        Move(None, "run.published", "active", "a plan is run"),
        Move("active", "run.settled", "completed", "its last step is completed or skipped, and its outputs resolve"),
        Move("active", "run.settled", "failed", "a step failed"),
        Move("active", "run.settled", "blocked", "a step is blocked"),
        Move("failed", "run.resumed", "active", "resume"),
        Move("blocked", "run.resumed", "active", "resume"),
        Move("active", "run.abandoned", "failed", "abandon"),
        Move("blocked", "run.abandoned", "failed", "abandon"),
    ),
)

STEP: Final = Machine[StepStatus](
    "step",
    (
        Move(None, "run.published", "pending", "a plan is run"),
        Move("pending", "step.settled", "completed", "its artifact is promoted"),
        Move("pending", "step.settled", "skipped", "no decided route selected it"),
        Move("pending", "step.settled", "failed", "a unit failed, or it cannot be opened, reduced or paid"),
        Move("pending", "step.settled", "blocked", "no verdict, or a child is blocked"),
        Move("pending", "step.looped", "pending", "rejected, with rounds left"),
        Move("pending", "step.rejected", "pending", "rejected in its last round"),
        Move("pending", "outputs.unresolved", "pending", "last, and the outputs do not resolve"),
        Move("failed", "run.resumed", "pending", "resume"),
        Move("blocked", "run.resumed", "pending", "resume"),
    ),
)

# The last attempt at a unit; each is a row of its own. ``lost`` is what a driver calls an attempt that it finds running: the
# driver before has ended. Its row stays ``running`` until it is started again under the same id, or closed as aborted.
UNIT: Final = Machine[AttemptStatus](
    "unit",
    (
        Move(None, "unit.started", "running", "dispatched"),
        Move(None, "unit.reused", "completed", "taken over from another run"),
        Move("running", "unit.finished", "completed", "it has a result"),
        Move("running", "unit.finished", "failed", "it has a failure reason"),
        Move("running", "driver.ended", "lost", "a crash"),
        Move("lost", "unit.started", "running", "the same attempt once more"),
        Move("lost", "unit.finished", "failed", "closed as aborted: nobody waits for it any more"),
        Move("failed", "unit.started", "running", "the next attempt: retry, correction, abort, resume"),
        Move("completed", "unit.started", "running", "the next attempt: its inputs have changed"),
    ),
)
