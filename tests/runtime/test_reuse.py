"""Taking over what an old run has finished: ``--reuse``, ``--dry-run`` and ``why``."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from akm_run.core import Core
from akm_run.events import UnitFinished, UnitReused, UnitStarted
from akm_run.opening import Reusable, RunFacts

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker, World

End = Callable[..., UnitFinished]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def document(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def finished(world: World) -> tuple[dict[tuple[str, str], str], dict[str, Any]]:
    """What a world's run completed: (key, input hash) -> unit id, and the values."""
    hashes = {event.unit_id: event.input_hash for event in world.log if isinstance(event, UnitStarted)}
    ends = [event for event in world.log if isinstance(event, UnitFinished) and event.reason is None]
    return {(e.key, hashes[e.unit_id]): e.unit_id for e in ends}, {e.unit_id: e.value for e in ends}


@given(
    st.lists(st.integers(0, 6), max_size=8),
    st.lists(st.integers(0, 6), max_size=8),
    st.integers(0, 30),
    st.integers(1, 5),
)
@settings(max_examples=60, deadline=None)
def test_what_is_equal_is_taken_over_and_nothing_else(
    plans: PlanMaker, world: type[World], end: End, old: list[Any], new: list[Any], cut: int, room: int
) -> None:
    """Whatever the old run had finished when it stopped, the new one has the artifacts of a run of its own."""
    plan = plans.plan(
        plans.step("m", plans.unit(on_error="continue"), over="params.l"),
        plans.step("w", plans.ask(), inputs=["steps.m.output"], rubric="- ok", loops=2),
    )

    def answer(started: UnitStarted) -> UnitFinished:
        if started.role == "judge":
            done = json.dumps({"complete": "~l2" in started.key, "missing": [], "feedback": "more"})
            return end(started, done)
        return end(started, None, "timeout") if started.key.endswith("0") else end(started, f"value of {started.key}")

    source = world(answer, room=room)
    source.run(Core(plan, RunFacts({"l": old}, 8)), finishes=cut)
    units, values = finished(source)
    straight = world(answer, room=room)
    wanted = straight.run(Core(plan, RunFacts({"l": new}, 8)))
    reusing = world(answer, room=room)
    core = Core(plan, RunFacts({"l": new}, 8, None, Reusable("old", units)))
    core_next = core.next

    def filled(room: int) -> Any:
        events = core_next(room)
        return [replace(e, value=values[e.from_unit]) if isinstance(e, UnitReused) else e for e in events]

    core.next = filled  # type: ignore[method-assign]
    reusing.run(core)
    assert [(s.status, s.artifact) for s in core.steps] == [(s.status, s.artifact) for s in wanted.steps]
    taken = {event.key for event in reusing.log if isinstance(event, UnitReused)}
    ran = {event.key for event in reusing.log if isinstance(event, UnitStarted)}
    assert not taken & ran and taken | ran == {event.key for event in straight.log if isinstance(event, UnitStarted)}
    if old == new:
        assert taken == {key for key, _ in units}
    assert core.spent.units == len(ran)


@pytest.fixture
def two(tmp_path: Path, plans: PlanMaker) -> Callable[[str], None]:
    """Writes a plan of three steps, the last of which runs the given script."""

    def write(script: str) -> None:
        log = 'echo "$AKM_UNIT_ID" >> n.txt; '
        data = plans.data(
            plans.step("m", plans.unit("sh", "-c", log + 'printf %s "$AKM_ITEM"'), over="params.l"),
            plans.step("a", plans.unit("sh", "-c", log + "printf big; printf %s $AKM_INPUTS >&2"), ["steps.m.output"]),
            plans.step("z", plans.unit("sh", "-c", log + script), ["steps.a.output"]),
            params={"l": {"type": "array", "default": [1, 2, 1]}},
            budget={"maxUnits": 5},
            outputs={"r": "steps.z.output"},
        )
        (tmp_path / "plan.json").write_bytes(data)

    return write


