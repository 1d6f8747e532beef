"""One round of one step: its units in item order, and which of them may start.

A frame is a cache: it is built from the plan and the folded state when the step is reached, and again after a crash.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice

import msgspec
from msgspec import Struct, field

from akm_run.artifacts import Reduction, Slot
from akm_run.events import Cause, UnitFinished
from akm_run.identity import StepInputs
from akm_run.policy import CHILD_BLOCKED, Limits, after_failure, backoff_s
from akm_run.state import UnitState
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import Step, Unit


class PlannedUnit(msgspec.Struct, frozen=True):
    """A unit of the round; ``index`` is ``None`` outside maps."""

    key: str
    input_hash: str
    index: int | None = None
    item: Json = None


class StepContext(Struct, frozen=True):
    """What all units of the round are given; mappings are ``None`` where the step has none."""

    inputs: JsonObject | None = None
    task_inputs: JsonObject | None = None
    feedback: str | None = None


class Frame(Struct):
    """The round's progress. ``width`` is the least of map, run and engine; the host's cap comes with ``room``.

    ``shared`` is what the units' input hashes share, ``None`` for routes.
    """

    step: Step
    loop: int
    context: StepContext
    units: list[PlannedUnit] = field(default_factory=list)
    schema: JsonObject | None = None
    width: int = 1
    shared: StepInputs | None = None
    ready: deque[tuple[int, Cause]] = field(default_factory=deque)
    cooling: dict[int, float] = field(default_factory=dict)
    running: int = 0
    open: int = 0
    failed: int = 0
    blocked: bool = False
    reduction: Reduction | None = None
    selected: str | None = None
    judge: UnitFinished | None = None
    judging: bool = False
    positions: dict[str, int] = field(default_factory=dict)

    @property
    def unit(self) -> Unit:
        """The step's dispatch bag; route steps never ask."""
        assert isinstance(self.step.unit, Unit)
        return self.step.unit

    @property
    def stopping(self) -> bool:
        """Whether a failed unit forbids new dispatches; a blocked child waits for a person, whatever ``on_error`` says."""
        return self.blocked or (bool(self.failed) and self.unit.on_error == "fail")

    def admit(self, states: dict[str, UnitState], episode: int, limits: Limits) -> None:
        """Sort the units by what is already known of them: finished, or ready to start."""
        for position, planned in enumerate(self.units):
            self.positions[planned.key] = position
            state = states.get(planned.key)
            cause = _cause(planned, state, self.unit, episode, limits)
            if cause is not None:
                self.ready.append((position, cause))
                self.open += 1
            elif state is not None and state.status == "failed":
                self._fail(state)

    def startable(self, room: int) -> Iterator[tuple[PlannedUnit, Cause]]:
        """The next units that fit into ``room`` and the width, without taking them."""
        fitting = max(0, min(room, self.width - self.running))
        for position, cause in islice(self.ready, fitting):
            yield self.units[position], cause

    def take(self, key: str) -> None:
        """The first ready unit has started."""
        if self.ready and self.units[self.ready[0][0]].key == key:
            self.ready.popleft()
        self.running += 1

    def settle(self, state: UnitState, limits: Limits) -> None:
        """An attempt ended: it is final, follows at once, or cools down first."""
        self.running -= 1
        position = self.positions[state.key]
        follow = "final" if state.status == "completed" else after_failure(state, self.unit, limits)
        if follow == "final":
            self.open -= 1
            if state.status == "failed":
                self._fail(state)
        elif follow == "retry" and (seconds := backoff_s(state)):
            self.cooling[position] = seconds
        else:
            self.ready.appendleft((position, follow))

    def _fail(self, state: UnitState) -> None:
        self.failed += 1
        self.blocked = self.blocked or state.reason == CHILD_BLOCKED

    def warm(self, key: str) -> None:
        """A cooling unit may start."""
        position = self.positions[key]
        if self.cooling.pop(position, None) is not None:
            self.ready.appendleft((position, "retry"))

    def first_failed(self, states: dict[str, UnitState]) -> UnitState:
        """The first unit in item order that failed for good, or that is blocked where one is.

        The round must have one (``failed`` above 0).
        """
        waiting = {position for position, _ in self.ready} | self.cooling.keys()
        return next(
            state
            for position, planned in enumerate(self.units)
            if position not in waiting
            and (state := states.get(planned.key))
            and state.status == "failed"
            and (not self.blocked or state.reason == CHILD_BLOCKED)
        )

    def tally(self, states: dict[str, UnitState]) -> tuple[int, int]:
        """How many units are completed, and how many failed: for good, with their last attempt while the next one waits,
        or lost with their driver.

        A result that is not of this round, because what the unit reads has changed since, counts for nothing.
        """
        done = failed = 0
        for planned in self.units:
            state = states.get(planned.key)
            if state is not None and state.input_hash == planned.input_hash:
                done += state.status == "completed"
                failed += state.status in ("failed", "lost")
        return done, failed

    def slots(self, states: dict[str, UnitState]) -> list[Slot]:
        """Results in item order."""
        found = []
        for planned in self.units:
            state = states[planned.key]
            done = state.status == "completed"
            found.append(Slot(done, state.value if done else None, self.schema is None and state.value is None))
        return found


def _cause(planned: PlannedUnit, state: UnitState | None, unit: Unit, episode: int, limits: Limits) -> Cause | None:
    """Why a unit is to be dispatched, or ``None`` when its journaled result stands."""
    if state is None:
        return "first"
    if state.input_hash != planned.input_hash:
        return "again"
    if state.status == "completed":
        return None
    if state.status == "lost":
        return state.cause
    if state.episode != episode or state.reason == "aborted":
        return "again"
    follow = after_failure(state, unit, limits)
    return None if follow == "final" else follow
