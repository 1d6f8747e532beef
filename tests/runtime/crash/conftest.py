"""A run with everything in it, a nursery of drivers that are killed, and what must hold whatever happened."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from akm_schemas.hashing import target_hash

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

PROGRAM = Path(__file__).with_name("nursery.py")
RAN = 'echo "$AKM_UNIT_ID" >> ran.txt; '
ITEM = 'v=${AKM_ITEM#?}; v=${v%?}; case "$AKM_UNIT_ID$v" in *~r1b) ;; *b) exit 7 ;; esac; printf %s "$v"'
AGENT = RAN + 'cat > /dev/null; case $AKM_UNIT_ID in *~l2*) echo "polished text" ;; *) echo "rough text" ;; esac'
JUDGE = (
    RAN + 'case "$(cat)" in *polished*) echo \'{"complete": true}\' ;;'
    ' *) echo \'{"complete": false, "missing": ["shine"], "feedback": "shine it"}\' ;; esac'
)
REPEATED = "dispatched again under the same id: its driver ended before the result was recorded"
COMPOSING = "kid:solo"  # its process is the driver itself, so nothing is appended for it


def with_engine(target: dict[str, Any], script: str, unit: dict[str, Any] | None = None) -> dict[str, Any]:
    """``target``, a command, asked of an agent that is a shell script."""
    engine = {"kind": "agent", "name": "tool", "platform": "command", "bin": "sh", "args": ["-c", script]}
    changed = {name: value for name, value in target.items() if name != "contentHash"} | {"engine": engine}
    more = {} if unit is None else {"env": unit["env"], "instructions": unit["instructions"]}
    return changed | {"contentHash": target_hash(changed, **more)}


def make_plan(plans: PlanMaker) -> bytes:
    """Map, retry, route, a gate that loops, a child, exports."""
    child = plans.data(
        plans.step("first", plans.unit("sh", "-c", RAN + "echo one")),
        plans.step("second", plans.unit("sh", "-c", RAN + 'printf %s "$AKM_INPUTS"'), ["steps.first.output"]),
        outputs={"result": "steps.second.output"},
    )
    mapped = plans.unit("sh", "-c", RAN + ITEM, retry={"max": 1, "on": ["non_zero_exit"]})
    draft = plans.step("draft", plans.ask(), ["steps.left.output"], rubric="- it shines", loops=2)
    draft["unit"]["target"] = with_engine(draft["unit"]["target"], AGENT, draft["unit"])
    draft["gate"]["judge"] = with_engine(draft["gate"]["judge"], JUDGE)
    return plans.data(
        plans.step("map", mapped, over="params.list", concurrency=2),
        plans.route("pick", "steps.map.output[0]", [("a", "left")], default="right"),
        plans.step("left", plans.unit("sh", "-c", RAN + "echo left")),
        plans.step("right", plans.unit("sh", "-c", RAN + "echo right")),
        draft,
        plans.step("kid", plans.child(child), ["steps.draft.output"]),
        plans.step("end", plans.unit("sh", "-c", RAN + 'printf %s "$AKM_INPUTS"'), ["steps.kid.output"]),
        params={"list": {"type": "array", "default": ["a", "b", "c"]}},
        outputs={"map": "steps.map.output", "text": "steps.draft.output", "end": "steps.end.output"},
    )


@dataclass(frozen=True)
class Ended:
    """How a driver ended: its status (negative: a signal), and the labels of the fault points that it passed."""

    status: int
    points: list[str]


class Nursery:
    """Starts drivers, see ``nursery.py``."""

    def __init__(self, env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
        )

    def drive(self, folder: Path, *argv: str, at: int | None = None, after: float | None = None) -> Ended:
        """One driver in ``folder``, from its start to its end."""
        assert self._process.stdin is not None and self._process.stdout is not None
        request = {"argv": [*argv, "--json", "--host-concurrency", "2"], "cwd": str(folder), "at": at, "after": after}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return Ended(**json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the program."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait() == 0


@dataclass(frozen=True)
class Rows:
    """What a state file says: the root's id, unit id -> (status, spawns), and everything that no crash may change."""

    root: str | None = None
    units: dict[str, tuple[str, int]] = field(default_factory=dict)
    lasting: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)


