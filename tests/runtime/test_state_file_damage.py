"""Bytes of a state file changed behind SQLite's back: no command crashes, and a damaged WAL costs its last decisions only."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from akm_run import cli

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Damage = Callable[[random.Random, bytearray], None]
STATE = Path(".akm", "state.db")
PAGE = 4096
TRIES = int(os.environ.get("AKMC_DAMAGES", "6"))


@dataclass(frozen=True)
class Sound:
    """A folder with an undamaged state file of two runs: one active after a step, one failed; both have a child."""

    folder: Path
    content: bytes
    active: str
    failed: str

    def put(self, content: bytes) -> None:
        """Make ``content`` the state file."""
        for suffix in ("-wal", "-shm"):
            (self.folder / f"{STATE}{suffix}").unlink(missing_ok=True)
        (self.folder / STATE).write_bytes(content)

    def commands(self) -> list[tuple[list[str], int]]:
        """Every command on these runs, and its exit status with the sound file."""
        looking = ["status", "events", "output", "logs"]
        return [
            *(([name, self.failed], 0) for name in looking),
            (["list", "--children"], 0),
            (["report", self.failed, "-o", "r.html"], 0),
            (["why", self.failed, "z:solo"], 0),
            (["export", self.failed, "-o", "e"], 0),
            (["resume", self.failed], 0),
            ([self.active, "--json"], 1),
            (["abandon", self.active], 0),
            (["plan.json", "--reuse", self.failed, "--dry-run"], 0),
            (["plan.json", "--json"], 1),
            (["prune", "--older-than", "0s"], 0),
            (["import", str(STATE)], 2),  # its runs are there already
        ]


@pytest.fixture
def sound(run_program: Run, tmp_path: Path, plans: PlanMaker, monkeypatch: pytest.MonkeyPatch) -> Sound:
    kid = plans.child(plans.data(plans.step("leaf", plans.unit("echo", "leaf"))))
    big = plans.unit("sh", "-c", 'printf %s "$AKM_ITEM"; head -c 9000 /dev/zero | tr "\\0" x')
    steps = (
        plans.step("kid", kid),
        plans.step("m", big, over="params.l"),
        plans.step("z", plans.unit("test", "-e", "ok")),
    )
    params = {"l": {"type": "array", "default": [1, 2, 3]}}
    (tmp_path / "plan.json").write_bytes(plans.data(*steps, params=params))
    active = json.loads(run_program("akm-run", "plan.json", "--json", "--max-steps", "1").stdout)["runId"]
    failed = json.loads(run_program("akm-run", "plan.json", "--json", expect=1).stdout)["runId"]
    with closing(sqlite3.connect(tmp_path / STATE)) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "config"))
    return Sound(tmp_path, (tmp_path / STATE).read_bytes(), active, failed)


def some_bytes(chance: random.Random, content: bytearray) -> None:
    at = chance.randrange(len(content))
    content[at : at + 64] = chance.randbytes(len(content[at : at + chance.randrange(1, 64)]))


def a_page(chance: random.Random, content: bytearray) -> None:
    page = chance.randrange(len(content) // PAGE)
    content[page * PAGE : (page + 1) * PAGE] = chance.randbytes(PAGE)


def the_end(chance: random.Random, content: bytearray) -> None:
    del content[chance.randrange(1, len(content)) :]


def the_header(chance: random.Random, content: bytearray) -> None:
    content[chance.randrange(100)] = chance.randrange(256)


@pytest.fixture
def raised(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[BaseException]]:
    """What would have become an internal error with a report."""
    found: list[BaseException] = []

    def note(error: BaseException, _: object) -> str:
        found.append(error)
        return "nowhere"

    monkeypatch.setattr("akm_run.crash.write_report", note)
    yield found
    assert found == []


@pytest.mark.parametrize("damage", [some_bytes, a_page, the_end, the_header])
def test_no_command_crashes(
    sound: Sound, damage: Damage, raised: list[BaseException], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    chance = random.Random(damage.__name__)
    codes: Counter[int] = Counter()
    for _ in range(TRIES):
        content = bytearray(sound.content)
        damage(chance, content)
        for command, _ in sound.commands():
            sound.put(bytes(content))
            code = cli.run(command)
            said = capfdbinary.readouterr().err.decode()
            assert code in (0, 1, 2), f"{command}: {said}"
            assert raised == [], command
            if ("damaged" in said or "no database" in said) and command[0] != "import":
                assert code == 2 and 'state.db" is' in said and "help: " in said
            codes[code] += 1
        assert not list(Path(".akm", "state.db.locks").glob("*")), "a lock was left"
    assert codes[2] > TRIES and codes.total() == TRIES * len(sound.commands())


def test_the_commands_work_on_the_sound_file(sound: Sound, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for command, wanted in sound.commands():
        sound.put(sound.content)
        assert (command, cli.run(command)) == (command, wanted), capfdbinary.readouterr().err.decode()


def killed_with_wal(run_program: Run, folder: Path, plans: PlanMaker) -> str:
    """A run whose driver was killed in the middle of a map, with all of its decisions still in the WAL."""
    script = 'test "$AKM_ITEM" != 9 || test -e killed || { touch killed; kill -9 $PPID; exit; }; printf %s "$AKM_ITEM"'
    data = plans.data(
        plans.step("m", plans.unit("sh", "-c", script), over="params.l", concurrency=1),
        params={"l": {"type": "array", "default": list(range(20))}},
    )
    (folder / "plan.json").write_bytes(data)
    done = run_program("akm-run", "plan.json", "--json", expect=None)
    assert done.returncode == -9
    shutil.copytree(folder / ".akm", folder / "copy")
    with closing(sqlite3.connect(folder / "copy" / "state.db")) as raw:
        ((run_id,),) = raw.execute("SELECT run_id FROM runs").fetchall()
    return str(run_id)


@pytest.mark.parametrize("seed", range(6))
def test_a_damaged_wal_costs_its_last_decisions_only(
    run_program: Run, tmp_path: Path, plans: PlanMaker, seed: int
) -> None:
    run_id = killed_with_wal(run_program, tmp_path, plans)
    wal = tmp_path / f"{STATE}-wal"
    chance = random.Random(seed)
    content = bytearray(wal.read_bytes())
    half = len(content) // 2  # the run was published in the first half
    if seed % 2:
        at = chance.randrange(half, len(content) - 8)
        content[at : at + 8] = chance.randbytes(8)
    else:
        del content[chance.randrange(half, len(content)) :]
    wal.write_bytes(content)
    (tmp_path / STATE).with_name("state.db-shm").unlink(missing_ok=True)
    before = json.loads(run_program("akm-run", "status", run_id, "--units", "--json").stdout)
    assert before["status"] == "active"
    found: dict[str, Any] = json.loads(run_program("akm-run", run_id, "--json").stdout)
    assert found["status"] == "completed"
    assert found["steps"][0]["output"] == [str(item) for item in range(20)]
