"""Eight processes at one state file: one driver per run, documented answers for the others, no lock and no wait left."""

from __future__ import annotations

import json
import os
import random
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

WORKERS = 8
TURNS = 5
STEPS = 12
BUSY = re.compile(
    r"akm-run: (run \S+ is driven by process \d+ on \S+ since \d{4}-\S+|another driver has just taken run \S+)\n"
)


@dataclass(frozen=True)
class Told:
    """What a command said."""

    words: tuple[str, ...]
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Crowd:
    """Runs commands in ``folder``, eight at a time."""

    folder: Path

    def run(self, *words: str) -> Told:
        """One command."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "AKM_CONFIG_DIR": str(self.folder / "config")}
        argv = [sys.executable, "-m", "akm_run", *words]
        done = subprocess.run(argv, cwd=self.folder, env=env, capture_output=True, text=True, timeout=240)
        assert "Traceback" not in done.stderr and "locked" not in done.stderr, done.stderr
        return Told(words, done.returncode, done.stdout, done.stderr)

    def together(self, *commands: tuple[str, ...]) -> list[Told]:
        """The commands, all at once."""
        with ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(lambda words: self.run(*words), commands))

    def locks(self) -> list[str]:
        """The names of lock files."""
        return sorted(path.name for path in (self.folder / ".akm" / "state.db.locks").iterdir())


@pytest.fixture
def crowd(tmp_path: Path, plans: PlanMaker) -> Iterator[Crowd]:
    """A folder with a plan of twelve steps, each of which appends its name to a file."""
    unit = plans.unit("sh", "-c", 'echo "$AKM_UNIT_ID" >> n.txt; sleep 0.02')
    (tmp_path / "plan.json").write_bytes(plans.data(*(plans.step(f"s{number}", unit) for number in range(STEPS))))
    yield Crowd(tmp_path)


def test_eight_first_runs_at_once(crowd: Crowd) -> None:
    told = crowd.together(*[("plan.json", "--json")] * WORKERS)
    assert [one.code for one in told] == [0] * WORKERS, [one.err for one in told]
    assert len({json.loads(one.out)["runId"] for one in told}) == WORKERS
    assert len(json.loads(crowd.run("list", "--json").out)["runs"]) == WORKERS
    assert crowd.locks() == []


def test_one_of_eight_drivers_has_the_run(crowd: Crowd) -> None:
    run_id = json.loads(crowd.run("plan.json", "--json", "--max-steps", "1").out)["runId"]
    told = crowd.together(*[(run_id, "--json")] * WORKERS)
    assert {one.code for one in told} <= {0, 75}
    assert sum(one.code == 0 for one in told) >= 1
    for one in told:
        if one.code == 75:
            assert BUSY.match(one.err), one.err
            document = json.loads(one.out)
            assert document.keys() == {"runId", "error"} and document["runId"] == run_id
        else:
            assert json.loads(one.out)["status"] == "completed"
    assert Counter((crowd.folder / "n.txt").read_text().split()) == {f"s{number}:solo": 1 for number in range(STEPS)}
    assert crowd.locks() == []


# A driver that finds the run abandoned at the last moment drives nothing, and tells a run that has failed.
ALLOWED = {"drive": {0, 1, 2, 75}, "resume": {0, 2, 75}, "abandon": {0, 2, 75}}


def requests(run_id: str) -> dict[str, tuple[str, ...]]:
    return {
        "drive": (run_id, "--json", "--max-steps", "1"),
        "resume": ("resume", run_id),
        "abandon": ("abandon", run_id),
        "status": ("status", run_id, "--units", "--json"),
        "list": ("list", "--json"),
        "events": ("events", run_id),
    }


def test_eight_processes_that_do_everything_to_one_run(crowd: Crowd) -> None:
    run_id = json.loads(crowd.run("plan.json", "--json", "--max-steps", "1").out)["runId"]
    chance = random.Random(20260301)
    names = [
        chance.choice(["drive", "drive", "drive", "resume", "resume", *requests("")]) for _ in range(WORKERS * TURNS)
    ]
    assert set(names) == set(requests(""))
    told = crowd.together(*(requests(run_id)[name] for name in names))
    for name, one in zip(names, told, strict=True):
        assert one.code in ALLOWED.get(name, {0}), one
        match one.code:
            case 75:
                assert BUSY.match(one.err), one.err
            case 2:
                refused = f"run {run_id} is (failed: nothing was dispatched|completed and stays so)"
                assert re.match(f"akm-run: {refused}\n", one.err), one.err
    assert crowd.locks() == []
    assert crowd.run("resume", run_id).code in (0, 2)
    last = crowd.run(run_id, "--json")
    assert json.loads(last.out)["status"] == "completed" and crowd.locks() == []
    assert Counter((crowd.folder / "n.txt").read_text().split()) == {f"s{number}:solo": 1 for number in range(STEPS)}
    with closing(sqlite3.connect(crowd.folder / ".akm" / "state.db")) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert raw.execute("SELECT DISTINCT spawns FROM units").fetchall() == [(1,)]
        sequence = [row[0] for row in raw.execute("SELECT seq FROM events ORDER BY seq")]
        assert sequence == list(range(1, len(sequence) + 1))