def test_only_what_was_edited_is_paid_for(run_program: Run, tmp_path: Path, two: Callable[[str], None]) -> None:
    two("exit 1")
    old = document(run_program("akm-run", "plan.json", "--json", expect=1))["runId"]
    assert len((tmp_path / "n.txt").read_text().split()) == 5
    two("echo good")
    dry = document(run_program("akm-run", "plan.json", "--dry-run", "--reuse", old, "--json"))
    assert [step["verdict"] for step in dry["steps"]] == ["reuse", "reuse", "run"]
    assert (dry["wouldRun"], dry["wouldReuse"], dry["reuses"]) == (1, 4, old)
    (unit,) = dry["steps"][2]["units"]
    assert unit == {"id": "z:solo", "verdict": "run", "why": f"target (command) differs from run {old}"}
    assert len(document(run_program("akm-run", "list", "--json"))["runs"]) == 1
    done = document(run_program("akm-run", "plan.json", "--reuse", old, "--json"))
    assert (done["status"], done["outputs"], done["unitsDispatched"]) == ("completed", {"r": "good"}, 1)
    assert [step["unitCount"] for step in done["steps"]] == [3, 1, 1]
    assert (tmp_path / "n.txt").read_text().split()[5:] == ["z:solo"]
    units = document(run_program("akm-run", "status", done["runId"], "--units", "--json"))["units"]
    assert [unit.get("reusedFrom") for unit in units] == [old] * 4 + [None]
    assert f"reused from {old}" in run_program("akm-run", "status", done["runId"], "--units").stdout
    events = [json.loads(line) for line in run_program("akm-run", "events", done["runId"]).stdout.splitlines()]
    assert [event["type"] for event in events].count("unit.reused") == 4

    why = document(run_program("akm-run", "why", done["runId"], "z:solo", "--json"))
    assert (why["differs"], why["comparedWith"]) == ("target", old)
    assert "dispatched as attempt 1" in why["verdict"] and "target (command)" in why["verdict"]
    assert [part["name"] for part in why["parts"]] == ["hashVersion", "target", "input steps.a.output", "param l"]
    assert [part["sha256"] == part["other"] for part in why["parts"]] == [True, False, True, True]
    text = run_program("akm-run", "why", done["runId"], "a:solo").stdout
    assert f"reused from run {old}" in text and "every part is equal" in text
    again = document(run_program("akm-run", "plan.json", "--reuse", done["runId"], "--json"))
    assert (again["unitsDispatched"], again["outputs"]) == (0, {"r": "good"})


def test_a_changed_param_is_named(run_program: Run, two: Callable[[str], None]) -> None:
    two("echo good")
    old = document(run_program("akm-run", "plan.json", "--json"))["runId"]
    new = document(run_program("akm-run", "plan.json", "--l", "[1]", "--reuse", old, "--max-steps", "1", "--json"))
    assert new["unitsDispatched"] == 1
    text = run_program("akm-run", "why", new["runId"], "z:solo").stdout
    assert "has not been reached" in text
    (first,) = document(run_program("akm-run", "status", new["runId"], "--units", "--json"))["units"]
    why = document(run_program("akm-run", "why", new["runId"], first["id"], "--json"))
    assert why["differs"] == "param l"
    assert why["inputHash"] != UNKNOWN


UNKNOWN = "0" * 64


def test_what_why_and_reuse_refuse(run_program: Run, tmp_path: Path, two: Callable[[str], None]) -> None:
    two("echo good")
    assert "no run of" in run_program("akm-run", "plan.json", "--reuse", "none", expect=2).stderr
    assert not (tmp_path / ".akm").exists()
    run_id = document(run_program("akm-run", "plan.json", "--json"))["runId"]
    assert 'did you mean "z:solo"?' in run_program("akm-run", "why", run_id, "z:sole", expect=2).stderr
    assert "exists already" in run_program("akm-run", run_id, "--reuse", run_id, "--max-steps", "1", expect=2).stderr
    assert "needs a plan file" in run_program("akm-run", run_id, "--dry-run", expect=2).stderr


