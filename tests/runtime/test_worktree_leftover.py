"""Worktrees that killed drivers leave: collected on resume and by prune, never one in use or with work in it. Real git."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from akm_run.dispatch.worktree import FOLDER
from akm_run.dispatch.worktree_claim import new_claim
from akm_run.dispatch.worktree_leftover import Leftover, collect

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
WAITS = 'echo $$ >> "$UP/pids"; {}; pwd >> "$UP/places"; test -e "$UP/go" || sleep 60'


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "top"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "file.txt").write_text("committed\n")
    (folder / ".gitignore").write_text("plan.json\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    return folder


def records(top: Path) -> list[str]:
    """git's worktrees without the first, which is the repository."""
    lines = git(top, "worktree", "list", "--porcelain").splitlines()
    return [line.removeprefix("worktree ") for line in lines if line.startswith("worktree ")][1:]


def kept_names(top: Path) -> list[str]:
    base = top.joinpath(*FOLDER)
    return sorted(path.name for path in base.iterdir() if path.name != ".gitignore") if base.is_dir() else []


def make_plan(top: Path, plans: PlanMaker, act: str = "true") -> None:
    unit = plans.unit("sh", "-c", f"UP={top.parent}; {WAITS.format(act)}", isolation="worktree")
    (top / "plan.json").write_bytes(plans.data(plans.step("iso", unit)))


def wait_for(path: Path, lines: int = 1) -> list[str]:
    end = time.monotonic() + 60
    while not path.exists() or len(path.read_text().split()) < lines:
        assert time.monotonic() < end, f"{path.name} did not come"
        time.sleep(0.01)
    return path.read_text().split()


