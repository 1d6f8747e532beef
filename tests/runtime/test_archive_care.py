"""What prune must not forget, and exports and imports that others get in the way of."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from akm_run import lease

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
STATE = Path(".akm", "state.db")


def document(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


@pytest.fixture
def tree(run_program: Run, tmp_path: Path, plans: PlanMaker) -> tuple[str, str]:
    """A failed run and its failed child."""
    kid = plans.data(plans.step("leaf", plans.unit("test", "-e", "ok")))
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a"), plans.step("kid", plans.child(kid))))
    run_id = document(run_program("akm-run", "plan.json", "--json", expect=1))["runId"]
    (child,) = document(run_program("akm-run", "status", run_id, "--json"))["children"]
    return run_id, child["runId"]


def pruned(run_program: Run) -> list[str]:
    return list(document(run_program("akm-run", "prune", "--older-than", "0s", "--all", "--json"))["pruned"])


def test_a_tree_with_an_active_child_is_kept(run_program: Run, tree: tuple[str, str]) -> None:
    run_id, child = tree
    run_program("akm-run", "resume", child)
    assert pruned(run_program) == []
    run_program("akm-run", "abandon", child)
    assert pruned(run_program) == [run_id]
    run_program("akm-run", "status", child, expect=2)


def test_a_tree_whose_child_is_held_is_kept(run_program: Run, tmp_path: Path, tree: tuple[str, str]) -> None:
    run_id, child = tree
    held = lease.acquire(tmp_path / STATE, child)
    assert pruned(run_program) == []
    held.release()
    assert pruned(run_program) == [run_id]
    assert list((tmp_path / ".akm" / "state.db.locks").iterdir()) == []


def test_an_export_through_pipes(run_program: Run, tmp_path: Path, tree: tuple[str, str]) -> None:
    run_id, child = tree
    (tmp_path / "there" / ".akm").mkdir(parents=True)
    akm_run = f"{sys.executable} -m akm_run"
    script = f"{akm_run} export {run_id} -o - | (cd there && {akm_run} import -)"
    assert set(run_program("sh", "-c", script).stdout.split()) == {run_id, child}
    here, there = (
        run_program("akm-run", "status", run_id, "--json", cwd=at).stdout for at in (tmp_path, tmp_path / "there")
    )
    assert here == there


def test_an_export_while_a_driver_writes_is_of_one_moment(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    unit = plans.unit("sh", "-c", 'echo "$AKM_UNIT_ID"')
    params = {"l": {"type": "array", "default": list(range(400))}}
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("m", unit, over="params.l"), params=params))
    run_id = document(run_program("akm-run", "plan.json", "--json", "--timeout", "1ms", expect=1))["runId"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "AKM_CONFIG_DIR": str(tmp_path / "config")}
    argv = [sys.executable, "-m", "akm_run", run_id, "--json"]
    driver = subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen: list[int] = []
    while driver.poll() is None or not seen:
        run_program("akm-run", "export", run_id, "-o", "one.akmrun")
        with closing(sqlite3.connect(tmp_path / "one.akmrun")) as raw:
            assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
            ended = "SELECT count(*) FROM units WHERE status != 'running'"
            told = "SELECT count(*) FROM events WHERE type = 'unit.finished'"
            counts = [raw.execute(query).fetchone()[0] for query in (ended, told)]
        assert counts[0] == counts[1], "rows and events are of one moment"
        seen.append(counts[0])
    assert driver.wait() == 0


def test_imports_at_the_same_time(run_program: Run, tmp_path: Path, tree: tuple[str, str]) -> None:
    run_id, child = tree
    run_program("akm-run", "export", run_id, "-o", "one.akmrun")
    (tmp_path / "there" / ".akm").mkdir(parents=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "AKM_CONFIG_DIR": str(tmp_path / "config")}
    argv = [sys.executable, "-m", "akm_run", "import", "../one.akmrun"]
    started = [
        subprocess.Popen(
            argv, cwd=tmp_path / "there", env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    ended = [(*process.communicate(timeout=120), process.returncode) for process in started]
    assert sorted(code for _, _, code in ended) == [0, 2, 2, 2, 2, 2]
    for out, err, code in ended:
        assert set(out.split()) == ({run_id, child} if code == 0 else set())
        assert ("nothing was imported" in err) == (code == 2), err
