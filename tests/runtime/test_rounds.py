"""``why`` tells every round of a gate: what the judge said, what came of it, and what an earlier round was given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akm_schemas.hashing import target_hash

if TYPE_CHECKING:
    from tests.conftest import Run
    from tests.runtime.conftest import PlanMaker

REJECTED = '{"complete": false, "missing": ["proof"], "feedback": "Prove it."}'
ACCEPTED = '{"complete": true}'


def scripted(engine_dir: Path, name: str, *answers: str) -> dict[str, Any]:
    """An engine whose n-th answer is the n-th of ``answers``."""
    program = engine_dir / name
    lines = ["#!/bin/sh", "cat > /dev/null", f'n=$(cat "{program}.n" 2>/dev/null || echo 1)']
    lines += [f'echo $((n + 1)) > "{program}.n"', "case $n in"]
    lines += [f"{number}) printf '%s' '{answer}' ;;" for number, answer in enumerate(answers, 1)]
    program.write_text("\n".join([*lines, "*) exit 7 ;;", "esac", ""]))
    program.chmod(0o755)
    return {"kind": "agent", "name": name, "platform": "command", "bin": str(program)}


def gated(plans: PlanMaker, judge: dict[str, Any], unit: dict[str, Any] | None = None, **more: Any) -> bytes:
    step = plans.step("draft", plans.ask() if unit is None else unit, rubric="Is it proved?", **more)
    target = {key: value for key, value in step["gate"]["judge"].items() if key != "contentHash"} | {"engine": judge}
    step["gate"]["judge"] = target | {"contentHash": target_hash(target)}
    return plans.data(step)


def why(run_program: Run, run_id: str, unit: str) -> Any:
    return json.loads(run_program("akm-run", "why", run_id, unit, "--json").stdout)


def test_every_round_is_told(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    judge = scripted(tmp_path, "judge", REJECTED, "Fine by me.", REJECTED, ACCEPTED)
    (tmp_path / "plan.json").write_bytes(gated(plans, judge, loops=2))
    blocked = json.loads(run_program("akm-run", "plan.json", "--json", expect=1).stdout)
    run_id = blocked["runId"]
    assert blocked["status"] == "blocked"
    feedback = "Prove it.\nMissing:\n- proof"
    first = {"round": 1, "unit": "draft:gate~l1", "verdict": "rejected", "feedback": feedback, "ledTo": "round 2"}
    rounds = why(run_program, run_id, "draft:solo")["rounds"]
    assert rounds[0] == first
    assert [(part["round"], part["unit"], part["verdict"]) for part in rounds[1:]] == [
        (2, "draft:gate~l2", "unreadable")
    ]
    assert rounds[1]["ledTo"] == f"the step is blocked; akm-run resume {run_id} lets the judge be asked again"
    assert "JSON" in rounds[1]["feedback"]

    run_program("akm-run", "resume", run_id)
    run_program("akm-run", run_id, expect=1)
    rounds = why(run_program, run_id, "draft:solo~l2")["rounds"]
    assert [part["verdict"] for part in rounds] == ["rejected", "unreadable", "rejected"]
    assert rounds[1]["ledTo"] == "the step was blocked; after resume the judge was asked again"
    assert rounds[2]["ledTo"].startswith("the step stays pending, no round being left")

    run_program("akm-run", run_id)
    text = run_program("akm-run", "why", run_id, "draft:gate~l1").stdout
    assert "  rounds of its gate:\n    1  rejected: round 2\n         | Prove it.\n         | Missing:\n" in text
    assert text.endswith("    2  accepted: the step completed\n")


def test_the_hashes_of_earlier_rounds_are_explained(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    judge = scripted(tmp_path, "judge", REJECTED, REJECTED, ACCEPTED)
    (tmp_path / "plan.json").write_bytes(gated(plans, judge, loops=3))
    run_id = json.loads(run_program("akm-run", "plan.json", "--json").stdout)["runId"]
    digests = {}
    for unit in ("draft:solo", "draft:solo~l2", "draft:solo~l3", "draft:gate~l1", "draft:gate~l2", "draft:gate~l3"):
        document = why(run_program, run_id, unit)
        assert document["parts"], unit
        digests[unit] = {part["name"]: part["sha256"] for part in document["parts"]}
    assert "gateFeedback" not in digests["draft:solo"]
    assert digests["draft:solo~l2"]["gateFeedback"] == digests["draft:solo~l3"]["gateFeedback"]
    assert digests["draft:gate~l1"]["artifact"] != digests["draft:gate~l2"]["artifact"]
    assert run_program("akm-run", "why", run_id, "draft:solo~l4", expect=2).stderr.count("no unit")


def test_a_round_that_missed_its_schema_has_no_judge(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    writer = scripted(tmp_path, "writer", "1", "2", '"x"')
    unit = plans.ask()
    target = {key: value for key, value in unit["target"].items() if key != "contentHash"} | {"engine": writer}
    digest = target_hash(target, env=[], instructions=unit["instructions"])
    unit["target"] = target | {"contentHash": digest}
    judge = scripted(tmp_path, "judge", ACCEPTED)
    (tmp_path / "plan.json").write_bytes(gated(plans, judge, unit, loops=2, output={"type": "string"}))
    run_id = json.loads(run_program("akm-run", "plan.json", "--json").stdout)["runId"]
    rounds = why(run_program, run_id, "draft:solo")["rounds"]
    assert [(part["round"], part["verdict"], part["ledTo"]) for part in rounds] == [
        (1, "schema missed", "round 2"),
        (2, "accepted", "the step completed"),
    ]
    assert "does not fit its schema" in rounds[0]["feedback"] and "unit" not in rounds[0]


def test_a_step_without_gate_has_no_rounds(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("free")))
    run_id = json.loads(run_program("akm-run", "plan.json", "--json").stdout)["runId"]
    assert "rounds" not in why(run_program, run_id, "free:solo")
