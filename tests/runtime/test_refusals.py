"""What ``akm-run`` refuses about runs, plans and files that were named, and what it then suggests."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def run_of(run_program: Run, data: bytes, folder: Path, expect: int = 0) -> str:
    (folder / "plan.json").write_bytes(data)
    return str(json.loads(run_program("akm-run", "plan.json", "--json", expect=expect).stdout)["runId"])


def test_another_hash_is_refused_for_a_completed_run(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    data = plans.data(plans.step("a"))
    run_id = run_of(run_program, data, tmp_path)
    assert "not the expected one" in run_program("akm-run", run_id, "--expect", "abc", expect=2).stderr
    for name in ("planHash", "contentHash"):
        run_program("akm-run", run_id, "--expect", json.loads(data)[name])


def test_an_undecodable_plan_is_said_before_resume(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    run_id = run_of(run_program, plans.data(plans.step("a", plans.unit("false"))), tmp_path, 1)
    assert f"akm-run resume {run_id}" in run_program("akm-run", "status", run_id).stdout
    with closing(sqlite3.connect(tmp_path / ".akm" / "state.db")) as raw, raw:
        raw.execute("UPDATE runs SET plan = replace(CAST(plan AS TEXT), '\"irVersion\":5', '\"irVersion\":6')")
    refused = run_program("akm-run", run_id, expect=2).stderr
    assert "cannot be run" in refused and "help: compile the source again" in refused
    assert "akm-run resume" not in refused
    status = run_program("akm-run", "status", run_id)
    assert "akm-run resume" not in status.stdout
    assert f"run {run_id} cannot be run" in status.stderr
    assert json.loads(run_program("akm-run", "status", run_id, "--json").stdout)["commands"] == []


def test_a_changed_plan_of_a_run_blames_the_state_file(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    run_id = run_of(run_program, plans.data(plans.step("a", plans.unit("false"))), tmp_path, 1)
    with closing(sqlite3.connect(tmp_path / ".akm" / "state.db")) as raw, raw:
        raw.execute("UPDATE runs SET plan = replace(CAST(plan AS TEXT), '\"false\"', '\"true\"')")
    refused = run_program("akm-run", run_id, expect=2).stderr
    assert "cannot be run" in refused and "help: the state file was changed by something else" in refused


@pytest.mark.parametrize(
    ("old", "new", "help"),
    [
        (b'"irVersion":5', b'"irVersion":6', "compile the source again with this version, or upgrade akmc"),
        (
            b'"irVersion":5',
            b'"irVersion":5,"zzz":1',
            "the plan was changed after it was frozen; compile its source again",
        ),
        (b"{", b"[", "is it a plan that akmc compile wrote?"),
    ],
)
def test_a_refused_plan_file_says_what_to_do(
    run_program: Run, tmp_path: Path, plans: PlanMaker, old: bytes, new: bytes, help: str
) -> None:
    data = plans.data(plans.step("a"))
    assert old in data
    (tmp_path / "plan.json").write_bytes(data.replace(old, new, 1))
    refused = run_program("akm-run", "plan.json", expect=2).stderr
    assert refused.startswith('akm-run: "plan.json" cannot be run: ')
    assert refused.endswith(f"\n  help: {help}\n")
    assert ("zzz, a member that no plan has" in refused) == (b"zzz" in new)
    assert run_program("akmc", "verify", "plan.json", expect=1).stderr.endswith(f"\n  help: {help}\n")


@pytest.mark.parametrize(
    ("name", "typed", "plan"),
    [
        ("workflows/w.md", "workflows/w.md", "w.json"),
        ("w.YML", "w.YML", "w.json"),
        ("a b.yaml", "'a b.yaml'", "'a b.json'"),
        ("-w.md", "./-w.md", "w.json"),
    ],
)
def test_a_source_is_told_from_a_plan(run_program: Run, tmp_path: Path, name: str, typed: str, plan: str) -> None:
    (tmp_path / "workflows").mkdir()
    (tmp_path / name).write_text("---\nsteps: []\n---\n")
    refused = run_program("akm-run", "--", name, expect=2).stderr
    assert f'"{name}" is a workflow source' in refused
    assert refused.endswith(f"\n  help: akmc compile {typed} -o {plan}, then akm-run {plan}\n")
    if not name.startswith("-"):
        verified = run_program("akmc", "verify", name, expect=1).stderr
        assert "is a source, expected a plan" in verified and f"akmc check {typed} checks it" in verified


def test_a_plan_may_have_any_extension(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    (tmp_path / "plan.md").write_bytes(plans.data(plans.step("a")))
    run_program("akm-run", "plan.md")


def test_two_dashes_come_before_a_plan_that_begins_with_one(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    (tmp_path / "-p.json").write_bytes(plans.data(plans.step("a"), params={"who": {"type": "string", "default": "x"}}))
    for arguments in (["--", "-p.json"], ["run", "--", "-p.json", "--who", "y"], ["--json", "--", "-p.json"]):
        run_program("akm-run", *arguments)
    assert "--who" in run_program("akm-run", "--", "-p.json", "--help").stdout
    assert "name a plan file or a run id" in run_program("akm-run", "--", expect=2).stderr


def test_import_names_the_file_that_was_given(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    run_id = run_of(run_program, plans.data(plans.step("a")), tmp_path)
    run_program("akm-run", "export", run_id, "-o", "whole.akmrun")
    whole = (tmp_path / "whole.akmrun").read_bytes()
    (tmp_path / "cut.akmrun").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty").touch()
    (tmp_path / "notes.txt").write_text("no runs here, " * 100)
    with closing(sqlite3.connect(tmp_path / "other.db")) as raw, raw:
        raw.execute("CREATE TABLE runs (x)")
    for name in ("cut.akmrun", "empty", "notes.txt", "other.db", "plan.json"):
        refused = run_program("akm-run", "import", name, "--db", "new.db", expect=2).stderr
        assert f'"{name}" is no export of akm-run' in refused
        assert "akm-import-" not in refused
    with closing(sqlite3.connect(tmp_path / "whole.akmrun")) as raw:
        raw.execute("PRAGMA user_version=99")
    newer = run_program("akm-run", "import", "whole.akmrun", "--db", "new.db", expect=2).stderr
    assert '"whole.akmrun" was written by a newer akm-run' in newer
    assert not (tmp_path / "new.db").exists()


def test_why_knows_only_what_was_or_can_be(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    params = {"l": {"type": "array", "default": [1]}}
    steps = plans.step("a"), plans.step("m", plans.unit(), over="params.l")
    run_id = run_of(run_program, plans.data(*steps, params=params), tmp_path)
    for unit in ("m:solo", "a:solo~r1", "a:solo~r7"):
        refused = run_program("akm-run", "why", run_id, unit, expect=2).stderr
        assert f'has no unit "{unit}"' in refused
        assert f'did you mean "{unit}"' not in refused
    run_program("akm-run", "why", run_id, "a:solo")


def test_why_tells_about_an_attempt_that_was(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    retry = {"max": 1, "on": ["non_zero_exit"]}
    run_id = run_of(run_program, plans.data(plans.step("a", plans.unit("false", retry=retry))), tmp_path, 1)
    units = json.loads(run_program("akm-run", "status", run_id, "--units", "--json").stdout)["units"]
    assert len(units) == 2
    for unit in units:
        assert "attempt 2" in run_program("akm-run", "why", run_id, unit["id"]).stdout


@pytest.mark.parametrize("name", ["db", "json", "help", "timeout"])
def test_a_param_that_is_named_like_an_option(run_program: Run, tmp_path: Path, plans: PlanMaker, name: str) -> None:
    params = {name: {"type": "string", "default": "x"}, "topic": {"type": "string"}}
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a"), params=params))
    shown = run_program("akm-run", "plan.json", "--help").stdout.partition("Params of")[2]
    assert f'  {name} (through --params-file)  string, default "x"\n' in shown
    assert f"--{name}  " not in shown
    assert "  --topic  string\n" in shown
