"""Whatever moves contentHash is named, and what does not is never called a change of meaning."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akm_schemas.hashing import content_hash, plan_hash, target_hash
from akm_schemas.plan import Plan
from akmc.diff.compare import compare_plans

ENGINE = {"kind": "llm", "name": "local", "endpoint": "http://127.0.0.1:9/v1/chat/completions"}
COMMANDS = st.lists(st.sampled_from(["make", "all", "-j"]), min_size=1, max_size=3)


def _targets() -> st.SearchStrategy[dict[str, Any]]:
    runs = st.builds(
        lambda command, passed: {"kind": "exec", "command": command, "passEnv": passed, "inputBindings": []},
        COMMANDS,
        st.lists(st.sampled_from(["A", "B"]), unique=True),
    )
    asks = st.builds(
        lambda model: {"kind": "command", "template": "none", "engine": ENGINE, "model": model, "inputBindings": []},
        st.sampled_from(["m", "n"]),
    )
    return st.one_of(runs, asks)


def _steps() -> st.SearchStrategy[dict[str, Any]]:
    unit = st.builds(
        lambda target, text, timeout, isolation: {
            "target": target,
            "instructions": text,
            "env": [],
            "retry": {"max": 0, "on": []},
            "onError": "fail",
            "isolation": isolation,
            "timeoutMs": timeout,
        },
        _targets(),
        st.sampled_from(["One.", "One more.", "Two\nlines."]),
        st.sampled_from([None, 1000]),
        st.sampled_from(["none", "worktree"]),
    )
    return st.builds(lambda unit: {"kind": "unit", "inputs": [], "unit": unit}, unit)


def _plans() -> st.SearchStrategy[Plan]:
    schema = st.sampled_from([{"type": "string"}, {"enum": ["a"]}, {"type": "string", "default": "a"}])
    return st.builds(
        _sealed,
        st.lists(st.tuples(st.sampled_from("abcd"), _steps()), min_size=1, max_size=4, unique_by=lambda pair: pair[0]),
        st.dictionaries(st.sampled_from(["p", "q"]), schema, max_size=2),
        st.sampled_from([{}, {"maxUnits": 3}]),
    )


def _sealed(steps: list[tuple[str, dict[str, Any]]], params: dict[str, Any], budget: dict[str, Any]) -> Plan:
    plan: dict[str, Any] = {
        "irVersion": 5,
        "params": params,
        "budget": budget,
        "execution": {"maxConcurrency": None},
        "steps": [{"id": name, "index": index, **copy.deepcopy(step)} for index, (name, step) in enumerate(steps)],
        "outputs": {},
        "provenance": {
            "title": "",
            "ref": "workflows/a",
            "sourceFormat": "markdown",
            "sourceHash": "",
            "sourceReadSet": [],
            "toolchain": {"name": "akmc", "lowering": 1},
            "spans": {},
        },
    }
    for step in plan["steps"]:
        unit = step["unit"]
        prompt = unit["instructions"] if unit["target"]["kind"] == "command" else None
        unit["target"]["contentHash"] = target_hash(unit["target"], env=[], instructions=prompt)
    plan["contentHash"] = content_hash(plan)
    plan["planHash"] = plan_hash(plan)
    return msgspec.convert(plan, Plan)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_plans(), _plans())
def test_content_hash_moves_exactly_with_a_named_change(old: Plan, new: Plan) -> None:
    diff = compare_plans(old, new)
    meaning = [change for change in diff.changes if change.class_ != "provenance"]
    assert bool(meaning) == (old.content_hash != new.content_hash)
    assert diff.equal == (old.plan_hash == new.plan_hash)
    assert all(change.path != "contentHash" for change in meaning)
    assert sum(msgspec.structs.astuple(diff.summary)) == len(diff.changes)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_plans(), _plans())
def test_both_directions_see_the_same_steps(old: Plan, new: Plan) -> None:
    forth, back = compare_plans(old, new), compare_plans(new, old)
    assert bool(forth.changes) == bool(back.changes)
    assert {step.id for step in forth.steps} == {step.id for step in new.steps}