@contextmanager
def driver(top: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A driver whose unit waits in its worktree."""
    env = {"PATH": os.environ["PATH"], "HOME": str(top.parent), "AKM_CONFIG_DIR": str(top.parent / "config")}
    argv = [sys.executable, "-m", "akm_run", "plan.json"]
    process = subprocess.Popen(argv, cwd=top, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(top.parent / "places")
        yield process
    finally:
        process.kill()
        process.wait()
        for pid in wait_for(top.parent / "pids"):
            try:
                os.killpg(int(pid), signal.SIGKILL)  # units outlive a killed driver
            except ProcessLookupError:
                continue


def killed(top: Path) -> Path:
    """The worktree that a killed driver leaves."""
    with driver(top):
        pass
    (place,) = (Path(line) for line in (top.parent / "places").read_text().split())
    assert place.is_dir() and records(top) == [str(place)]
    (top.parent / "go").touch()
    return place


def document(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def run_id_of(run_program: Run, top: Path) -> str:
    (row,) = document(run_program("akm-run", "list", "--json", cwd=top))["runs"]
    return str(row["runId"])


def test_the_next_driver_of_the_run_collects(run_program: Run, top: Path, plans: PlanMaker) -> None:
    make_plan(top, plans)
    place = killed(top)
    done = document(run_program("akm-run", run_id_of(run_program, top), "--json", cwd=top))
    assert done["status"] == "completed"
    assert not place.exists() and records(top) == [] and kept_names(top) == []
    assert [notice["text"] for notice in done["notices"] if "worktree" in notice["text"]] == []


def test_work_is_kept_and_named_by_the_next_driver_and_by_prune(run_program: Run, top: Path, plans: PlanMaker) -> None:
    make_plan(top, plans, 'test -e "$UP/go" || echo work > file.txt')
    place = killed(top)
    run_id = run_id_of(run_program, top)
    done = document(run_program("akm-run", run_id, "--json", cwd=top))
    named = [notice for notice in done["notices"] if str(place) in notice["text"]]
    assert [(notice["step"], notice["unit"]) for notice in named] == [("iso", "iso:solo")]
    assert "holds changes and was kept" in named[0]["text"]
    assert (place / "file.txt").read_text() == "work\n" and records(top) == [str(place)]
    again = run_program("akm-run", "prune", "--older-than", "0s", "--json", cwd=top)
    assert document(again)["worktrees"] == [{"path": str(place), "kept": True}]
    assert (place / "file.txt").read_text() == "work\n"
    git(place, "checkout", "-q", "file.txt")
    told = run_program("akm-run", "prune", "--older-than", "1d", cwd=top)
    assert f"removed: a worktree that a killed run left behind, '{place}'" in told.stderr
    assert records(top) == [] and kept_names(top) == []


def test_commits_are_work_too(run_program: Run, top: Path, plans: PlanMaker) -> None:
    commit = "git -c user.name=t -c user.email=t@e -c commit.gpgsign=false commit -q --allow-empty -m two"
    make_plan(top, plans, f'test -e "$UP/go" || {commit}')
    place = killed(top)
    run_program("akm-run", "prune", "--older-than", "0s", cwd=top)
    assert git(place, "log", "-1", "--format=%s") == "two"


def test_prune_collects_and_a_dry_run_only_names(run_program: Run, top: Path, plans: PlanMaker) -> None:
    make_plan(top, plans)
    place = killed(top)
    told = run_program("akm-run", "prune", "--older-than", "1d", "--dry-run", cwd=top)
    assert f"would be removed: a worktree that a killed run left behind, '{place}'" in told.stderr
    assert records(top) == [str(place)]
    run_program("akm-run", "prune", "--older-than", "1d", cwd=top)
    assert not place.exists() and records(top) == [] and kept_names(top) == []


def test_one_of_a_live_run_is_never_touched(run_program: Run, top: Path, plans: PlanMaker) -> None:
    make_plan(top, plans)
    with driver(top):
        (place,) = wait_for(top.parent / "places")
        told = document(run_program("akm-run", "prune", "--older-than", "0s", "--json", cwd=top))
        assert (told["pruned"], told["worktrees"]) == ([], [])
        other = run_program("akm-run", "prune", "--older-than", "0s", "--json", "--db", "../other.db", cwd=top)
        assert document(other)["worktrees"] == []
        run_program("akm-run", run_id_of(run_program, top), cwd=top, expect=75)
        assert records(top) == [place] and Path(place).is_dir()


@pytest.mark.parametrize("gone", ["directory", "record", "all"])
def test_records_without_directory_and_the_reverse(top: Path, gone: str) -> None:
    top.joinpath(*FOLDER).mkdir(parents=True)
    claim = new_claim(top.joinpath(*FOLDER, "r1"), "a", git(top, "rev-parse", "HEAD"))
    if gone != "record":
        git(top, "worktree", "add", "--detach", "--quiet", str(claim.place))
        shutil.rmtree(claim.place)
    if gone == "all":
        git(top, "worktree", "prune")
    assert collect(top) == []
    claim.leave()
    assert collect(top, "r2") == []
    assert collect(top) == [Leftover(claim.place, None)]
    assert records(top) == [] and kept_names(top) == []
    assert list((top / ".git").glob("worktrees/*")) == []


def test_one_that_git_did_not_finish(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("akm_run.dispatch.worktree_leftover._MAKING_S", 0.2)
    top.joinpath(*FOLDER).mkdir(parents=True)
    claim = new_claim(top.joinpath(*FOLDER, "r1"), "a", git(top, "rev-parse", "HEAD"))
    git(top, "worktree", "add", "--detach", "--quiet", "--no-checkout", str(claim.place))
    git(top, "worktree", "lock", "--reason", "initializing", str(claim.place))
    claim.leave()
    assert collect(top) == [Leftover(claim.place, None)]
    assert records(top) == [] and kept_names(top) == []


def test_the_users_own_worktrees_stay(top: Path, tmp_path: Path) -> None:
    for name in ("mine", "unmounted"):
        git(top, "worktree", "add", "--detach", "--quiet", str(tmp_path / name))
    shutil.rmtree(tmp_path / "unmounted")
    before = records(top)
    top.joinpath(*FOLDER, "r1", "a-00000000").mkdir(parents=True)
    assert [found.why_kept for found in collect(top)] == [None]
    assert records(top) == before and len(before) == 2


def test_one_that_git_cannot_remove_is_named(top: Path) -> None:
    place = top.joinpath(*FOLDER, "r1", "a-00000000")
    place.mkdir(parents=True)
    (place / "notes.txt").write_text("no worktree of git's")
    (found,) = collect(top)
    assert found.why_kept is not None and str(place) in found.why_kept
    assert (place / "notes.txt").exists()


def test_worktrees_are_made_and_removed_one_at_a_time(run_program: Run, top: Path, plans: PlanMaker) -> None:
    """A ``git`` that is found first notes when a change to the worktrees begins and ends."""
    tools, log, real = top.parent / "tools", top.parent / "log", shutil.which("git")
    tools.mkdir()
    (tools / "git").write_text(
        "#!/bin/sh\n"
        f'case " $* " in *" worktree add "*|*" worktree remove "*) echo begin >> {log}; {real} "$@"; code=$?; sleep 0.02;'
        f' echo end >> {log}; exit $code ;; esac\nexec {real} "$@"\n'
    )
    (tools / "git").chmod(0o755)
    unit = plans.unit("sh", "-c", "cat file.txt", isolation="worktree")
    params = {"l": {"type": "array", "default": list(range(6))}}
    (top / "plan.json").write_bytes(plans.data(plans.step("m", unit, over="params.l", concurrency=6), params=params))
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    words = ("plan.json", "--host-concurrency", "6", "--json")
    done = document(run_program("akm-run", *words, cwd=top, env={"PATH": path}))
    assert done["steps"][0]["output"] == ["committed"] * 6
    assert log.read_text().split() == ["begin", "end"] * 12
    assert records(top) == [] and kept_names(top) == []