@dataclass
class Trial:
    """One run in a folder of its own, under however many drivers it takes."""

    folder: Path
    nursery: Nursery
    kills: int = 0
    in_flight: Counter[str] = field(default_factory=Counter)
    settled: dict[str, tuple[str, int]] = field(default_factory=dict)

    def kill(self, *, at: int | None = None, after: float | None = None) -> bool:
        """A driver that is killed; ``False`` when it was done before. Checks what had been finished before it."""
        root = rows(self.folder).root
        ended = self.nursery.drive(self.folder, root or "plan.json", at=at, after=after)
        assert ended.status in (-9, 0), (self.folder / "stderr.txt").read_text()
        self._look(killed=ended.status != 0)
        return ended.status != 0

    def finish(self) -> Rows:
        """Drive to the end; the run as it is then."""
        root = rows(self.folder).root
        ended = self.nursery.drive(self.folder, root or "plan.json")
        assert ended.status == 0, (self.folder / "stderr.txt").read_text()
        return self._look(killed=False)

    def ran(self) -> Counter[str]:
        """How often each unit appended to the file that is its effect."""
        log = self.folder / "ran.txt"
        return Counter(log.read_text().split()) if log.exists() else Counter()

    def _look(self, *, killed: bool) -> Rows:
        found = rows(self.folder)
        now = {unit: row for unit, row in found.units.items() if row[0] != "running"}
        assert {unit: now.get(unit) for unit in self.settled} == self.settled, "a recorded result was lost or changed"
        self.settled = now
        if killed:
            self.kills += 1
            self.in_flight.update(unit for unit, row in found.units.items() if row[0] == "running")
        return found

    def check(self, straight: Rows) -> None:
        """The run has ended as if nothing had happened, and only what was in flight at a kill ran again."""
        found = self.finish()
        ran = self.ran()
        assert found.lasting == straight.lasting
        assert found.units.keys() == straight.units.keys()
        for unit, (status, spawns) in found.units.items():
            assert status == straight.units[unit][0]
            assert 1 <= spawns <= 1 + self.in_flight[unit], f"{unit} ran again without having been in flight"
            if unit != COMPOSING:
                assert 1 <= ran[unit] <= spawns, f"{unit} ran {ran[unit]} times, the journal says {spawns}"
        assert ran.keys() <= found.units.keys()
        assert list((self.folder / ".akm" / "state.db.locks").iterdir()) == []


def rows(folder: Path) -> Rows:
    """What the state file says. A copy is read, so that looking recovers nothing that the next driver should."""
    if not (folder / ".akm" / "state.db").exists():
        return Rows()
    copy = folder / "copy"
    copy.mkdir(exist_ok=True)
    for name in ("state.db", "state.db-wal"):
        (copy / name).unlink(missing_ok=True)
        if (folder / ".akm" / name).exists():
            shutil.copyfile(folder / ".akm" / name, copy / name)
    (copy / "state.db-shm").unlink(missing_ok=True)
    with closing(sqlite3.connect(copy / "state.db")) as raw:
        if raw.execute("PRAGMA user_version").fetchone() == (0,):
            return Rows()
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
        found = raw.execute("SELECT run_id FROM runs WHERE parent_run IS NULL").fetchall()
        assert len(found) <= 1
        units = {
            unit: (status, spawns) for unit, status, spawns in raw.execute("SELECT unit_id, status, spawns FROM units")
        }
        return Rows(found[0][0] if found else None, units, lasting(raw))


def lasting(raw: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Everything but ids of runs, times, the count of spawns and their notices; starts and resumptions told once."""
    run = "(SELECT title || coalesce(parent_unit, '') FROM runs WHERE runs.run_id = {0}.run_id)"
    queries = {
        "runs": "SELECT status, title, ref, plan_hash, content_hash, params, width, outputs, parent_unit, parent_hash FROM runs",
        "steps": f"SELECT {run.format('steps')}, step, step_id, kind, status, reason, summary, selected, loop, feedback,"
        " unit_count, failed_units, artifact FROM steps",
        "units": f"SELECT {run.format('units')}, unit_id, step, key, role, attempt, loop, cause, input_hash, item_index, status,"
        " reason, diagnostic, errors, tokens, result FROM units",
        "events": f"SELECT {run.format('events')}, type, step, unit_id, status FROM events WHERE type != 'unit.started'",
        "started": f"SELECT DISTINCT {run.format('events')}, step, unit_id FROM events WHERE type = 'unit.started'",
        "notices": f"SELECT {run.format('notices')}, step, unit_id, text FROM notices WHERE text != '{REPEATED}'",
    }
    return {name: sorted(raw.execute(query).fetchall(), key=repr) for name, query in queries.items()}


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """The nursery of this worker."""
    home = tmp_path_factory.mktemp("home")
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "AKM_CONFIG_DIR": str(home / "akm"), "LC_ALL": "C.UTF-8"}
    if "PYTHONPATH" in os.environ:
        env["PYTHONPATH"] = os.environ["PYTHONPATH"]
    opened = Nursery(env)
    yield opened
    opened.close()


class Trials:
    """Makes trials of one plan, and knows what a straight run of it leaves."""

    def __init__(self, data: bytes, folder: Path, nursery: Nursery) -> None:
        self._data = data
        self._folder = folder
        self._nursery = nursery
        self._made = 0
        first = self.new()
        ended = nursery.drive(first.folder, "plan.json")
        assert ended.status == 0, (first.folder / "stderr.txt").read_text()
        self.points = ended.points
        self.straight = rows(first.folder)
        assert first.ran() == Counter(self.straight.units.keys() - {COMPOSING})

    def new(self) -> Trial:
        """A run that nobody has started yet."""
        if self._made > 1:
            shutil.rmtree(self._folder / f"trial{self._made}", ignore_errors=True)  # of a failure the last one stays
        self._made += 1
        folder = self._folder / f"trial{self._made}"
        (folder / ".akm").mkdir(parents=True)
        (folder / "plan.json").write_bytes(self._data)
        return Trial(folder, self._nursery)


@pytest.fixture(scope="session")
def trials(plans: PlanMaker, nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Trials:
    """Trials of the run with everything in it."""
    return Trials(make_plan(plans), tmp_path_factory.mktemp("trials"), nursery)