def test_a_dry_run_without_a_past(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    leaf = plans.data(plans.step("x", plans.unit(timeoutMs=1500)), params={"p": {"type": "integer", "default": 1}})
    data = plans.data(
        plans.step("a", plans.ask(llm=True, api_key="NOT_SET", width=2, timeoutMs=60000), over="params.l"),
        plans.step("kid", plans.child(leaf)),
        plans.route("r", "params.w", [("left", "p")], default="q"),
        plans.step("p"),
        plans.step("q", inputs=["steps.a.output"]),
        plans.route("s", "steps.q.output", [("x", "t")], default="t"),
        plans.step("t", inputs=["params.w"]),
        params={"l": {"type": "array"}, "w": {"type": "string", "default": "right"}},
        budget={"maxTokens": 10},
    )
    (tmp_path / "plan.json").write_bytes(data)
    words = ("akm-run", "plan.json", "--dry-run", "--l", "[1, 2]")
    dry = document(run_program(*words, "--json"))
    assert [(step["id"], step["verdict"]) for step in dry["steps"]] == [
        ("a", "run"), ("kid", "run"), ("r", "decided"), ("p", "skip"), ("q", "unknown"), ("s", "unknown"), ("t", "unknown"),
    ]  # fmt: skip
    first, kid = dry["steps"][:2]
    assert (first["engine"], first["width"], first["timeoutMs"], len(first["units"])) == ("model", 2, 60000, 2)
    assert (kid["timeoutMs"], kid["child"][0]["verdict"], kid["child"][0]["timeoutMs"]) == (None, "run", 1500)
    assert (dry["wouldRun"], dry["unknownSteps"], dry["budget"]) == (4, 3, {"maxTokens": 10})
    text = run_program(*words).stdout
    assert "selects q" in text and "depends on steps.a.output" in text and "timeout 60 s" in text
    assert not (tmp_path / ".akm").exists()


def test_judge_answers_are_taken_over_and_rounds_forecast(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    from akm_schemas.hashing import target_hash

    step = plans.step("a", plans.ask(), rubric="- ok", loops=2)
    judge = step["gate"]["judge"]
    script = 'cat > /dev/null; echo j >> j.txt; if [ -e seen ]; then echo "{\\"complete\\": true}"; else : > seen; '
    script += 'echo "{\\"complete\\": false, \\"missing\\": [], \\"feedback\\": \\"more\\"}"; fi'
    judge["engine"] |= {"bin": "sh", "args": ["-c", script]}
    del judge["contentHash"]
    judge["contentHash"] = target_hash(judge)
    (tmp_path / "plan.json").write_bytes(plans.data(step, plans.step("b", inputs=["steps.a.output"])))
    old = document(run_program("akm-run", "plan.json", "--json"))
    assert (old["status"], old["unitsDispatched"]) == ("completed", 5)
    dry = document(run_program("akm-run", "plan.json", "--dry-run", "--reuse", old["runId"], "--json"))
    assert [unit["id"] for unit in dry["steps"][0]["units"]] == ["a:solo", "a:gate~l1", "a:solo~l2", "a:gate~l2"]
    assert (dry["wouldRun"], dry["wouldReuse"]) == (0, 5)
    new = document(run_program("akm-run", "plan.json", "--reuse", old["runId"], "--json"))
    assert (new["status"], new["unitsDispatched"]) == ("completed", 0)
    assert new["steps"][0]["output"] == old["steps"][0]["output"]
    assert (tmp_path / "j.txt").read_text() == "j\nj\n"
    why = document(run_program("akm-run", "why", new["runId"], "a:gate~l2", "--json"))
    assert [part["name"] for part in why["parts"]] == ["hashVersion", "target", "rubric", "artifact"]
    assert "differs" not in why and "reused" in why["verdict"]


def test_a_last_rejection_is_taken_over_and_the_judge_asked_again_by_going_on(
    run_program: Run, tmp_path: Path, plans: PlanMaker
) -> None:
    from akm_schemas.hashing import target_hash

    step = plans.step("a", plans.ask(), rubric="- ok")
    judge = step["gate"]["judge"]
    script = 'cat > /dev/null; echo j >> j.txt; if [ -e ok ]; then echo "{\\"complete\\": true}"; else '
    script += 'echo "{\\"complete\\": false, \\"missing\\": [], \\"feedback\\": \\"more\\"}"; fi'
    judge["engine"] |= {"bin": "sh", "args": ["-c", script]}
    del judge["contentHash"]
    judge["contentHash"] = target_hash(judge)
    (tmp_path / "plan.json").write_bytes(plans.data(step))
    old = document(run_program("akm-run", "plan.json", "--json", expect=1))["runId"]
    new = document(run_program("akm-run", "plan.json", "--reuse", old, "--json", expect=1))
    assert (new["status"], new["unitsDispatched"], new["steps"][0]["failureReason"]) == ("active", 0, "gate_rejected")
    (tmp_path / "ok").touch()
    done = document(run_program("akm-run", new["runId"], "--json"))
    assert (done["status"], done["unitsDispatched"]) == ("completed", 1)
    assert (tmp_path / "j.txt").read_text() == "j\nj\n"


def test_an_edit_in_a_child_is_paid_for_alone(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    def write(last: str) -> None:
        log = 'echo "$AKM_STEP_ID" >> n.txt; '
        leaf = plans.data(
            plans.step("one", plans.unit("sh", "-c", log)), plans.step("two", plans.unit("sh", "-c", log + last))
        )
        middle = plans.data(plans.step("kid", plans.child(leaf)))
        (tmp_path / "plan.json").write_bytes(plans.data(plans.step("top", plans.child(middle))))

    write("exit 1")
    old = document(run_program("akm-run", "plan.json", "--json", expect=1))["runId"]
    write("exit 0")
    dry = document(run_program("akm-run", "plan.json", "--dry-run", "--reuse", old, "--json"))
    inner = dry["steps"][0]["child"][0]["child"]
    assert [step["verdict"] for step in inner] == ["reuse", "run"]
    assert document(run_program("akm-run", "plan.json", "--reuse", old, "--json"))["status"] == "completed"
    assert (tmp_path / "n.txt").read_text() == "one\ntwo\ntwo\n"


def test_big_results_are_taken_over_whole(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    script = "import sys; sys.stdout.write('x' * 1200000)"
    data = plans.data(
        plans.step("a", plans.unit("python3", "-c", script)),
        plans.step("b", plans.unit("sh", "-c", "test -e ok"), ["params.n"]),
        params={"n": {"default": 1}},
    )
    (tmp_path / "plan.json").write_bytes(data)
    old = document(run_program("akm-run", "plan.json", "--json", expect=1))["runId"]
    (tmp_path / "ok").touch()
    new = document(run_program("akm-run", "plan.json", "--reuse", old, "--json"))
    assert len(new["steps"][0]["output"]) == 1_200_000 and new["unitsDispatched"] == 1
    raw = sqlite3.connect(tmp_path / ".akm" / "state.db")
    assert raw.execute("SELECT count(*) FROM blobs").fetchone() == (1,)
    raw.close()


def test_files_of_version_1_are_brought_up(run_program: Run, tmp_path: Path, two: Callable[[str], None]) -> None:
    two("echo good")
    run_id = document(run_program("akm-run", "plan.json", "--json"))["runId"]
    raw = sqlite3.connect(tmp_path / ".akm" / "state.db")
    for table, column in (
        ("runs", "outputs_blob"),
        ("runs", "reuses"),
        ("units", "reused_run"),
        ("units", "reused_unit"),
    ):
        raw.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    raw.execute("PRAGMA user_version=1")
    raw.commit()
    raw.close()
    assert document(run_program("akm-run", "status", run_id, "--json"))["status"] == "completed"
    assert document(run_program("akm-run", "plan.json", "--reuse", run_id, "--json"))["unitsDispatched"] == 0


@pytest.mark.parametrize("pruned", [False, True])
def test_a_reusing_run_goes_on_whether_its_source_is_still_there(
    run_program: Run, tmp_path: Path, two: Callable[[str], None], pruned: bool
) -> None:
    two("echo good")
    old = document(run_program("akm-run", "plan.json", "--json"))["runId"]
    new = document(run_program("akm-run", "plan.json", "--reuse", old, "--max-steps", "1", "--json"))
    assert (new["status"], new["unitsDispatched"]) == ("active", 0)
    if pruned:
        assert run_program("akm-run", "prune", "--older-than", "0s").stdout == f"{old}\n"
    done = document(run_program("akm-run", new["runId"], "--json"))
    assert (done["status"], done["outputs"]) == ("completed", {"r": "good"})
    assert done["unitsDispatched"] == (2 if pruned else 0)


def test_a_dry_run_decides_with_the_budget(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    steps = (plans.step("a"), plans.step("m", over="params.l"), plans.step("z"))
    params = {"l": {"type": "array"}}
    (tmp_path / "plan.json").write_bytes(plans.data(*steps, params=params, budget={"maxUnits": 5}))
    words = ("akm-run", "plan.json", "--l", json.dumps(list(range(8))))
    dry = document(run_program(*words, "--dry-run", "--json"))
    assert [step["verdict"] for step in dry["steps"]] == ["run", "fail", "unknown"]
    assert [unit["verdict"] for unit in dry["steps"][1]["units"]] == ["run"] * 4 + ["stop"] * 4
    assert (dry["wouldRun"], dry["steps"][1]["why"]) == (
        5,
        "budget exceeded (max_units ceiling): 4 of 8 units can run or be reused",
    )
    done = document(run_program(*words, "--json", expect=1))
    assert (done["unitsDispatched"], done["steps"][1]["failureReason"]) == (5, "budget_exceeded")
    one = plans.data(*steps, params=params, budget={"maxUnits": 1, "maxTokens": 1})
    (tmp_path / "plan.json").write_bytes(one)
    assert "budget: 1 unit, 1 token\n" in run_program(*words, "--dry-run").stdout
    (tmp_path / "plan.json").write_bytes(plans.data(*steps, params=params))
    assert (
        "budget: 10000 units (no budget.max_units is set), any number of tokens"
        in run_program(*words, "--dry-run").stdout
    )


def test_an_empty_list_is_decided(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    data = plans.data(plans.step("m", over="params.l"), plans.step("z", inputs=["steps.m.output"]))
    (tmp_path / "plan.json").write_bytes(data)
    dry = document(run_program("akm-run", "plan.json", "--dry-run", "--l", "no list", "--json"))
    assert [step["verdict"] for step in dry["steps"]] == ["fail", "unknown"]
    dry = document(run_program("akm-run", "plan.json", "--dry-run", "--l", "[]", "--json"))
    assert [step["verdict"] for step in dry["steps"]] == ["decided", "run"]
    data = plans.data(
        plans.step("m", over="params.l"),
        plans.step("z", inputs=["steps.m.output"]),
        params={"l": {"type": "array", "default": []}},
    )
    (tmp_path / "plan.json").write_bytes(data)
    dry = document(run_program("akm-run", "plan.json", "--dry-run", "--json"))
    assert [step["verdict"] for step in dry["steps"]] == ["decided", "run"]
