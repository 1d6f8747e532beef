"""What units write: one statement by itself where it can be, a transaction where more is written; the same rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from akm_run.events import Event, NoticeRaised, StepSettled, UnitFinished, UnitStarted
from akm_run.journal import Journal
from akm_run.journal.happened import ROWS
from akm_run.rows import Publication
from akm_run.transitions import IllegalTransition
from akm_schemas.bounds import RESULT_INLINE_BYTES

AT = "2026-03-01T12:00:00.000Z"


def started(number: int, *, respawn: bool = False) -> UnitStarted:
    key = f"m:{number:016x}"
    return UnitStarted(0, key, key, 1, 1, "unit", "first", f"{number:064x}", respawn, index=number, of=40)


def finished(number: int, value: Any = None, **columns: Any) -> UnitFinished:
    key = f"m:{number:016x}"
    return UnitFinished(0, key, key, value, **columns)


class Watched(sqlite3.Connection):
    """Remembers the beginnings of the statements that it was given."""

    seen: list[str]

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        self.seen.append(" ".join(sql.split()[:3]))
        return super().execute(sql, *values)


@pytest.fixture(autouse=True)
def _watched(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *values, **named: connect(*values, **{"factory": Watched, **named}))
    monkeypatch.setattr(Watched, "seen", [], raising=False)


def opened(path: Path) -> Journal:
    journal = Journal.create_or_open(path)
    steps = (("m", "map"), ("z", "unit"))
    journal.publish(Publication("r1", b"{}", "Case", "workflows/case", "p", "c", False, {}, 8, steps), AT)
    return journal


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(opened(tmp_path / "state.db")) as made:
        made.commit("r1", [started(0)], AT)  # says that the step began and the run changed
        yield made


LARGE = "x" * (RESULT_INLINE_BYTES.high + 1)
ALONE: list[list[Event]] = [
    [started(1)],
    [finished(0, "text")],
    [finished(0), started(1), started(2)],
    [finished(0, 3, tokens=7), started(1)],
    [finished(0, None, reason="timeout", diagnostic="slow", errors=("one", "two"))],
    [started(number) for number in range(1, ROWS + 1)],
]
MORE: list[list[Event]] = [
    [started(number) for number in range(1, 2 * ROWS)],
    [started(1), finished(0, ["a"])],
    [started(1), finished(0, LARGE)],
    [finished(0, "text"), NoticeRaised(0, "note", "m:0")],
    [finished(0, "text"), StepSettled(0, "completed", ["text"]), started(1)],
    [started(0, respawn=True)],
]


@pytest.mark.parametrize("batch", ALONE, ids=range(len(ALONE)))
def test_a_decision_about_units_is_one_statement(journal: Journal, batch: Sequence[Event]) -> None:
    Watched.seen.clear()
    journal.commit("r1", batch, AT)
    assert Watched.seen == ["INSERT INTO happened"]


@pytest.mark.parametrize("batch", MORE, ids=range(len(MORE)))
def test_whatever_may_write_more_is_a_transaction(journal: Journal, batch: Sequence[Event]) -> None:
    Watched.seen.clear()
    journal.commit("r1", batch, AT)
    seen = Watched.seen
    assert (seen[0], seen[-1]) == ("BEGIN IMMEDIATE", "COMMIT")


@pytest.mark.parametrize("batch", ALONE, ids=range(len(ALONE)))
def test_both_ways_write_the_same(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: Sequence[Event]
) -> None:
    journal.commit("r1", batch, AT)
    monkeypatch.setattr(Journal, "_is_one_statement", lambda *_: False)
    with closing(opened(tmp_path / "other.db")) as other:
        other.commit("r1", [started(0)], AT)
        Watched.seen.clear()
        other.commit("r1", batch, AT)
        assert Watched.seen[0] == "BEGIN IMMEDIATE"
        assert list(other.connection.iterdump()) == list(journal.connection.iterdump())


@pytest.mark.parametrize("wrong", [finished(1), finished(0), started(0)], ids=["unknown", "ended", "taken"])
@pytest.mark.parametrize("more", [[], [NoticeRaised(0, "note")]], ids=["one statement", "a transaction"])
def test_a_decision_with_a_wrong_row_leaves_nothing(journal: Journal, wrong: Event, more: list[Event]) -> None:
    journal.commit("r1", [finished(0)], AT)
    before = list(journal.connection.iterdump())
    with pytest.raises((IllegalTransition, sqlite3.IntegrityError)):
        journal.commit("r1", [started(2), *more, wrong], AT)
    assert not journal.connection.in_transaction
    assert list(journal.connection.iterdump()) == before
    journal.commit("r1", [started(2)], AT)
    assert [row.unit_id for row in journal.units("r1")] == [started(0).unit_id, started(2).unit_id]


def test_an_end_that_may_not_follow_is_named(journal: Journal) -> None:
    journal.commit("r1", [finished(0)], AT)
    with pytest.raises(IllegalTransition, match=r"unit: unit\.finished cannot lead from completed to failed"):
        journal.commit("r1", [finished(0, reason="timeout")], AT)


def test_the_entries_of_a_long_decision_are_numbered_in_order(journal: Journal) -> None:
    journal.commit("r1", [started(number) for number in range(1, 3 * ROWS)], AT)
    rows = list(journal.events("r1"))
    assert [row.seq for row in rows] == list(range(1, 3 * ROWS + 2))
    assert [row.unit for row in rows[1:]] == [started(number).unit_id for number in range(3 * ROWS)]


def test_the_state_file_knows_nothing_of_it(journal: Journal) -> None:
    with closing(sqlite3.connect(journal.path)) as raw:
        names = [name for (name,) in raw.execute("SELECT name FROM sqlite_master")]
    assert names and not any("happened" in name for name in names)
