"""Where a tree of runs stands, folded from committed decisions: what the live view shows. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET, Struct, field

from akm_run.core import Core
from akm_run.events import Event, RunSettled, StepLooped, StepSettled, UnitFinished, UnitReused, UnitStarted
from akm_run.underway import UnderWay
from akm_schemas.visible import visible


class OpenStep(Struct):
    """The step that a run is at: how many units it has, and how they stand."""

    name: str
    of: int = 0
    done: int = 0
    failed: int = 0
    running: set[str] = field(default_factory=set)
    judging: bool = False


class Standing(Struct):
    """One run of the tree; ``settled`` counts its steps that are behind it."""

    run: UnderWay
    core: Core
    depth: int
    settled: int
    step: OpenStep | None = None


class Board:
    """Folds batches of events of all runs; ``lines`` shows where they stand."""

    def __init__(self) -> None:
        self._runs: dict[str, Standing] = {}

    def apply(self, run: UnderWay, batch: Sequence[Event]) -> None:
        """Fold a committed decision of ``run``."""
        standing = self._runs.get(run.run_id)
        if standing is None:
            standing = self._runs[run.run_id] = Standing(run, run.core, run.depth, 0)
        for event in batch:
            self._fold(run.run_id, standing, event)
        standing.settled = sum(state.status in ("completed", "skipped") for state in run.core.steps)

    def _fold(self, run_id: str, standing: Standing, event: Event) -> None:
        match event:
            case UnitStarted() | UnitReused():
                step = standing.step
                name = standing.core.plan.steps[event.step].id
                if step is None or step.name != name:
                    step = standing.step = OpenStep(name)
                step.of = max(step.of, event.of)
                step.judging = event.role == "judge"
                if isinstance(event, UnitStarted):
                    step.running.add(event.unit_id)
                elif event.role == "unit":
                    step.done += 1
            case UnitFinished() if standing.step is not None:
                self._drop_child(standing.run, event.unit_id)
                standing.step.running.discard(event.unit_id)
                if not standing.step.judging:
                    standing.step.done += event.reason is None
                    standing.step.failed += event.reason is not None
            case StepSettled() | StepLooped():
                standing.step = None
            case RunSettled() if standing.depth > 0:
                del self._runs[run_id]

    def _drop_child(self, run: UnderWay, unit_id: str) -> None:
        """Forget the run that a unit has composed: it may have stopped without being settled."""
        for run_id, other in list(self._runs.items()):
            composing = other.run.composing
            if other.run.composer is run and composing is not None and composing.unit_id == unit_id:
                del self._runs[run_id]

    def lines(self, elapsed_s: float) -> Iterator[str]:
        """One line for each run that is under way, then the root's totals."""
        root: Standing | None = None
        for standing in self._runs.values():
            root = root or standing
            yield f"{'  ' * standing.depth}{_at(standing)}"
        if root is not None:
            yield _totals(root.core, elapsed_s)


def _at(standing: Standing) -> str:
    ref, count = visible(standing.core.plan.provenance.ref), len(standing.core.steps)
    where = f"{ref}  step {min(standing.settled + 1, count)} of {count}"
    step = standing.step
    if step is None:
        return where
    if step.judging:
        return f"{where}  {step.name}: the judge is asked"
    failed = f", {step.failed} failed" if step.failed else ""
    return f"{where}  {step.name}: {step.done} of {step.of} done{failed}, {len(step.running)} running"


def _totals(core: Core, elapsed_s: float) -> str:
    budget, spent = core.plan.budget, core.spent
    units = "" if budget.max_units is UNSET else f" of {budget.max_units}"
    tokens = "" if budget.max_tokens is UNSET else f" of {budget.max_tokens}"
    minutes, seconds = divmod(int(elapsed_s), 60)
    hours, minutes = divmod(minutes, 60)
    time = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return f"units {spent.units}{units}, tokens {spent.tokens}{tokens}, time {time}"
