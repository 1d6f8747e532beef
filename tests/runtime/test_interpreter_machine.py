"""The interpreter walked at random: results, crashes, interruptions, waits, ``resume``, ``abandon`` and verdicts.

The real core decides and a real state file remembers; only the units are played. After every step of the walk the rows,
the event stream and the core must say the same, and every change must be one that the tables of statuses allow.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.runtime.conftest import PlanMaker, finish

from akm_run.core import Core, replay
from akm_run.events import Event, RunAbandoned, RunResumed, UnitFinished, UnitStarted
from akm_run.facts import facts_of
from akm_run.journal import Journal
from akm_run.policy import Limits
from akm_run.publishing import Origin, publish
from akm_run.rows import UnitRow
from akm_run.show.document import Wanted, run_document
from akm_run.transitions import RUN, STEP, UNIT
from akm_schemas.decode import decode_plan

AT = "2026-01-01T00:00:00.000Z"
LOOPS = 3
VERDICTS = {
    "accepted": '{"complete": true}',
    "rejected": '{"complete": false, "missing": ["proof"], "feedback": "Prove it."}',
    "unreadable": "Looks fine to me.",
}
OUTCOMES = st.sampled_from(
    [
        "x",
        "x",
        "x",
        "x",
        "x",
        "y",
        "",
        "timeout",
        "non_zero_exit",
        "llm_rate_limit",
        "validation_error",
        "child_blocked",
    ]
)
REASONS = {"timeout", "non_zero_exit", "llm_rate_limit", "validation_error", "child_blocked"}
JUDGEMENTS = st.sampled_from(["accepted", "accepted", "rejected", "unreadable", "timeout"])


def plan_data(on_error: str, ceiling: int | None) -> bytes:
    """A retried unit, a route, a gated map that loops, a gated last step whose result is exported."""
    plans = PlanMaker()
    retry = {"max": 2, "on": ["timeout", "llm_rate_limit"]}
    return plans.data(
        plans.step("first", plans.unit(retry=retry)),
        plans.route("way", "steps.first.output", [("y", "last")], default="many"),
        plans.step("many", plans.ask(retry, on_error), over="params.l", concurrency=3, rubric="Good?", loops=LOOPS),
        plans.step("last", plans.ask(retry), rubric="Good?", loops=LOOPS, output={"type": "string"}),
        outputs={"result": "steps.last.output"},
        budget={} if ceiling is None else {"maxUnits": ceiling},
    )


class Walk(RuleBasedStateMachine):
    """One run, from its publication on. ``running`` are the attempts that a driver has in flight."""

    @initialize(
        on_error=st.sampled_from(["fail", "continue"]),
        ceiling=st.none() | st.integers(1, 40),
        items=st.lists(st.integers(0, 3), max_size=4) | st.just([1, 2, 3]),
    )
    def published(self, on_error: str, ceiling: int | None, items: list[int]) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.journal = Journal.create_or_open(self.folder / "state.db")
        self.journal.connection.execute("PRAGMA synchronous=OFF")  # nothing here outlives the process
        data = plan_data(on_error, ceiling)
        self.plan, self.ceiling = decode_plan(data), ceiling
        self.run_id = publish(self.journal, self.plan, data, {"l": list(items)}, self.folder, Origin())
        self.running: list[UnitStarted] = []
        self.driven = False
        self.limits = Limits()
        self.core = self._replayed()

    def teardown(self) -> None:
        if hasattr(self, "journal"):
            self.journal.close()
            shutil.rmtree(self.folder)

    # ---- what happens -----------------------------------------------------------------------------------------

    @precondition(lambda self: not self.driven and self.core.status == "active")
    @rule(retries=st.integers(0, 3))
    def a_driver_begins(self, retries: int) -> None:
        self.limits = Limits(max_retries=retries)
        self.core, self.driven = self._replayed(), True
        self._decide([])

    @precondition(lambda self: self.running)
    @rule(which=st.integers(0, 9), outcome=OUTCOMES, verdict=JUDGEMENTS, tokens=st.none() | st.integers(0, 9))
    def a_unit_ends(self, which: int, outcome: str, verdict: str, tokens: int | None) -> None:
        started = self.running.pop(which % len(self.running))
        answer: dict[str, Any] = {"tokens": tokens}
        if started.role == "judge":
            self._decide([_judged(started, verdict, answer)])
        elif outcome in REASONS:
            self._decide([finish(started, None, outcome, diagnostic="no", errors=("/: no",), **answer)])
        else:
            self._decide([finish(started, outcome or None, **answer)])

    @precondition(lambda self: self.running)
    @rule(ends=st.integers(1, 6), verdict=st.sampled_from(["accepted", "rejected"]))
    def units_end_well(self, ends: int, verdict: str) -> None:
        for _ in range(min(ends, len(self.running))):
            started = self.running.pop(0)
            judge = started.role == "judge"
            self._decide([_judged(started, verdict, {}) if judge else finish(started, "x")])

    @precondition(lambda self: self.core.frame is not None and self.core.frame.cooling)
    @rule(which=st.integers(0, 9))
    def time_passes(self, which: int) -> None:
        frame = self.core.frame
        assert frame is not None
        position = sorted(frame.cooling)[which % len(frame.cooling)]
        self.core.warm(frame.units[position].key)
        self._decide([])

    @precondition(lambda self: self.driven)
    @rule()
    def the_driver_crashes(self) -> None:
        self.running, self.driven = [], False
        self.core = self._replayed()

    @precondition(lambda self: self.driven)
    @rule()
    def the_driver_is_told_to_end(self) -> None:
        self.core.stopping = True
        self._decide([finish(started, None, "aborted", diagnostic="interrupted") for started in self.running])
        self.running, self.driven = [], False
        self.core = self._replayed()

    @precondition(lambda self: self.core.status in ("failed", "blocked"))
    @rule()
    def resumed(self) -> None:
        self._changed(RunResumed())

    @precondition(lambda self: not self.driven and self.core.status in ("active", "blocked"))
    @rule()
    def abandoned(self) -> None:
        self._changed(RunAbandoned())

    @rule()
    def somebody_looks(self) -> None:
        row = self.journal.run(self.run_id)
        assert row is not None
        document = run_document(self.journal, row, Wanted(units=True))
        spent = any(step.failure_reason == "budget_exceeded" for step in document.steps)
        assert (document.status == "completed" or spent) == (not document.commands)
        assert (document.status == "completed") == (document.outputs is not None)

    # ---- what holds -------------------------------------------------------------------------------------------

    @invariant()
    def rows_and_core_agree(self) -> None:
        row = self.journal.run(self.run_id)
        assert row is not None and row.status == self.core.status
        steps = self.journal.steps(self.run_id)
        assert [step.status for step in steps] == [state.status for state in self.core.steps]
        last = {unit.key: unit for unit in self._units()}
        shown = {key: "running" if state.status == "lost" else state.status for key, state in self.core.units.items()}
        assert {key: unit.status for key, unit in last.items()} == shown
        assert self.journal.spent(self.run_id) == (self.core.spent.units, self.core.spent.tokens)

    @invariant()
    def the_stream_is_a_walk_through_the_tables(self) -> None:
        run: str | None = None
        steps: dict[str, str] = {step.id: "pending" for step in self.plan.steps}
        units: dict[str, str] = {}
        for event in self.journal.events(self.run_id):
            kind, status = event.type, event.status or ""
            if kind.startswith("run."):
                run = RUN.move(run, kind, status)
                if kind == "run.resumed":
                    steps.update({key: "pending" for key, at in steps.items() if at in ("failed", "blocked")})
            elif kind.startswith("step."):
                steps[event.step or ""] = STEP.move(steps[event.step or ""], kind, status)
            else:
                unit = event.unit or ""
                before = units.get(unit)
                if kind == "unit.started" and before == "running":
                    before = UNIT.move(before, "driver.ended", "lost")
                assert kind != "unit.started" or before in (None, "lost"), "each attempt has an id of its own"
                units[unit] = UNIT.move(before, kind, status)
        row = self.journal.run(self.run_id)
        assert row is not None and run == row.status
        assert steps == {step.step_id: step.status for step in self.journal.steps(self.run_id)}
        assert units == {unit.unit_id: unit.status for unit in self._units()}

    @invariant()
    def steps_settle_in_order(self) -> None:
        statuses = [state.status for state in self.core.steps]
        done = [status in ("completed", "skipped") for status in statuses]
        front = done.index(False) if False in done else len(done)
        assert not any(done[front:]) and set(statuses[front + 1 :]) <= {"pending"}
        here = statuses[front] if front < len(done) else "completed"
        match self.core.status:
            case "completed":
                assert front == len(done)
            case "active":
                assert here == "pending"
            case "blocked":
                assert here == "blocked"
        assert here == "pending" or here == self.core.status or (here, self.core.status) == ("blocked", "failed")

    @invariant()
    def nothing_is_left_running_behind_the_front(self) -> None:
        running = [unit for unit in self._units() if unit.status == "running"]
        here = self.core.steps[min(self.core.cursor, len(self.core.steps) - 1)]
        assert all(unit.step == self.core.cursor and unit.loop == here.loop for unit in running)
        assert not running or here.status == "pending"
        assert {unit.unit_id for unit in self._units() if unit.status == "running"} >= {
            started.unit_id for started in self.running
        }

    @invariant()
    def nothing_finished_is_done_twice_and_nothing_is_free(self) -> None:
        units = self._units()
        finished: dict[str, str] = {}
        attempts: Counter[str] = Counter()
        for unit in units:
            attempts[unit.key] += 1
            assert unit.attempt == attempts[unit.key]
            assert finished.get(unit.key) != unit.input_hash or unit.role == "judge"  # a rejection is asked about again
            assert 1 <= unit.loop <= LOOPS and unit.spawns >= 1
            if unit.status == "completed":
                finished[unit.key] = unit.input_hash
        spawns = sum(event.type == "unit.started" for event in self.journal.events(self.run_id))
        assert spawns == sum(unit.spawns for unit in units) == self.core.spent.units
        assert self.ceiling is None or spawns <= self.ceiling

    @invariant()
    def whoever_reads_the_journal_knows_as_much(self) -> None:
        if not self.driven:
            return
        other = self._replayed()
        assert (other.status, other.cursor) == (self.core.status, self.core.cursor)
        assert [(s.status, s.artifact, s.loop, s.feedback) for s in other.steps] == [
            (s.status, s.artifact, s.loop, s.feedback) for s in self.core.steps
        ]

    # ---- helpers ----------------------------------------------------------------------------------------------

    def _units(self) -> list[UnitRow]:
        return self.journal.units(self.run_id)

    def _replayed(self) -> Core:
        row = self.journal.run(self.run_id)
        assert row is not None
        return replay(self.plan, facts_of(self.journal, row), self.journal.entries(self.run_id), self.limits)

    def _changed(self, event: Event) -> None:
        """``resume`` and ``abandon``: by another process, when no driver is there."""
        self.running, self.driven = [], False
        self.journal.commit(self.run_id, [event], AT)
        self.core = self._replayed()

    def _decide(self, facts: list[Event]) -> None:
        """What a driver does with what has happened: fold, decide, commit all of it, start."""
        batch: list[Event] = []
        pending = facts or self.core.next(4 - len(self.running))
        while pending:
            for event in pending:
                self.core.apply(event)
                if isinstance(event, UnitStarted):
                    self.running.append(event)
            batch += pending
            pending = self.core.next(4 - len(self.running))
        if batch:
            self.journal.commit(self.run_id, batch, AT)
        if self.core.status != "active":
            self.driven = False


def _judged(started: UnitStarted, verdict: str, more: dict[str, Any]) -> UnitFinished:
    """The end of a judge call as the driver journals it."""
    if verdict in REASONS:
        return finish(started, None, verdict, diagnostic="no", **more)
    if verdict == "unreadable":
        return finish(started, None, "judge_unreadable", diagnostic="the answer is not a JSON object", **more)
    return finish(started, VERDICTS[verdict], **more)


TestWalk = Walk.TestCase
TestWalk.settings = settings(
    max_examples=15, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
