"""Runs written into a state file as a driver would, without running anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from akm_run import events
from akm_run.journal import Journal
from akm_run.report import page
from akm_run.rows import Publication
from akm_schemas.decode import decode_plan

LATER = "2026-03-01T13:00:00.000Z"


def moment(seconds: float) -> str:
    """So many seconds after 2026-03-01 12:00, at most an hour."""
    whole, millis = divmod(round(1000 * seconds), 1000)
    return f"2026-03-01T12:{whole // 60:02}:{whole % 60:02}.{millis:03}Z"


@dataclass
class Telling:
    """A run that is being told; times are seconds after its publication."""

    journal: Journal
    run_id: str
    now: float = 0.0
    units: dict[str, int] = field(default_factory=dict)

    def tell(self, *batch: events.Event, after: float = 0.0) -> Telling:
        """Commit a decision, some seconds after the one before."""
        self.now += after
        self.journal.commit(self.run_id, batch, moment(self.now))
        return self

    def start(self, step: int, key: str, **more: Any) -> events.UnitStarted:
        """The start of the next attempt at ``key``."""
        attempt = self.units[key] = self.units.get(key, 0) + 1
        unit_id = key if attempt == 1 else f"{key}~r{attempt - 1}"
        loop, role, cause = more.get("loop", 1), more.get("role", "unit"), more.get("cause", "first")
        index, of = more.get("index"), more.get("of", 1)
        return events.UnitStarted(step, key, unit_id, attempt, loop, role, cause, "0" * 64, index=index, of=of)

    def unit(
        self, step: int, key: str, value: Any = None, reason: str | None = None, took: float = 1.0, **more: Any
    ) -> Telling:
        """An attempt from start to end; ``value`` or ``reason`` is what came of it."""
        started = self.start(step, key, **more)
        self.tell(started, after=more.get("after", 0.0))
        diagnostic, tokens = more.get("diagnostic"), more.get("tokens")
        return self.tell(
            events.UnitFinished(step, key, started.unit_id, value, reason, diagnostic=diagnostic, tokens=tokens),
            after=took,
        )

    def units_at_once(self, step: int, keys: Sequence[str], values: Sequence[Any], reasons: dict[int, str]) -> None:
        """Many attempts in two decisions; ``reasons`` by position are those that failed."""
        started = [self.start(step, key, index=index, of=len(keys)) for index, key in enumerate(keys)]
        self.tell(*started)
        finished = [
            events.UnitFinished(step, start.key, start.unit_id, value, reasons.get(index), diagnostic="it broke")
            if index in reasons
            else events.UnitFinished(step, start.key, start.unit_id, value)
            for index, (start, value) in enumerate(zip(started, values, strict=True))
        ]
        self.tell(*finished, after=2)

    def settle(self, step: int, status: events.StepStatus = "completed", artifact: Any = None, **more: Any) -> Telling:
        """The end of a step."""
        return self.tell(events.StepSettled(step, status, artifact, **more))

    def end(self, status: events.RunStatus, outputs: dict[str, Any] | None = None) -> Telling:
        """The end of the run."""
        return self.tell(events.RunSettled(status, outputs))

    def html(self, at: str = LATER) -> str:
        """The page."""
        run = self.journal.run(self.run_id)
        assert run is not None
        return "".join(page(self.journal, run, at))


@dataclass
class Scribe:
    """Publishes runs in ``<folder>/.akm/state.db``."""

    folder: Path
    journal: Journal = field(init=False)
    count: int = 0

    def __post_init__(self) -> None:
        self.journal = Journal.create_or_open(self.folder / ".akm" / "state.db")

    def publish(
        self, data: bytes, params: dict[str, Any] | None = None, parent: tuple[str, str] | None = None
    ) -> Telling:
        """A new run of the plan in ``data``; ``parent`` are the run and the unit that compose it."""
        plan = decode_plan(data)
        self.count += 1
        run_id = f"20260301-120000-{self.count:08x}"
        self.journal.publish(
            Publication(
                run_id=run_id,
                plan=data,
                title=plan.provenance.title,
                ref=plan.provenance.ref,
                plan_hash=plan.plan_hash,
                content_hash=plan.content_hash,
                exports=bool(plan.outputs),
                params=params or {},
                width=4,
                steps=tuple((step.id, step.kind) for step in plan.steps),
                parent_run=None if parent is None else parent[0],
                parent_unit=None if parent is None else parent[1],
                parent_hash=None if parent is None else f"{self.count:064x}",
            ),
            moment(0),
        )
        return Telling(self.journal, run_id)


@pytest.fixture
def scribe(tmp_path: Path) -> Any:
    """Writes runs into the scope ``tmp_path``."""
    made = Scribe(tmp_path)
    yield made
    made.journal.close()


Publish = Callable[..., Telling]
