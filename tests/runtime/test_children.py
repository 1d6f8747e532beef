"""Child runs: real processes, real SQLite, and the commands that a person is told to type."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def document(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def shell(plans: PlanMaker, script: str, **more: Any) -> dict[str, Any]:
    return plans.unit("sh", "-c", script, **more)


def nested(plans: PlanMaker, leaf: bytes, depth: int) -> bytes:
    """``depth`` plans around ``leaf``, each with a step of its own before it."""
    data = leaf
    for level in range(depth, 0, -1):
        own = shell(plans, f'echo "$AKM_RUN_ID" >> level{level}; echo {level} >> n.txt')
        data = plans.data(plans.step("own", own), plans.step("kid", plans.child(data)))
    return data


def test_exports_and_params_go_through(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    leaf = plans.data(
        plans.step("show", shell(plans, 'printf %s "$AKM_PARAMS"')),
        params={"tag": {"type": "string"}, "level": {"type": "string", "default": "low"}, "n": {"type": "integer"}},
        outputs={"seen": "steps.show.output"},
    )
    bindings = [
        plans.binding("tag", "steps.a.output", {"type": "string"}),
        {"kind": "literal", "name": "n", "value": 5},
    ]
    data = plans.data(
        plans.step("a", shell(plans, "printf text")),
        plans.step("kid", plans.child(leaf, bindings)),
        plans.step(
            "tail", shell(plans, 'printf %s "$AKM_TASK_INPUTS"', bindings=[plans.binding("t", "steps.kid.output.seen")])
        ),
        plans.step("none", plans.child(plans.data(plans.step("x")))),
    )
    (tmp_path / "plan.json").write_bytes(data)
    done = document(run_program("akm-run", "plan.json", "--json", "--host-concurrency", "1"))
    params = '{"level":"low","n":5,"tag":"text"}'
    assert done["steps"][1]["output"] == {"seen": params}
    assert json.loads(done["steps"][2]["output"]) == {"t": params}
    assert done["steps"][3]["output"] == {"runId": done["children"][1]["runId"], "status": "completed"}
    assert done["unitsDispatched"] == 4
    assert [child["status"] for child in done["children"]] == ["completed", "completed"]
    assert [child["commands"] for child in done["children"]] == [[], []]
    child = done["children"][0]["runId"]
    assert document(run_program("akm-run", "output", child)) == {"seen": params}
    assert child not in run_program("akm-run", "list").stdout
    assert child in run_program("akm-run", "list", "--children").stdout


def test_a_bound_value_is_checked_before_anything_is_published(
    run_program: Run, tmp_path: Path, plans: PlanMaker
) -> None:
    tag = {"type": "string", "maxLength": 3}
    leaf = plans.data(plans.step("a", shell(plans, ": > ran"), inputs=["params.tag"]), params={"tag": tag})
    kid = plans.child(leaf, [plans.binding("tag", "steps.long.output", tag)])
    long = plans.step("long", shell(plans, "printf long"))
    (tmp_path / "plan.json").write_bytes(plans.data(long, plans.step("kid", kid)))
    done = document(run_program("akm-run", "plan.json", "--json", expect=1))
    assert (done["status"], done["steps"][1]["failureReason"], done["unitsDispatched"]) == (
        "failed",
        "validation_error",
        1,
    )
    assert 'binding "tag" from steps.long.output: the value: has 4 characters' in done["steps"][1]["summary"]
    assert "children" not in done and not (tmp_path / "ran").exists()


def test_an_unbound_param_that_the_child_reads_is_refused_with_the_plan(
    run_program: Run, tmp_path: Path, plans: PlanMaker
) -> None:
    leaf = plans.data(
        plans.step("a", shell(plans, ": > ran"), inputs=["params.tag"]), params={"tag": {"type": "string"}}
    )
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("kid", plans.child(leaf))))
    told = run_program("akm-run", "plan.json", "--json", expect=2)
    assert 'steps[0].unit.target.inputBindings: the child\'s param "tag" is not bound' in told.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("depth", [1, 3, 8])
def test_the_commands_for_a_failed_descendant_work_as_told(
    run_program: Run, tmp_path: Path, plans: PlanMaker, depth: int
) -> None:
    leaf = plans.data(
        plans.step("a", shell(plans, "echo leaf >> n.txt")),
        plans.step("b", shell(plans, 'echo "$AKM_RUN_ID" >> leaf.id; test -e ok')),
    )
    (tmp_path / "plan.json").write_bytes(nested(plans, leaf, depth))
    failed = document(run_program("akm-run", "plan.json", "--json", expect=1))
    assert (failed["status"], failed["steps"][1]["failureReason"]) == ("failed", "child_failed")
    told = [command for command in failed["commands"] if command.startswith("akm-run resume")]
    leaf_id = (tmp_path / "leaf.id").read_text().strip()
    assert told[0] == f"akm-run resume {leaf_id}" and told[-1] == f"akm-run resume {failed['runId']}"
    assert len(told) == depth + 1
    notice = failed["notices"][-1]["text"]
    positions = [notice.index(command) for command in failed["commands"]]
    assert positions == sorted(positions)
    assert "; ".join(failed["commands"]) in failed["steps"][1]["summary"]
    refused = run_program("akm-run", failed["runId"], expect=2)
    assert "resume" in refused.stderr
    (tmp_path / "ok").touch()
    for command in failed["commands"]:
        done = run_program(*shlex.split(command))
    assert "completed" in done.stdout
    told_now = document(run_program("akm-run", "status", failed["runId"], "--json"))["notices"]
    assert not [notice for notice in told_now if "to go on" in notice["text"]], (
        "advice that was followed is not repeated"
    )
    levels = "".join(f"{level}\n" for level in range(1, depth + 1))
    assert (tmp_path / "n.txt").read_text() == levels + "leaf\n"
    assert set((tmp_path / "leaf.id").read_text().split()) == {leaf_id}


def test_the_real_reason_comes_first_and_the_commands_once_at_any_depth(
    run_program: Run, tmp_path: Path, plans: PlanMaker
) -> None:
    leaf = plans.data(plans.step("b", shell(plans, 'echo "THE REAL REASON" >&2; exit 1')))
    (tmp_path / "plan.json").write_bytes(nested(plans, leaf, 7))
    failed = document(run_program("akm-run", "plan.json", "--json", expect=1))
    summary = failed["steps"][1]["summary"]
    assert summary.count("THE REAL REASON") == summary.count("to go on: ") == 1
    assert summary.index("THE REAL REASON") < summary.index("to go on: ") and len(summary) <= 2000
    assert "; ".join(failed["commands"]) in summary
    assert 'step "b" of run ' in summary and "child_failed): child_failed" not in summary
    assert "THE REAL REASON" in run_program("akm-run", "status", failed["runId"]).stdout


def test_a_long_reason_leaves_room_for_the_commands(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    script = "seq 1 400 | tr '\\n' ' ' >&2; exit 1"
    (tmp_path / "plan.json").write_bytes(nested(plans, plans.data(plans.step("b", shell(plans, script))), 8))
    failed = document(run_program("akm-run", "plan.json", "--json", expect=1))
    summary = failed["steps"][1]["summary"]
    assert summary.endswith("; ".join(failed["commands"])) and len(summary) <= 2000
    assert "non_zero_exit" in summary and " ..." in summary


def test_a_child_without_budget_names_what_helps(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    leaf = plans.data(plans.step("a"), plans.step("b"), budget={"maxUnits": 1})
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("kid", plans.child(leaf))))
    failed = document(run_program("akm-run", "plan.json", "--json", expect=1))
    summary = failed["steps"][0]["summary"]
    assert "budget exceeded (max_units ceiling)" in summary and "raise budget.max_units (now 1)" in summary
    assert f"akm-run NEW-PLAN --reuse {failed['runId']}" in summary
    assert failed["commands"] == failed["children"][0]["commands"] == []
    assert "akm-run resume" not in summary
    told = run_program("akm-run", "resume", failed["runId"]).stderr
    assert f"akm-run NEW-PLAN --reuse {failed['runId']}" in told and "keeps its budget" in told


def test_resuming_only_the_parent_tells_the_commands_again(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    leaf = plans.data(plans.step("b", shell(plans, "echo x >> n.txt; exit 3")))
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("kid", plans.child(leaf))))
    first = document(run_program("akm-run", "plan.json", "--json", expect=1))
    child = first["children"][0]["runId"]
    assert f"akm-run resume {child}" in run_program("akm-run", "resume", first["runId"]).stderr
    again = document(run_program("akm-run", first["runId"], "--json", expect=1))
    assert again["commands"] == first["commands"]
    assert (tmp_path / "n.txt").read_text() == "x\n"


def judged(plans: PlanMaker, verdict: str) -> dict[str, Any]:
    """A step whose judge answers what is in the file ``verdict``."""
    step = plans.step("a", shell(plans, "echo leaf >> n.txt"), rubric="- ok")
    from akm_schemas.hashing import target_hash

    judge = step["gate"]["judge"]
    judge["engine"] |= {"bin": "sh", "args": ["-c", f"cat > /dev/null; cat {verdict}"]}
    del judge["contentHash"]
    judge["contentHash"] = target_hash(judge)
    return step


@pytest.mark.parametrize("rejected", [True, False])
def test_a_blocked_child_and_a_rejected_one_block(
    run_program: Run, tmp_path: Path, plans: PlanMaker, rejected: bool
) -> None:
    leaf = plans.data(judged(plans, "verdict.json"), plans.step("b"))
    data = plans.data(plans.step("m", plans.child(plans.data(plans.step("kid", plans.child(leaf))))))
    (tmp_path / "plan.json").write_bytes(data)
    if rejected:
        (tmp_path / "verdict.json").write_text('{"complete": false, "missing": ["x"], "feedback": "no"}')
    done = document(run_program("akm-run", "plan.json", "--json", expect=1))
    assert (done["status"], done["steps"][0]["status"]) == ("blocked", "blocked")
    assert done["steps"][0]["failureReason"] == "child_blocked"
    middle = done["children"][0]
    leaf_run = middle["children"][0]
    assert (middle["status"], leaf_run["status"]) == ("blocked", "active" if rejected else "blocked")
    word = "" if rejected else "resume "
    assert done["commands"] == [
        f"akm-run {word}{leaf_run['runId']}",
        f"akm-run resume {middle['runId']}",
        f"akm-run resume {done['runId']}",
        f"akm-run {done['runId']}",
    ]
    (tmp_path / "verdict.json").write_text('{"complete": true}')
    for command in done["commands"]:
        last = run_program(*shlex.split(command))
    assert "completed" in last.stdout
    assert (tmp_path / "n.txt").read_text() == "leaf\n"


def test_exports_that_roll_back_fail_the_composing_step(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    leaf = plans.data(plans.step("a"), outputs={"gone": "steps.a.output"})
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("kid", plans.child(leaf))))
    done = document(run_program("akm-run", "plan.json", "--json", expect=1))
    assert (done["status"], done["steps"][0]["status"]) == ("failed", "failed")
    assert 'output "gone"' in done["steps"][0]["summary"]
    assert done["children"][0]["status"] == "active"


def test_the_childs_budget_is_its_own_and_max_steps_does_not_reach_it(
    run_program: Run, tmp_path: Path, plans: PlanMaker
) -> None:
    leaf = plans.data(plans.step("a"), plans.step("b"), plans.step("c"), budget={"maxUnits": 3})
    data = plans.data(plans.step("kid", plans.child(leaf)), plans.step("end"), budget={"maxUnits": 2})
    (tmp_path / "plan.json").write_bytes(data)
    done = document(run_program("akm-run", "plan.json", "--json", "--max-steps", "1"))
    assert (done["status"], done["steps"][0]["status"], done["unitsDispatched"]) == ("active", "completed", 1)
    assert document(run_program("akm-run", done["runId"], "--json"))["status"] == "completed"


@pytest.mark.parametrize("how", ["timeout", "interrupted", "killed"])
def test_a_stopped_tree_goes_on_with_the_same_child(
    run_program: Run, tmp_path: Path, plans: PlanMaker, how: str
) -> None:
    script = 'echo "$AKM_RUN_ID" >> ids.txt; : > started; test -e go || sleep 60; echo done'
    leaf = plans.data(plans.step("a", shell(plans, "echo leaf >> n.txt")), plans.step("b", shell(plans, script)))
    (tmp_path / "plan.json").write_bytes(nested(plans, leaf, 2))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / ".home")}
    argv = [sys.executable, "-m", "akm_run", "plan.json", "--json", *(["--timeout", "8s"] if how == "timeout" else [])]
    process = subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 30
    while not (tmp_path / "started").exists():
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    child = (tmp_path / "ids.txt").read_text().split()[0]
    busy = document(run_program("akm-run", child, "--json", expect=75))
    assert f"process {process.pid}" in busy["error"]
    if how != "timeout":
        process.send_signal(signal.SIGTERM if how == "interrupted" else signal.SIGKILL)
    text, _ = process.communicate(timeout=30)
    assert process.returncode == {"timeout": 1, "interrupted": 130, "killed": -9}[how]
    runs = document(run_program("akm-run", "list", "--children", "--json"))["runs"]
    assert [run["status"] for run in runs] == ["active"] * 3
    root = next(run["runId"] for run in runs if "parentRun" not in run)
    if text:
        assert (json.loads(text)["runId"], json.loads(text)["steps"][1]["status"]) == (root, "pending")
    (tmp_path / "go").touch()
    done = document(run_program("akm-run", root, "--json"))
    assert done["status"] == "completed"
    assert (tmp_path / "n.txt").read_text() == "1\n2\nleaf\n"
    assert set((tmp_path / "ids.txt").read_text().split()) == {child}
    assert not any("same id" in notice["text"] for notice in done["notices"])
    assert list((tmp_path / ".akm" / "state.db.locks").iterdir()) == []


def test_a_composing_steps_own_timeout(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    leaf = plans.data(plans.step("a", shell(plans, "test -e go || sleep 60")))
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("kid", plans.child(leaf, timeoutMs=300))))
    done = document(run_program("akm-run", "plan.json", "--json", expect=1))
    assert (done["status"], done["steps"][0]["failureReason"]) == ("failed", "timeout")
    assert done["children"][0]["status"] == "active"
    (tmp_path / "go").touch()
    for command in done["commands"]:
        last = run_program(*shlex.split(command))
    assert "completed" in last.stdout


def test_a_child_that_another_driver_holds_fails_the_step(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    from akm_run.lease import acquire

    leaf = plans.data(plans.step("a", shell(plans, "test -e ok")))
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("kid", plans.child(leaf))))
    first = document(run_program("akm-run", "plan.json", "--json", expect=1))
    for command in first["commands"][:-1]:
        run_program(*shlex.split(command))
    held = acquire(tmp_path / ".akm" / "state.db", first["children"][0]["runId"])
    done = document(run_program("akm-run", first["runId"], "--json", expect=1))
    held.release()
    assert (done["status"], done["steps"][0]["failureReason"]) == ("failed", "child_busy")
    assert f"process {os.getpid()}" in done["steps"][0]["summary"]


def test_a_damaged_child_fails_the_step(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    import sqlite3

    leaf = plans.data(plans.step("a", shell(plans, "test -e ok")))
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("kid", plans.child(leaf))))
    first = document(run_program("akm-run", "plan.json", "--json", expect=1))
    child = first["children"][0]["runId"]
    for command in first["commands"][:-1]:
        run_program(*shlex.split(command))
    raw = sqlite3.connect(tmp_path / ".akm" / "state.db")
    raw.execute(
        "UPDATE runs SET plan = replace(CAST(plan AS TEXT), 'test -e ok', 'test -e no') WHERE run_id = ?", (child,)
    )
    raw.commit()
    raw.close()
    done = document(run_program("akm-run", first["runId"], "--json", expect=1))
    assert (done["status"], done["steps"][0]["failureReason"]) == ("failed", "child_invalid")
    assert child in done["steps"][0]["summary"]


def test_a_child_that_cannot_be_published_fails_the_step(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    import sqlite3

    leaf = plans.data(plans.step("a", shell(plans, ": > ran")))
    data = plans.data(plans.step("first"), plans.step("kid", plans.child(leaf)))
    (tmp_path / "plan.json").write_bytes(data)
    first = document(run_program("akm-run", "plan.json", "--json", "--max-steps", "1"))
    raw = sqlite3.connect(tmp_path / ".akm" / "state.db")
    raw.execute("CREATE TRIGGER no_child BEFORE INSERT ON runs BEGIN SELECT RAISE(FAIL, 'not today'); END")
    raw.commit()
    raw.close()
    done = document(run_program("akm-run", first["runId"], "--json", expect=1))
    assert (done["status"], done["steps"][1]["failureReason"]) == ("failed", "child_invalid")
    assert "children" not in done and not (tmp_path / "ran").exists()


def test_one_width_for_the_whole_tree(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    script = 'echo + >> log; sleep 0.05; echo - >> log; printf %s "$AKM_ITEM"'
    leaf = plans.data(
        plans.step("m", shell(plans, script), over="params.l"),
        params={"l": {"type": "array", "default": [1, 2, 3]}},
        outputs={"r": "steps.m.output"},
    )
    data = plans.data(
        plans.step("kids", plans.child(leaf), over="params.o"), params={"o": {"default": ["a", "b", "c"]}}
    )
    (tmp_path / "plan.json").write_bytes(data)
    done = document(run_program("akm-run", "plan.json", "--json", "--host-concurrency", "2"))
    assert done["steps"][0]["output"] == [{"r": ["1", "2", "3"]}] * 3
    running = most = 0
    for line in (tmp_path / "log").read_text().split():
        running += 1 if line == "+" else -1
        most = max(most, running)
    assert most == 2 and running == 0


def test_kills_anywhere_in_a_tree(tmp_path: Path, plans: PlanMaker, run_program: Run) -> None:
    """kill -9 at a dozen moments: always the same three runs, and each finished unit ran once."""
    chance = random.Random(3)
    script = 'echo "$AKM_UNIT_ID" >> n.txt; sleep 0.02; printf %s "$AKM_ITEM"'
    params = {"l": {"type": "array", "default": list(range(40))}}
    leaf = plans.data(
        plans.step("m", shell(plans, script), over="params.l"), params=params, outputs={"r": "steps.m.output"}
    )
    (tmp_path / "plan.json").write_bytes(nested(plans, leaf, 2))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / ".home"), "XDG_CONFIG_HOME": str(tmp_path / ".home")}
    target, log = "plan.json", tmp_path / "n.txt"
    for _ in range(12):
        size = log.stat().st_size if log.exists() else 0
        argv = [sys.executable, "-m", "akm_run", target, "--host-concurrency", "3"]
        process = subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end, more = time.monotonic() + 30, chance.randrange(0, 40)
        while (not log.exists() or log.stat().st_size < size + more) and process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.002)
        process.kill()
        process.wait()
        if (tmp_path / ".akm" / "state.db").exists():
            runs = document(run_program("akm-run", "list", "--json"))["runs"]
            target = runs[-1]["runId"] if runs else target
    done = document(run_program("akm-run", target, "--json"))
    assert done["status"] == "completed"
    assert len(document(run_program("akm-run", "list", "--children", "--json"))["runs"]) == 3
    inner = done["children"][0]["children"][0]["runId"]
    assert document(run_program("akm-run", "output", inner)) == {"r": [str(item) for item in range(40)]}
    units = document(run_program("akm-run", "status", inner, "--units", "--json"))["units"]
    spawned = {unit["id"]: unit.get("dispatches", 1) for unit in units}
    ran = Counter(line for line in log.read_text().split() if ":" in line)
    assert len(spawned) == 40 and all(ran[unit] <= spawned[unit] for unit in spawned)
    assert sum(spawned.values()) <= 40 + 12 * 3
