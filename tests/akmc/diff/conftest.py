"""Hand-made plans for the comparison: small JSON in, sealed plan out."""

from __future__ import annotations

import base64
import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from akm_schemas.hashing import content_hash, plan_hash, target_hash
from akm_schemas.plan import Plan

LOCAL = {"kind": "llm", "name": "local", "endpoint": "http://127.0.0.1:9/v1/chat/completions"}


class Plans:
    """Builds plans and their parts as JSON objects."""

    def exec(self, *command: str, **keys: Any) -> dict[str, Any]:
        return {"kind": "exec", "command": list(command), "passEnv": [], "inputBindings": [], **keys}

    def prompt(self, **keys: Any) -> dict[str, Any]:
        return {"kind": "command", "template": "none", "engine": dict(LOCAL), "model": "m", "inputBindings": [], **keys}

    def script(self, text: str, **keys: Any) -> dict[str, Any]:
        data = base64.b64encode(text.encode()).decode()
        script = {"kind": "script", "ref": "scripts/x.sh", "interpreter": ["sh"], "extension": "sh"}
        return {**script, "bytesBase64": data, "byteLength": len(text.encode()), "inputBindings": [], **keys}

    def child(self, plan: Plan, **keys: Any) -> dict[str, Any]:
        frozen = msgspec.to_builtins(plan)
        child = {"kind": "child-workflow", "ref": "workflows/kid", "via": "direct", "inputBindings": []}
        return {**child, "planHash": plan.plan_hash, "frozenPlan": frozen, **keys}

    def unit(self, target: dict[str, Any], instructions: str = "Go.", **keys: Any) -> dict[str, Any]:
        policy = {"env": [], "retry": {"max": 0, "on": []}, "onError": "fail", "isolation": "none", "timeoutMs": 600000}
        return {"target": target, "instructions": instructions, **policy, **keys}

    def step(self, name: str, target: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
        """A unit step; keys of the unit stand under ``unit``, others are the step's own."""
        unit_keys = keys.pop("unit", {})
        step: dict[str, Any] = {"id": name, "kind": "map" if "map" in keys else "unit", "inputs": [], **keys}
        if "route" in keys:
            return {**step, "kind": "route"}
        return {**step, "unit": self.unit(target or self.exec("make"), **unit_keys)}

    def ref(self, text: str) -> dict[str, Any]:
        root, name, *rest = text.split(".")
        return {"text": text, "root": root, "name": name, "path": [part for part in rest if part != "output"]}

    def plan(self, *steps: dict[str, Any], **keys: Any) -> Plan:
        """A sealed plan of copies of ``steps``."""
        plan: dict[str, Any] = {
            "irVersion": 5,
            "params": {},
            "budget": {},
            "execution": {"maxConcurrency": None},
            "steps": [{**step, "index": index} for index, step in enumerate(copy.deepcopy(list(steps)))],
            "outputs": {},
            "provenance": {
                "title": "A",
                "ref": "workflows/a",
                "sourceFormat": "markdown",
                "sourceHash": "0" * 64,
                "sourceReadSet": [{"ref": "workflows/a", "path": "workflows/a.md", "sha256": "0" * 64, "size": 1}],
                "toolchain": {"name": "akmc", "lowering": 1},
                "spans": {f"steps.{index}": [3 + index, 5, 3 + index, 9] for index in range(len(steps))},
            },
            **keys,
        }
        for step in plan["steps"]:
            self._seal(step)
        plan["contentHash"] = ""
        plan["contentHash"] = content_hash(plan)
        plan["planHash"] = plan_hash(plan)
        return msgspec.convert(plan, Plan)

    def _seal(self, step: dict[str, Any]) -> None:
        if "unit" in step:
            unit = step["unit"]
            target = unit["target"]
            prompt = unit["instructions"] if target["kind"] == "command" else None
            target["contentHash"] = target_hash(target, env=unit["env"], instructions=prompt)
        if "gate" in step:
            step["gate"]["judge"]["contentHash"] = target_hash(step["gate"]["judge"])


@pytest.fixture
def plans() -> Plans:
    return Plans()


Compare = Callable[[Plan, Plan], list[tuple[str, str]]]


@pytest.fixture
def changes() -> Compare:
    """``(class, path)`` of every change."""
    from akmc.diff.compare import compare_plans

    def run(old: Plan, new: Plan) -> list[tuple[str, str]]:
        return [(change.class_, change.path) for change in compare_plans(old, new).changes]

    return run
