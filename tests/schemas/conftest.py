"""Small plans by hand, as plain JSON values, with their hashes."""

from __future__ import annotations

import base64
import json
import pathlib
from typing import Any

import pytest

from akm_schemas.canonical import canonical_bytes
from akm_schemas.decode import PlanError, decode_plan
from akm_schemas.hashing import content_hash, plan_hash, sha256_hex, target_hash

JsonDict = dict[str, Any]


def reference(text: str, name: str, *path: str | int, root: str = "steps") -> JsonDict:
    return {"text": text, "root": root, "name": name, "path": list(path)}


def exec_target(*command: str, **more: Any) -> JsonDict:
    return {"kind": "exec", "command": list(command), "passEnv": [], "inputBindings": [], **more}


def llm_target(name: str = "local", **more: Any) -> JsonDict:
    engine = {"kind": "llm", "name": name, "endpoint": "http://127.0.0.1:9/v1/chat/completions"}
    target = {"kind": "command", "template": "none", "engine": engine, "model": "m", "concurrency": 1}
    return {**target, "inputBindings": [], **more}


def script_target(data: bytes, **more: Any) -> JsonDict:
    text = base64.b64encode(data).decode()
    return {
        "kind": "script",
        "ref": "scripts/list.sh",
        "interpreter": ["sh"],
        "extension": ".sh",
        "bytesBase64": text,
        "byteLength": len(data),
        "inputBindings": [],
        **more,
    }


def child_target(plan: JsonDict, **more: Any) -> JsonDict:
    return {
        "kind": "child-workflow",
        "ref": "workflows/kid",
        "via": "direct",
        "inputBindings": [],
        "planHash": plan["planHash"],
        "frozenPlan": plan,
        **more,
    }


def unit(target: JsonDict, **more: Any) -> JsonDict:
    return {
        "target": target,
        "instructions": "Do it.",
        "env": [],
        "retry": {"max": 0, "on": []},
        "onError": "fail",
        "isolation": "none",
        "timeoutMs": 600000,
        **more,
    }


def unit_step(name: str, target: JsonDict, **more: Any) -> JsonDict:
    return {"id": name, "kind": "unit", "inputs": [], "unit": unit(target), **more}


def plan_of(*steps: JsonDict, **more: Any) -> JsonDict:
    for index, step in enumerate(steps):
        step["index"] = index
    return {
        "irVersion": 5,
        "params": {},
        "budget": {},
        "execution": {"maxConcurrency": None},
        "steps": list(steps),
        "outputs": {},
        "provenance": {
            "title": "A",
            "ref": "workflows/a",
            "sourceFormat": "markdown",
            "sourceHash": sha256_hex(b"source"),
            "sourceReadSet": [
                {"ref": "workflows/a", "path": "workflows/a.md", "sha256": sha256_hex(b"source"), "size": 6}
            ],
            "toolchain": {"name": "akmc", "lowering": 1},
            "spans": {"steps.0": [3, 5, 3, 9]},
        },
        **more,
    }


def sealed(plan: JsonDict) -> JsonDict:
    """``plan`` with every hash filled in, in place; embedded plans are sealed already."""
    for step in plan["steps"]:
        if "unit" in step:
            holder = step["unit"]
            holder["target"]["contentHash"] = target_hash(
                holder["target"], env=holder["env"], instructions=holder["instructions"]
            )
        if "gate" in step:
            step["gate"]["judge"]["contentHash"] = target_hash(step["gate"]["judge"])
    plan["contentHash"] = content_hash(plan)
    plan["planHash"] = plan_hash(plan)
    return plan


def file_of(plan: JsonDict) -> bytes:
    return canonical_bytes(plan) + b"\n"


def small_plan() -> JsonDict:
    return sealed(plan_of(unit_step("build", exec_target("make", "everything"))))


def gate(**more: Any) -> JsonDict:
    return {"rubric": "All there?", "maxLoops": 2, "judge": llm_target("judge", model="tiny"), **more}


