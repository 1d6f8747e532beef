"""akmc diff against contentHash: what moves the hash is told, what does not is one entry of provenance at most."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moving_sources import FRONT, MOVES, Sources, edit_at, written

from akm_schemas.plan import Plan
from akmc.diff.captured import captured
from akmc.diff.compare import compare_plans
from akmc.diff.model import PlanDiff
from akmc.diff.places import Sources as Texts
from akmc.session.freezing import compile_source

Row = tuple[str, str, tuple[str | int, ...], Any]
Side = tuple[Plan, Texts]


@pytest.fixture(scope="module", autouse=True)
def no_user_config() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as empty:
        patch.setenv("AKM_CONFIG_DIR", empty)
        yield


def sides(sources: Sources, seed: int) -> tuple[Side, Side]:
    """The Markdown and the YAML root in the form that ``seed`` gives, with their sources."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return tuple(_side(folder / root) for root in written(sources, random.Random(seed), folder))  # type: ignore[return-value]


def _side(path: Path) -> Side:
    result = compile_source(str(path))
    assert result.plan is not None, path.read_text()
    return result.plan, captured(result, str(path), None)


def compared(old: Side, new: Side) -> PlanDiff:
    return compare_plans(old[0], new[0], (old[1], new[1]))


def holds(old: Side, new: Side) -> PlanDiff:
    """The comparison, after what is true of every one was asserted."""
    diff = compared(old, new)
    meant = [change for change in diff.changes if change.class_ != "provenance"]
    moved = old[0].content_hash != new[0].content_hash
    assert bool(meant) == moved
    assert len(diff.changes) - len(meant) == (0 if moved or diff.equal else 1)
    assert diff.equal == (old[0].plan_hash == new[0].plan_hash)
    assert all(change.path != "contentHash" for change in meant), "a part that the comparison does not know"
    told = [(change.path, change.message) for change in diff.changes]
    assert len(told) == len(set(told)), "told twice"
    return diff


def gone_and_come(diff: PlanDiff) -> tuple[list[str], list[str]]:
    """Paths of steps, params and exports that were removed, and of those that were added."""
    gone = sorted(change.path for change in diff.changes if " is gone" in change.message)
    return gone, sorted(change.path for change in diff.changes if change.message.startswith("new "))


BASE: Final[list[tuple[Side, Side]]] = []


def base() -> tuple[Side, Side]:
    if not BASE:
        BASE.append(sides(Sources(), 0))
    return BASE[0]


@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_form_is_no_change_in_behaviour(one: int, other: int) -> None:
    """Comments, key order, quoting, places of files: whatever the form, two compilations never differ in meaning."""
    for old, new in zip(sides(Sources(), one), sides(Sources(), other), strict=True):
        diff = holds(old, new)
        assert [change.class_ for change in diff.changes] in ([], ["provenance"])


@pytest.mark.parametrize("row", MOVES, ids=lambda row: f"{row[1]}-{'.'.join(map(str, row[2]))}")
def test_every_key_that_moves_the_hash_is_told_with_its_place(row: Row) -> None:
    which, root, path, value = row
    sources = Sources()
    edit_at(root, *path)(sources, value)
    for kind, old, new in zip("MY", base(), sides(sources, len(path)), strict=True):
        diff = holds(old, new)
        assert bool([change for change in diff.changes if change.class_ != "provenance"]) == (kind in which)
        back = holds(new, old)
        assert gone_and_come(diff) == gone_and_come(back)[::-1]
        if kind in which and root in ("front", "yaml"):
            assert all(change.place for change in diff.changes if "frozenPlan" not in change.path)


@given(st.integers(0, 2**32), st.lists(st.sampled_from([row for row in MOVES if row[1] == "front"]), max_size=3))
def test_classes_do_not_depend_on_form(seed: int, rows: list[Row]) -> None:
    """The same edits in another order of keys, sections and files give the same changes of the same classes."""
    sources = Sources()
    applied: set[tuple[str | int, ...]] = set()
    for _, root, path, value in rows:
        if any(path[: len(done)] == done or done[: len(path)] == path for done in applied) or path == (
            "outputs",
            "all",
        ):
            continue
        applied.add(path)
        edit_at(root, *path)(sources, value)
    try:
        new = sides(sources, 0)[0]
    except AssertionError:
        return  # edits that do not go together: nothing to compare
    twin = sides(sources, seed)[0]
    told = [
        [(change.class_, change.path, change.message) for change in holds(base()[0], side).changes]
        for side in (new, twin)
    ]
    told = [[change for change in changes if change[0] != "provenance"] for changes in told]
    assert told[0] == told[1]


def test_the_table_moves_every_part_of_a_step() -> None:
    """A guard against an empty table: each key of the richest step is among the rows."""
    moved = {
        path[3] for _, root, path, _ in MOVES if root == "front" and path[:3] == ("steps", 0, "unit") and len(path) > 3
    }
    assert moved >= set(FRONT["steps"][0]["unit"])
