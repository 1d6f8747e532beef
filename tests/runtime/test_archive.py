"""Whole runs out of a state file and back: prune, export, import."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def document(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


@pytest.fixture
def plan(tmp_path: Path, plans: PlanMaker) -> str:
    """A big result, a child, and a last step that fails until there is a file ``ok``."""
    big = plans.unit("python3", "-c", "import sys; sys.stdout.write('x' * 1200000)")
    data = plans.data(
        plans.step("big", big),
        plans.step("kid", plans.child(plans.data(plans.step("a", plans.unit("echo", "leaf"))))),
        plans.step("z", plans.unit("sh", "-c", "test -e ok && echo done")),
    )
    (tmp_path / "plan.json").write_bytes(data)
    return "plan.json"


def counts(tmp_path: Path) -> list[int]:
    raw = sqlite3.connect(tmp_path / ".akm" / "state.db")
    found = [
        raw.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("runs", "units", "events", "blobs")
    ]
    raw.close()
    return found


def test_old_runs_are_forgotten_and_active_ones_kept(run_program: Run, tmp_path: Path, plan: str) -> None:
    old = document(run_program("akm-run", plan, "--json", expect=1))["runId"]
    active = document(run_program("akm-run", plan, "--json", "--max-steps", "1"))["runId"]
    logs = tmp_path / ".akm" / "state.db.logs"
    assert (logs / f"{old}.jsonl").is_file()
    assert run_program("akm-run", "prune", "--older-than", "1h").stdout == ""
    assert run_program("akm-run", "prune", "--all", "--older-than", "0s", "--dry-run").stdout == f"{old}\n"
    assert counts(tmp_path)[0] == 3
    size = (tmp_path / ".akm" / "state.db").stat().st_size
    assert document(run_program("akm-run", "prune", "--all", "--older-than", "0s", "--json"))["pruned"] == [old]
    assert counts(tmp_path)[0] == 1 and counts(tmp_path)[3] == 1
    assert not (logs / f"{old}.jsonl").exists() and (logs / f"{active}.jsonl").exists()
    assert (tmp_path / ".akm" / "state.db").stat().st_size <= size
    run_program("akm-run", "status", old, expect=2)
    run_program("akm-run", "abandon", active)
    run_program("akm-run", "prune", "--all", "--older-than", "0s")
    assert counts(tmp_path) == [0, 0, 0, 0]
    assert "--older-than" in run_program("akm-run", "prune", "--older-than", "soon", expect=2).stderr


def test_what_can_go_on_is_kept_and_said(run_program: Run, tmp_path: Path, plan: str, plans: PlanMaker) -> None:
    failed = document(run_program("akm-run", plan, "--json", expect=1))["runId"]
    (tmp_path / "poor.json").write_bytes(plans.data(plans.step("a"), plans.step("b"), budget={"maxUnits": 1}))
    spent = document(run_program("akm-run", "poor.json", "--json", expect=1))["runId"]
    given_up = document(run_program("akm-run", plan, "--json", "--max-steps", "1"))["runId"]
    run_program("akm-run", "abandon", given_up)
    told = run_program("akm-run", "prune", "--older-than", "0s", "--dry-run")
    assert set(told.stdout.split()) == {spent, given_up}
    assert f"kept: run {failed}, failed: akm-run resume {failed} could go on with it, prune --all" in told.stderr
    done = document(run_program("akm-run", "prune", "--older-than", "0s", "--json"))
    assert (set(done["pruned"]), done["kept"]) == ({spent, given_up}, [{"runId": failed, "why": "failed"}])
    run_program("akm-run", "status", failed)
    assert document(run_program("akm-run", "prune", "--all", "--older-than", "0s", "--json"))["pruned"] == [failed]


def test_a_run_moves_to_another_scope_and_goes_on_there(run_program: Run, tmp_path: Path, plan: str) -> None:
    run_id = document(run_program("akm-run", plan, "--json", expect=1))["runId"]
    run_program("akm-run", plan, expect=1)
    run_program("akm-run", "export", run_id, "-o", "one.akmrun")
    assert sorted(path.name for path in tmp_path.glob("*one*")) == ["one.akmrun"]
    looked_at = run_program("akm-run", "status", run_id, "--db", "one.akmrun", "--json")
    assert looked_at.stdout == run_program("akm-run", "status", run_id, "--json").stdout
    there = tmp_path / "there"
    (there / ".akm").mkdir(parents=True)
    (there / "ok").touch()
    imported = run_program("akm-run", "import", "../one.akmrun", cwd=there).stdout.split()
    assert len(imported) == 2 and run_id in imported
    here, copy = (
        document(run_program("akm-run", "status", run_id, "--units", "--json", cwd=c)) for c in (tmp_path, there)
    )
    assert copy == here
    events = [run_program("akm-run", "events", run_id, cwd=c).stdout for c in (tmp_path, there)]
    assert events[0] == events[1] != ""
    again = run_program("akm-run", "import", "../one.akmrun", cwd=there, expect=2)
    assert "already" in again.stderr
    run_program("akm-run", "resume", run_id, cwd=there)
    done = document(run_program("akm-run", run_id, "--json", cwd=there))
    assert (done["status"], done["steps"][2]["output"], len(done["steps"][0]["output"])) == (
        "completed",
        "done",
        1_200_000,
    )


def test_what_export_and_import_refuse(run_program: Run, tmp_path: Path, plan: str) -> None:
    run_id = document(run_program("akm-run", plan, "--json", "--max-steps", "1"))["runId"]
    (tmp_path / "notes.txt").write_text("no runs here, " * 100)
    (tmp_path / "empty").touch()
    for words, says in (
        (["import", "none"], "cannot read"),
        (["import", "notes.txt"], "is no export of akm-run"),
        (["import", "empty"], "is no export of akm-run"),
        (["export", run_id, "-o", "none/x"], "cannot write"),
        (["export", run_id, "-o", ".akm/state.db"], "the state file itself"),
        (["export", "none", "-o", "x"], "no run of"),
    ):
        assert says in run_program("akm-run", *words, expect=2).stderr


def test_a_full_disk_is_said_and_the_run_goes_on_later(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    item = 'echo "$AKM_ITEM" >> n.txt; head -c 60000 /dev/zero | tr "\\0" x'
    params = {"l": {"type": "array", "default": list(range(40))}}
    data = plans.data(plans.step("m", plans.unit("sh", "-c", item), over="params.l"), params=params)
    (tmp_path / "plan.json").write_bytes(data)
    full = run_program("sh", "-c", f"ulimit -f 1000; exec {sys.executable} -B -m akm_run plan.json", expect=2)
    assert 'state.db" cannot be read or written: disk I/O error' in full.stderr and "RUN_ID goes on" in full.stderr
    (run,) = document(run_program("akm-run", "list", "--json"))["runs"]
    assert run["status"] == "active"
    before = len((tmp_path / "n.txt").read_text().split())
    assert 0 < before < 40
    assert document(run_program("akm-run", run["runId"], "--json"))["status"] == "completed"
    assert len((tmp_path / "n.txt").read_text().split()) <= 40 + 4