def rich_plan() -> JsonDict:
    """Every kind of step, target, binding and engine, two levels of children."""
    grandchild = sealed(plan_of(unit_step("deep", exec_target("true"))))
    child = sealed(
        plan_of(
            unit_step("inner", child_target(grandchild, via="task", taskRef="tasks/t")),
            params={"size": {"type": "integer", "default": 3}, "name": {"type": "string"}},
        )
    )
    agent = {"kind": "agent", "name": "coder", "platform": "opencode-sdk", "args": ["-q"], "bin": "opencode"}
    agent["llmEngine"] = llm_target("back", model="m")["engine"]
    ask = unit_step(
        "ask", llm_target(model="m", llm={"temperature": 0.5, "extraParams": {"top_k": 1e20}}, concurrency=1)
    )
    ask["gate"] = gate()
    ask["unit"]["output"] = {
        "type": "object",
        "properties": {"rows": {"type": "array"}, "\U0001f600": {}, "\uffff": {}},
    }
    fan = {
        "id": "fan",
        "kind": "map",
        "inputs": [reference("params.limit", "limit", root="params")],
        "map": {"over": reference("steps.ask.output.rows", "ask", "rows"), "concurrency": 4, "reducer": "collect"},
        "unit": unit(
            {**llm_target(), "engine": agent, "prompt": "Fix it.", "options": {"tools": ["a"]}}, timeoutMs=None
        ),
    }
    route = {
        "id": "pick",
        "kind": "route",
        "inputs": [],
        "route": {
            "input": reference("steps.fan.output[0].kind", "fan", 0, "kind"),
            "when": [{"match": 1.5, "step": "list"}, {"match": True, "step": "kid"}, {"match": "x", "step": "kid"}],
            "default": "kid",
        },
    }
    listing = unit_step("list", script_target(b"#!/bin/sh\nls -1\n"))
    listing["unit"]["env"] = [
        {"kind": "literal", "name": "A", "value": "1"},
        {"kind": "pass-through", "name": "B"},
        {"kind": "env-ref", "ref": "env/e", "path": "env/e.env", "keys": ["K"], "secretNames": ["s"]},
    ]
    kid = unit_step("kid", child_target(child))
    kid["unit"]["target"]["inputBindings"] = [
        {"kind": "literal", "name": "size", "value": 4},
        {
            "kind": "reference",
            "name": "name",
            "from": reference("steps.list.output", "list"),
            "schema": {"type": "string"},
        },
    ]
    return sealed(
        plan_of(
            ask,
            fan,
            route,
            listing,
            kid,
            params={"limit": {"type": "integer", "minimum": 0.5}},
            budget={"maxUnits": 100, "maxTokens": 9},
            outputs={"all": {"from": reference("steps.fan.output", "fan"), "schema": {"type": "array"}}},
        )
    )


REMOVED = object()
PLANS = pathlib.Path(__file__).resolve().parents[1] / "golden" / "plans"


def pinned(name: str) -> JsonDict:
    """A plan that the compiler wrote."""
    return json.loads((PLANS / name / "plan.json").read_text())  # type: ignore[no-any-return]


def resealed(plan: JsonDict) -> JsonDict:
    """``plan`` with every hash right, those of embedded plans first."""
    for step in plan["steps"]:
        target = step.get("unit", {}).get("target", {})
        if isinstance(target.get("frozenPlan"), dict):
            target["planHash"] = resealed(target["frozenPlan"])["planHash"]
    return sealed(plan)


def changed(plan: JsonDict, at: str, value: Any) -> JsonDict:
    """``plan`` with ``value`` (or what it makes of the old one) at the dotted place ``at``; REMOVED takes it away."""
    *names, last = [int(word) if word.isdigit() else word for word in at.split(".")]
    holder: Any = plan
    for name in names:
        holder = holder[name]
    if value is REMOVED:
        del holder[last]
    else:
        holder[last] = value(holder[last]) if callable(value) else value
    return plan


def broken(name: str, at: str, value: Any) -> PlanError:
    """Why a pinned plan is refused with one value changed and every hash right."""
    with pytest.raises(PlanError) as caught:
        decode_plan(file_of(resealed(changed(pinned(name), at, value))))
    return caught.value


class Kit:
    """The helpers above as one fixture: modules of tests cannot import each other."""

    reference = staticmethod(reference)
    exec_target = staticmethod(exec_target)
    llm_target = staticmethod(llm_target)
    script_target = staticmethod(script_target)
    child_target = staticmethod(child_target)
    unit_step = staticmethod(unit_step)
    plan_of = staticmethod(plan_of)
    sealed = staticmethod(sealed)
    file_of = staticmethod(file_of)
    small_plan = staticmethod(small_plan)
    rich_plan = staticmethod(rich_plan)
    gate = staticmethod(gate)
    REMOVED = REMOVED
    pinned = staticmethod(pinned)
    resealed = staticmethod(resealed)
    changed = staticmethod(changed)
    broken = staticmethod(broken)


@pytest.fixture(scope="session")
def kit() -> Kit:
    return Kit()
