"""What each hash covers."""

from __future__ import annotations

import copy
import hashlib
from typing import Any

import pytest

from akm_schemas.hashing import (
    content_hash,
    content_preimage,
    json_hash,
    plan_hash,
    sha256_hex,
    target_hash,
    target_preimage,
)


def test_hashes_are_lower_case_hexadecimal_sha256() -> None:
    assert sha256_hex(b"abc") == hashlib.sha256(b"abc").hexdigest()
    assert json_hash({"b": 1.0, "a": "é"}) == hashlib.sha256('{"a":"é","b":1}'.encode()).hexdigest()


def test_preimage_of_each_target(kit: Any) -> None:
    env: Any = [{"kind": "pass-through", "name": "A"}]
    exec_ = kit.exec_target("make", cwd="sub", contentHash="x")
    assert target_preimage(exec_, env=env) == {
        "command": ["make"],
        "cwd": "sub",
        "passEnv": [],
        "inputBindings": [],
        "env": env,
    }
    script = kit.script_target(b"ls\n", contentHash="x")
    assert target_preimage(script, env=[]) == {
        "interpreter": ["sh"],
        "extension": ".sh",
        "bytesSha256": sha256_hex(b"ls\n"),
        "inputBindings": [],
        "env": [],
    }
    child = kit.child_target(kit.small_plan())
    assert target_preimage(child, env=env) == {"child": child["frozenPlan"]["contentHash"], "inputBindings": []}


def test_the_prompt_is_what_the_engine_gets(kit: Any) -> None:
    bare = kit.llm_target(model="m", concurrency=3)
    assert target_preimage(bare, env=[], instructions="Go.")["prompt"] == "Go."
    assert "concurrency" not in target_preimage(bare)
    assert "prompt" not in target_preimage(bare)
    assert "env" not in target_preimage(bare)
    own = kit.llm_target(prompt="Fix.", template="arguments", options={"a": 1})
    preimage = target_preimage(own, env=[], instructions="commands/fix")
    assert (preimage["prompt"], preimage["template"], preimage["options"]) == ("Fix.", "arguments", {"a": 1})


def test_the_kind_is_in_the_prefix(kit: Any) -> None:
    target = kit.exec_target("make")
    text = b'{"command":["make"],"env":[],"inputBindings":[],"passEnv":[]}'
    assert target_hash(target, env=[]) == sha256_hex(b"akm.target.exec\0v1\0" + text)


def test_content_stands_on_stubs(kit: Any) -> None:
    plan = kit.rich_plan()
    preimage = content_preimage(plan)
    assert {"planHash", "contentHash", "provenance"}.isdisjoint(preimage)
    steps: Any = preimage["steps"]
    assert [set(step["unit"]["target"]) for step in steps if "unit" in step] == [{"kind", "contentHash"}] * 4
    assert set(steps[0]["gate"]["judge"]) == {"kind", "contentHash"}
    assert all("instructions" not in step.get("unit", {}) for step in steps)
    assert "instructions" in plan["steps"][0]["unit"], "the plan itself is left alone"


@pytest.mark.parametrize(
    ("path", "value", "content"),
    [
        (("steps", 0, "gate", "rubric"), "All?", True),
        (("steps", 0, "unit", "timeoutMs"), 1, True),
        (("steps", 3, "unit", "instructions"), "Other prose.", False),
        (("provenance", "title"), "B", False),
        (("budget", "maxUnits"), 99, True),
        (("outputs", "all", "schema"), {"type": "string"}, True),
    ],
)
def test_what_moves_content_hash_and_plan_hash(kit: Any, path: tuple[Any, ...], value: Any, content: bool) -> None:
    plan = kit.rich_plan()
    changed = copy.deepcopy(plan)
    place = changed
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    assert (content_hash(changed) != content_hash(plan)) is content
    assert plan_hash(changed) != plan_hash(plan)
