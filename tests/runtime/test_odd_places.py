"""Folders that are gone or closed, files in the place of folders, names that are no text: told in words, never exit 70."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
NO_TEXT = os.fsdecode(b"nope\xff")


@pytest.fixture
def run_id(run_program: Run, tmp_path: Path, plans: PlanMaker) -> str:
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", plans.unit("false"))))
    return str(json.loads(run_program("akm-run", "plan.json", "--json", expect=1).stdout)["runId"])


@pytest.mark.parametrize(
    "words",
    [
        ["NAME"],
        ["NAME", "--dry-run"],
        ["NAME", "--help"],
        ["plan.json", "--reuse", "NAME"],
        ["plan.json", "--dry-run", "--reuse", "NAME"],
        ["status", "NAME"],
        ["events", "NAME"],
        ["logs", "NAME"],
        ["logs", "RUN", "NAME"],
        ["report", "NAME"],
        ["output", "NAME"],
        ["output", "RUN", "NAME"],
        ["why", "NAME", "a:solo"],
        ["why", "RUN", "NAME"],
        ["why", "RUN", "a:solo", "--against", "NAME"],
        ["resume", "NAME"],
        ["abandon", "NAME"],
        ["export", "NAME", "-o", "x"],
        ["import", "NAME"],
    ],
)
def test_a_name_that_is_no_text_is_unknown(run_program: Run, run_id: str, words: list[str]) -> None:
    named = [{"NAME": NO_TEXT, "RUN": run_id}.get(word, word) for word in words]
    done = run_program("akm-run", *named, expect=None)
    assert done.returncode in ((1, 2) if words[:2] == ["output", "RUN"] else (2,)), done.stderr
    assert "\\xff" in done.stderr or words[0] == "output"


def as_nobody_special() -> list[str]:
    """What begins a command that obeys modes, for root too."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may look everywhere, and there is no setpriv to take that away")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.mark.parametrize(
    "words",
    [
        "list",
        "status RUN",
        "events RUN",
        "logs RUN",
        "report RUN",
        "resume RUN",
        "abandon RUN",
        "output RUN",
        "RUN",
        "export RUN -o x",
        "prune --older-than 1d",
        "plan.json --reuse RUN",
        "plan.json",
        "why RUN a:solo",
    ],
)
def test_a_folder_that_nobody_may_look_into(run_program: Run, tmp_path: Path, run_id: str, words: str) -> None:
    argv = [*as_nobody_special(), sys.executable, "-m", "akm_run", *words.replace("RUN", run_id).split()]
    (tmp_path / ".akm").chmod(0)
    try:
        done = run_program(*argv, expect=2)
        everywhere = [*argv[: argv.index("akm_run") + 1], "list", "--all-scopes"]
        run_program(*everywhere)
    finally:
        (tmp_path / ".akm").chmod(0o700)
    assert f'state file "{tmp_path}/.akm/state.db"' in done.stderr
    assert "ermission denied" in done.stderr
    listed = run_program("akm-run", "list", "--all-scopes", "--json")
    assert [run["runId"] for run in json.loads(listed.stdout)["runs"]] == [run_id], "the index still knows the file"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("list", 2),
        ("STATE/plan.json", 2),
        ("STATE/plan.json --db STATE/new.db", 2),
        ("prune --older-than 1d", 2),
        ("import STATE/none", 2),
        ("report RUN", 2),
        ("list --db STATE/.akm/state.db", 0),
        ("status RUN --db STATE/.akm/state.db", 0),
        ("prune --older-than 1d --db STATE/.akm/state.db", 0),
        ("STATE/plan.json --db STATE/new.db --workspace STATE", 1),
        ("--help", 0),
    ],
)
def test_a_current_directory_that_is_gone(run_program: Run, tmp_path: Path, run_id: str, words: str, code: int) -> None:
    named = words.replace("RUN", run_id).replace("STATE", str(tmp_path))
    (tmp_path / "gone").mkdir()
    script = f"cd gone && rmdir ../gone && exec {sys.executable} -m akm_run {named}"
    done = run_program("sh", "-c", script, expect=code, env={"PYTHONSAFEPATH": "1", "PYTHONPATH": _packages()})
    assert code != 2 or "the current directory cannot be used" in done.stderr


