"""The journal, on real SQLite files."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from akm_run.core import Core, replay
from akm_run.events import (
    Event,
    NoticeRaised,
    RunResumed,
    RunSettled,
    StepSettled,
    UnitFinished,
    UnitStarted,
)
from akm_run.faults import UsageFault
from akm_run.journal import SCHEMA_VERSION, Journal
from akm_run.opening import RunFacts
from akm_run.rows import Publication
from akm_schemas.bounds import RESULT_INLINE_BYTES
from akm_schemas.plan import Plan

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker, World

End = Callable[..., UnitFinished]
AT = "2026-03-01T12:00:00.000Z"


def published(journal: Journal, plan: Plan, run_id: str = "r1", params: dict[str, Any] | None = None) -> str:
    steps = tuple((step.id, step.kind) for step in plan.steps)
    journal.publish(
        Publication(run_id, b"{}", "Case", "workflows/case", "p", "c", bool(plan.outputs), params or {}, 8, steps), AT
    )
    return run_id


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.create_or_open(tmp_path / ".akm" / "state.db")) as opened:
        yield opened


def test_files_are_private(journal: Journal) -> None:
    folder = journal.path.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes.keys() >= {"state.db"}
    assert set(modes.values()) == {0o600}


def test_reading_creates_nothing(tmp_path: Path) -> None:
    assert Journal.open(tmp_path / "none.db") is None
    assert list(tmp_path.iterdir()) == []


def test_a_newer_file_is_refused(journal: Journal) -> None:
    with closing(sqlite3.connect(journal.path)) as raw, raw:
        raw.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    for opening in (Journal.open, Journal.create_or_open):
        with pytest.raises(UsageFault, match="newer akm-run"):
            opening(journal.path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("no database, but long enough to look at " * 30)
    with pytest.raises(UsageFault, match="state file"):
        Journal.open(path)


def test_a_folded_journal_is_the_core_that_wrote_it(
    journal: Journal, plans: PlanMaker, world: type[World], end: End
) -> None:
    plan = plans.plan(
        plans.step("m", plans.unit(on_error="continue", retry={"max": 1, "on": ["timeout"]}), over="params.l"),
        plans.route("r", "steps.m.output[0]", [("x", "p")], default="q"),
        plans.step("p"),
        plans.step("q", plans.ask(), rubric="- ok", loops=2),
    )
    verdicts = iter(['{"complete": false, "missing": [], "feedback": "again"}', '{"complete": true}'])

    def answer(started: UnitStarted) -> UnitFinished:
        if started.role == "judge":
            return end(started, next(verdicts))
        if started.index == 1:
            return end(started, None, "timeout", diagnostic="slow", errors=("one", "two"))
        return end(started, {"n": 1e20, "t": "ü"} if started.index == 2 else "value", tokens=3)

    here = world(answer)
    facts = RunFacts({"l": [1, 2, 3]}, 8)
    core = here.run(Core(plan, facts))
    assert core.status == "completed"
    published(journal, plan, params=facts.params)
    journal.commit("r1", here.log, AT)
    again = replay(plan, facts, journal.entries("r1"))
    assert [(s.status, s.artifact, s.selected, s.loop, s.feedback) for s in again.steps] == [
        (s.status, s.artifact, s.selected, s.loop, s.feedback) for s in core.steps
    ]
    assert (again.spent, again.status, again.cursor) == (core.spent, core.status, core.cursor)
    assert journal.spent("r1") == (core.spent.units, core.spent.tokens)
    assert [row.unit_id for row in journal.units("r1")] == here.started()


@pytest.mark.parametrize("cut", range(1, 9))
def test_any_committed_prefix_goes_on(
    journal: Journal, plans: PlanMaker, world: type[World], end: End, cut: int
) -> None:
    plan = plans.plan(plans.step("m", over="params.l"), plans.step("z", inputs=["steps.m.output"]))
    facts = RunFacts({"l": ["a", "b", "a"]}, 8)
    straight = world(lambda started: end(started, started.key))
    wanted = straight.run(Core(plan, facts)).steps[0].artifact
    assert len(straight.log) >= 8
    published(journal, plan, params=facts.params)
    journal.commit("r1", straight.log[:cut], AT)
    here = world(lambda started: end(started, started.key))
    core = here.run(replay(plan, facts, journal.entries("r1")))
    assert (core.status, core.steps[0].artifact) == ("completed", wanted)
    journal.commit("r1", here.log, AT)
    finished = [row.unit for row in journal.events("r1") if row.type == "unit.finished"]
    assert sorted(map(str, finished)) == sorted(set(straight.started()))


def test_a_decision_is_written_whole_or_not_at_all(journal: Journal, plans: PlanMaker) -> None:
    plan = plans.plan(plans.step("a"))
    published(journal, plan)
    started = UnitStarted(0, "a:solo", "a:solo", 1, 1, "unit", "first", "h")
    with pytest.raises(sqlite3.IntegrityError):
        journal.commit("r1", [started, started], AT)
    assert journal.units("r1") == []
    assert [row.type for row in journal.events("r1")] == ["run.published"]


def test_while_units_come_and_go_a_runs_last_change_is_written_once_a_second(
    journal: Journal, plans: PlanMaker, end: End
) -> None:
    published(journal, plans.plan(plans.step("m", over="params.l")), params={"l": [1, 2]})
    one, two = (UnitStarted(0, f"m:{n}", f"m:{n}", 1, 1, "unit", "first", "h", index=n, of=2) for n in range(2))
    times: list[str] = []

    def commit(event: Event, second: str) -> None:
        journal.commit("r1", [event], f"2026-03-01T12:00:{second}Z")
        row = journal.run("r1")
        assert row is not None
        times.append(row.updated_at[17:-1])

    commit(one, "00.100")
    commit(two, "00.900")
    commit(end(one, 1), "01.100")
    with pytest.raises(sqlite3.IntegrityError):
        journal.commit("r1", [two, two], "2026-03-01T12:00:02.000Z")
    commit(end(two, 2), "02.100")
    commit(StepSettled(0, "completed"), "02.200")
    assert times == ["00.100", "00.100", "01.100", "02.100", "02.200"]


def test_large_values_lie_once_beside_their_rows(journal: Journal, plans: PlanMaker) -> None:
    big = "x" * (RESULT_INLINE_BYTES.high + 1)
    plan = plans.plan(plans.step("a"))
    published(journal, plan)
    events: list[Event] = [
        UnitStarted(0, "a:solo", "a:solo", 1, 1, "unit", "first", "h"),
        UnitFinished(0, "a:solo", "a:solo", big),
    ]
    journal.commit("r1", events, AT)
    assert [row.value for row in journal.units("r1", values=True)] == [big]
    journal.commit("r1", [StepSettled(0, "completed", big)], AT)
    assert journal.steps("r1")[0].artifact == big
    assert [row.value for row in journal.units("r1", values=True)] == [None], "nobody reads a settled step's units"
    with closing(sqlite3.connect(journal.path)) as raw, raw:
        assert raw.execute("SELECT count(*), max(length(data)) FROM blobs").fetchone() == (1, len(big) + 2)
        assert raw.execute("SELECT result, artifact FROM units JOIN steps USING (run_id)").fetchone() == (None, None)


def test_readers_do_not_wait_for_a_writer(journal: Journal, plans: PlanMaker) -> None:
    published(journal, plans.plan(plans.step("a")))
    writer = sqlite3.connect(journal.path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE runs SET status = 'failed'")
    reader = Journal.open(journal.path)
    assert reader is not None
    run = reader.run("r1")
    assert run is not None and run.status == "active"
    writer.execute("COMMIT")
    assert [row.status for row in reader.runs()] == ["failed"]
    writer.close()
    reader.close()


def test_commits_survive_the_machine(journal: Journal) -> None:
    assert journal._db.execute("PRAGMA synchronous").fetchone() == (2,)
    assert journal._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_events_carry_no_text(journal: Journal, plans: PlanMaker) -> None:
    published(journal, plans.plan(plans.step("a")))
    batch: list[Event] = [
        UnitStarted(0, "a:solo", "a:solo", 1, 1, "unit", "first", "h"),
        UnitFinished(0, "a:solo", "a:solo", None, "timeout", "secret words", ("secret errors",)),
        NoticeRaised(0, "secret notice"),
        StepSettled(0, "failed", None, None, "timeout", "secret summary"),
        RunSettled("failed"),
        RunResumed(),
    ]
    journal.commit("r1", batch, AT)
    rows = journal.events("r1")
    assert "secret" not in repr(rows)
    assert [row.seq for row in rows] == list(range(1, 7))
    assert [(row.type, row.step, row.unit, row.status) for row in rows] == [
        ("run.published", None, None, "active"),
        ("unit.started", "a", "a:solo", "running"),
        ("unit.finished", "a", "a:solo", "failed"),
        ("step.settled", "a", None, "failed"),
        ("run.settled", None, None, "failed"),
        ("run.resumed", None, None, "active"),
    ]
    assert journal.events("r1", since=4) == rows[4:]
    step = journal.steps("r1")[0]
    assert (step.status, step.reason, step.summary) == ("pending", None, None)


def test_notices_are_kept_once(journal: Journal, plans: PlanMaker) -> None:
    published(journal, plans.plan(plans.step("a")))
    for _ in range(2):
        journal.commit("r1", [NoticeRaised(0, "twice told"), NoticeRaised(0, "twice told", "a:solo")], AT)
    assert [(notice.unit, notice.text) for notice in journal.notices("r1")] == [
        (None, "twice told"),
        ("a:solo", "twice told"),
    ]
