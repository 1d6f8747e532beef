"""The tables of statuses: complete, obeyed by core and journal, and drawn in docs/run-states.md."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest

from akm_run.core import Core, replay
from akm_run.events import (
    Event,
    RunAbandoned,
    RunResumed,
    RunSettled,
    RunStatus,
    StepLooped,
    StepSettled,
    StepStatus,
    UnitFinished,
    UnitStarted,
)
from akm_run.journal import Journal
from akm_run.opening import RunFacts
from akm_run.policy import Limits
from akm_run.publishing import Origin, publish
from akm_run.transitions import RUN, STEP, UNIT, AttemptStatus, IllegalTransition, Machine

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

PAGE = Path(__file__).resolve().parents[2] / "docs" / "run-states.md"
AT = "2026-01-01T00:00:00.000Z"
MACHINES: list[Machine[Any]] = [RUN, STEP, UNIT]
HEADS = {
    "run": ("A run", "`akm-run list` and `status` show it."),
    "step": ("A step", "A step is pending until it is settled, also while its units run."),
    "unit": (
        "A unit",
        "The last attempt at it: `akm-run status RUN_ID --units` shows each. `lost` is shown as `running`, for that is "
        "what the row says when nobody is there any more to write it.",
    ),
}


def drawing(machine: Machine[Any]) -> list[str]:
    """A table as a Mermaid state diagram."""
    lines = ["```mermaid", "stateDiagram-v2"]
    lines += [f"    {move.before or '[*]'} --> {move.after}: {move.event}" for move in machine.moves]
    finals = {move.after for move in machine.moves} - {move.before for move in machine.moves}
    return [*lines, *(f"    {status} --> [*]" for status in sorted(finals)), "```"]


def rows(machine: Machine[Any]) -> list[str]:
    lines = ["| From | Event | To | When |", "| --- | --- | --- | --- |"]
    return lines + [f"| {move.before or '-'} | `{move.event}` | {move.after} | {move.when} |" for move in machine.moves]


def page() -> str:
    """docs/run-states.md as it should be."""
    lines = [
        "# States of runs, steps and units",
        "",
        "Drawn from `runtime/akm_run/transitions.py`, through which the interpreter changes every status: what is not an",
        "arrow here is refused, in memory and in the state file. The events are those of `akm-run events`, but for two",
        "that leave no trace there: `outputs.unresolved`, a completion that was taken back, and `driver.ended`.",
        "",
        "`--timeout`, Ctrl-C and SIGTERM change neither run nor step: the run stays active, its step pending. The attempts",
        "that they end are failed with the reason `aborted`. `--max-steps N` stops before the next step once N steps have",
        "finished: those are settled like any others, the next one stays pending, and the run active. In all four cases",
        "`akm-run RUN_ID` goes on.",
        "",
        "With `--reuse` verdicts are taken over like other results. Where the old run was rejected in its last round and",
        "nothing that the judge saw has changed, the new run stops there at once, active, with nothing dispatched;",
        "`akm-run RUN_ID` then asks the judge again. More rounds come with a larger `max_loops`.",
    ]
    for machine in MACHINES:
        title, about = HEADS[machine.name]
        lines += ["", f"## {title}", "", about, "", *drawing(machine), "", *rows(machine)]
    return "\n".join(lines) + "\n"


def test_the_page_is_drawn_from_the_tables() -> None:
    if os.environ.get("AKMC_UPDATE_GOLDEN"):
        PAGE.write_text(page())
    assert PAGE.read_text() == page(), "run it with AKMC_UPDATE_GOLDEN=1 and read the diff"


@pytest.mark.parametrize(
    ("machine", "statuses"), [(RUN, RunStatus), (STEP, StepStatus), (UNIT, AttemptStatus)], ids=["run", "step", "unit"]
)
def test_every_status_is_reached_and_every_move_is_said_once(machine: Machine[Any], statuses: Any) -> None:
    assert {move.after for move in machine.moves} == set(get_args(statuses))
    keys = [(move.before, move.event, move.after) for move in machine.moves]
    assert len(keys) == len(set(keys))
    assert all(move.when for move in machine.moves)


@pytest.mark.parametrize("machine", MACHINES, ids=["run", "step", "unit"])
def test_every_other_move_is_refused_by_name(machine: Machine[Any]) -> None:
    statuses = sorted({move.after for move in machine.moves})
    legal = {(move.before, move.event, move.after) for move in machine.moves}
    refused = 0
    for before in [None, *statuses]:
        for event in sorted({move.event for move in machine.moves}):
            for after in statuses:
                if (before, event, after) in legal:
                    assert machine.move(before, event, after) == after
                    continue
                refused += 1
                with pytest.raises(IllegalTransition, match=f"{machine.name}: {event} cannot lead from"):
                    machine.move(before, event, after)
    assert refused > len(legal)


STARTED = UnitStarted(0, "a:solo", "a:solo", 1, 1, "unit", "first", "0" * 64)
FINISHED = UnitFinished(0, "a:solo", "a:solo", "x")
ILLEGAL: list[list[Event]] = [
    [RunResumed()],
    [RunSettled("completed"), RunAbandoned()],
    [RunSettled("completed"), RunSettled("failed")],
    [RunSettled("failed"), RunAbandoned()],
    [StepSettled(0, "completed"), StepSettled(0, "failed")],
    [StepSettled(0, "completed"), StepLooped(0, 2, "again")],
    [StepSettled(0, "pending")],
    [STARTED, FINISHED, FINISHED],
]


@pytest.mark.parametrize("events", ILLEGAL, ids=range(len(ILLEGAL)))
def test_core_and_journal_refuse_what_is_not_in_the_table(
    plans: PlanMaker, tmp_path: Path, events: list[Event]
) -> None:
    plan = plans.plan(plans.step("a"))
    core = Core(plan, RunFacts({}, 8))
    for event in events[:-1]:
        core.apply(event)
    with pytest.raises(IllegalTransition):
        core.apply(events[-1])

    journal = Journal.create_or_open(tmp_path / "state.db")
    try:
        run_id = publish(journal, plan, plans.data(plans.step("a")), {}, tmp_path, Origin())
        if events[:-1]:
            journal.commit(run_id, events[:-1], AT)
        before = list(journal.connection.iterdump())
        with pytest.raises(IllegalTransition):
            journal.commit(run_id, [events[-1]], AT)
        assert list(journal.connection.iterdump()) == before, "the whole decision is taken back"
    finally:
        journal.close()


def test_an_attempt_cannot_start_before_the_one_before_it_has_ended(plans: PlanMaker) -> None:
    core = Core(plans.plan(plans.step("a")), RunFacts({}, 8))
    core.apply(STARTED)
    again = UnitStarted(0, "a:solo", "a:solo~r1", 2, 1, "unit", "again", "1" * 64)
    with pytest.raises(IllegalTransition, match=r"unit: unit\.started cannot lead from running"):
        core.apply(again)
    core.take_over()
    with pytest.raises(IllegalTransition, match="cannot start before a:solo is closed"):
        core.apply(again)


def test_an_id_that_is_taken_is_refused_by_the_file(plans: PlanMaker, tmp_path: Path) -> None:
    journal = Journal.create_or_open(tmp_path / "state.db")
    try:
        run_id = publish(journal, plans.plan(plans.step("a")), plans.data(plans.step("a")), {}, tmp_path, Origin())
        journal.commit(run_id, [STARTED], AT)
        with pytest.raises(sqlite3.IntegrityError):
            journal.commit(run_id, [STARTED], AT)
    finally:
        journal.close()


def failing(end: Callable[..., UnitFinished], started: UnitStarted) -> UnitFinished:
    return end(started, None, "timeout", diagnostic="too slow")


def test_a_lost_judge_call_about_something_else_is_closed(plans: PlanMaker, end: Callable[..., UnitFinished]) -> None:
    """Its driver crashed; then more retries are allowed, and what the judge is asked about is another artifact."""
    unit = plans.unit(retry={"max": 1, "on": ["timeout"]}, on_error="continue")
    plan = plans.plan(plans.step("m", unit, over="params.l", rubric="Good?"))
    facts = RunFacts({"l": [1]}, 8)
    core, log = Core(plan, facts, Limits(max_retries=0)), list[Event]()

    def decide(core: Core) -> UnitStarted:
        started = None
        while events := core.next(4):
            for event in events:
                core.apply(event)
                log.append(event)
                started = event if isinstance(event, UnitStarted) else started
        assert started is not None
        return started

    log.append(failing(end, decide(core)))
    core.apply(log[-1])
    assert decide(core).unit_id == "m:gate~l1"
    core = replay(plan, facts, log)
    log.append(end(decide(core), "better"))
    core.apply(log[-1])
    assert decide(core).unit_id == "m:gate~l1~r1"
    closed = [event for event in log if isinstance(event, UnitFinished) and event.unit_id == "m:gate~l1"]
    assert [event.reason for event in closed] == ["aborted"]
