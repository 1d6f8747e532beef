"""kill -9 at fifty moments of a 200-unit map: each finished unit ran once, and the result is that of a straight run."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

ITEMS = 200
KILLS = 50
LATEST_KILL = ITEMS - 40  # later ones would race with the end of the map


def executions(folder: Path) -> Counter[str]:
    log = folder / "n.txt"
    return Counter(log.read_text().split()) if log.exists() else Counter()


def completed(state: Path) -> set[str]:
    with closing(sqlite3.connect(state)) as raw:
        return {row[0] for row in raw.execute("SELECT unit_id FROM units WHERE status = 'completed'")}


def kill_once(arguments: list[str], folder: Path, chance: random.Random, env: dict[str, str]) -> bool:
    """Start a driver and kill it: before it does anything, or after a few more units have begun.

    ``False`` when the driver was done before it could be killed, which a busy machine makes possible.
    """
    log = folder / "n.txt"
    size = log.stat().st_size if log.exists() else 0
    argv = [sys.executable, "-m", "akm_run", *arguments, "--host-concurrency", "4", "--json"]
    process = subprocess.Popen(argv, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if chance.random() < 0.1:
        time.sleep(chance.random() * 0.4)
    else:
        line, more = len("m:0123456789abcdef\n"), chance.randrange(1, 4)
        end = time.monotonic() + 60
        while (not log.exists() or log.stat().st_size < size + more * line) and process.poll() is None:
            assert time.monotonic() < end, "the driver did not get on"
            time.sleep(0.001)
        time.sleep(chance.random() * 0.004)
    os.kill(process.pid, signal.SIGKILL)
    status = process.wait()
    assert status in (-signal.SIGKILL, 0)
    return status != 0


def test_fifty_kills(tmp_path: Path, plans: PlanMaker) -> None:
    unit = plans.unit("sh", "-c", 'echo "$AKM_UNIT_ID" >> n.txt; printf %s "$AKM_ITEM"')
    data = plans.data(
        plans.step("m", unit, over="params.l", concurrency=4), params={"l": {"default": list(range(ITEMS))}}
    )
    (tmp_path / "plan.json").write_bytes(data)
    (tmp_path / ".akm").mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "AKM_CONFIG_DIR": str(tmp_path / "config")}
    argv = [sys.executable, "-m", "akm_run"]
    options = {"cwd": tmp_path, "env": env, "capture_output": True, "text": True}
    chance = random.Random(20260301)
    state = tmp_path / ".akm" / "state.db"
    kills = runs = 0
    while kills < KILLS:
        runs += 1
        (tmp_path / "n.txt").unlink(missing_ok=True)
        for name in state.parent.iterdir():
            if name.is_file():
                name.unlink()
        subprocess.run([*argv, "plan.json", "--json", "--timeout", "1ms"], check=False, **options)  # type: ignore[call-overload]
        with closing(sqlite3.connect(state)) as raw:
            ((run_id,),) = raw.execute("SELECT run_id FROM runs").fetchall()
        settled: dict[str, int] = {}
        while kills < KILLS and len(settled) < LATEST_KILL:
            killed = kill_once([run_id], tmp_path, chance, env)
            kills += killed
            counts = executions(tmp_path)
            assert {unit: counts[unit] for unit in settled} == settled, "a finished unit ran again"
            settled |= {unit: counts[unit] for unit in completed(state) if unit not in settled}
            if not killed:
                break
        last = subprocess.run([*argv, run_id, "--json", "--host-concurrency", "4"], check=False, **options)  # type: ignore[call-overload]
        assert last.returncode == 0, last.stderr
        counts = executions(tmp_path)
        assert {unit: counts[unit] for unit in settled} == settled, "a finished unit ran again"
        with closing(sqlite3.connect(state)) as raw:
            rows = raw.execute("SELECT key, sum(spawns), sum(status = 'completed') FROM units GROUP BY key").fetchall()
            (artifact,) = raw.execute("SELECT artifact FROM steps").fetchone()
        assert len(rows) == ITEMS
        assert all(done == 1 for _, _, done in rows)
        ran = Counter(unit.partition("~")[0] for unit in counts.elements())
        assert all(1 <= ran[key] <= spawns for key, spawns, _ in rows)
        assert artifact.decode() == "[" + ",".join(f'"{item}"' for item in range(ITEMS)) + "]"
    assert kills == KILLS and runs <= 10