def _packages() -> str:
    """Where the packages are, by their whole paths."""
    import akm_run
    import akm_schemas

    return os.pathsep.join(str(Path(str(package.__file__)).parents[1]) for package in (akm_run, akm_schemas))


def test_logs_that_are_a_file(run_program: Run, tmp_path: Path, run_id: str) -> None:
    shutil.rmtree(tmp_path / ".akm" / "state.db.logs", ignore_errors=True)
    (tmp_path / ".akm" / "state.db.logs").touch()
    assert "cannot read the log" in run_program("akm-run", "logs", run_id, expect=2).stderr
    run_program("akm-run", "plan.json", expect=1)
    assert run_id in run_program("akm-run", "prune", "--older-than", "0s", "--all").stdout


@pytest.mark.parametrize("words", ["list", "plan.json", "status RUN", "import one.akmrun"])
def test_a_state_file_must_be_a_file(run_program: Run, tmp_path: Path, run_id: str, words: str) -> None:
    run_program("akm-run", "export", run_id, "-o", "one.akmrun")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    argv = words.replace("RUN", run_id).split()
    for name, what in (("folder", "it is a directory"), ("pipe", "it is no regular file")):
        assert what in run_program("akm-run", *argv, "--db", name, expect=2).stderr
    assert "--db names no file" in run_program("akm-run", *argv, "--db", "", expect=2).stderr
    run_program("akm-run", "list", env={"AKM_STATE_DB": ""})


def test_what_a_word_could_have_been_is_said(run_program: Run, tmp_path: Path, run_id: str) -> None:
    assert "there is no such file" in run_program("akm-run", "missing.json", expect=2).stderr
    assert 'did you mean "akm-run status"?' in run_program("akm-run", "statu", expect=2).stderr
    assert 'did you mean "' + run_id in run_program("akm-run", run_id[:-1] + "z", expect=2).stderr
    assert (
        "'x' is not a valid whole number" in run_program("akm-run", "events", run_id, "--since", "x", expect=2).stderr
    )
    data = bytearray((tmp_path / ".akm" / "state.db").read_bytes())
    data[4096:] = b"x" * (len(data) - 4096)
    (tmp_path / "damaged.db").write_bytes(data)
    said = run_program("akm-run", run_id, "--db", "damaged.db", expect=2).stderr
    assert 'damaged.db" is damaged' in said and "neither a plan" not in said


def test_resume_of_a_completed_run_needs_no_lock(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a")))
    run_id = str(json.loads(run_program("akm-run", "plan.json", "--json").stdout)["runId"])
    shutil.rmtree(tmp_path / ".akm" / "state.db.locks")
    (tmp_path / ".akm" / "state.db.locks").touch()
    for command in ("resume", "abandon"):
        assert "is completed and stays so" in run_program("akm-run", command, run_id, expect=2).stderr


def test_git_does_not_see_what_is_kept(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", plans.unit("echo", "hi"))))
    run_program("git", "init", "-q")
    (tmp_path / ".akm" / "cache").mkdir(parents=True)
    for name in ("config.json", "models.json", "cache/entry"):
        (tmp_path / ".akm" / name).write_text("{}")
    run_program("akm-run", "plan.json")
    seen = run_program("git", "status", "--porcelain", "--untracked-files=all", "--", ".akm").stdout.split()[1::2]
    assert sorted(seen) == [".akm/config.json", ".akm/models.json"]
    assert (tmp_path / ".akm" / "state.db").is_file()


def test_what_git_was_told_already_stays(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a")))
    (tmp_path / ".akm").mkdir()
    (tmp_path / ".akm" / ".gitignore").write_text("mine\n")
    run_program("akm-run", "plan.json")
    assert (tmp_path / ".akm" / ".gitignore").read_text() == "mine\n"
    (tmp_path / "elsewhere").mkdir()
    run_program("akm-run", "plan.json", "--db", "elsewhere/state.db")
    assert not (tmp_path / "elsewhere" / ".gitignore").exists()
