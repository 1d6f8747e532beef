"""A bundle with every kind of step, and scenes by hand."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from akm_schemas.drawing import Arc, Line, Mark, Node, Prose, Scene
from akm_schemas.drawing.model import Kind
from akm_schemas.hashing import content_hash, plan_hash, target_hash
from akm_schemas.plan import Plan

KINDS: tuple[Kind, ...] = ("exec", "prompt", "route")
CONFIG = json.dumps(
    {
        "engines": {"local": {"kind": "llm", "endpoint": "http://127.0.0.1:9/v1/chat/completions", "model": "tiny"}},
        "defaults": {"engine": "local"},
        "workflow": {"judgeEngine": "local"},
    }
)
RELEASE = """\
---
params: {rows: {type: array, default: []}, mode: {type: string}}
outputs: {all: {from: steps.each.output}}
steps:
  - id: build
    unit: {exec: {command: [make, "a b", "<script>alert(1)</script>"]}}
  - id: each
    map: {over: params.rows, concurrency: 2}
    gate: {max_loops: 2}
  - id: fork
    route: {input: params.mode, when: [{match: fast, step: quick}], default: slow}
  - id: quick
    unit: {exec: {command: [make, quick]}}
  - id: slow
    unit: {exec: {command: [make, slow]}}
---
# Release

## build
Builds </pre><script>alert(2)</script>.
## each
Handles one.
### gate
- Handled.
## quick
Quick.
## slow
Slow.
"""
OUTER = """\
name: Outer
on: {workflow_dispatch: null}
jobs:
  main:
    runs-on: [self-hosted]
    steps:
      - {id: hello, run: echo hello}
      - {id: kid, uses: workflows/release, with: {mode: fast}}
"""


@pytest.fixture
def workflows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``workflows/release.md`` and ``workflows/outer.yml``, which composes it, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "no-user-config"))
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "release.md").write_text(RELEASE)
    (tmp_path / "workflows" / "outer.yml").write_text(OUTER)
    return tmp_path


@pytest.fixture
def configured(workflows: Path) -> Path:
    """The same with a config, so that everything freezes."""
    (workflows / ".akm").mkdir()
    (workflows / ".akm" / "config.json").write_text(CONFIG)
    return workflows


@pytest.fixture(scope="session")
def make_scene() -> Callable[..., Scene]:
    """``make_scene(text, steps)``: a scene whose every text is ``text``."""

    def make(text: str = "plain", steps: int = 3) -> Scene:
        lines = (Line("exec", text), Line("over", text))
        mark = Mark(f"~ {text}", "warn", (text,))
        nodes = tuple(
            Node(
                key=str(index),
                id=text,
                kind=KINDS[index % 3],
                mapped=index % 3 == 1,
                optional=index % 2 == 1,
                lines=lines,
                prose=(Prose("instructions", text),),
                mark=mark if index % 3 == 0 else None,
            )
            for index in range(steps)
        )
        arcs = tuple(Arc(index, index + 1, text, mark if index % 2 else None) for index in range(steps - 1))
        return Scene(text, text, lines, nodes, arcs, lines)

    return make


class Plans:
    """Sealed plans from their parts as JSON objects."""

    def exec(self, *command: str) -> dict[str, Any]:
        return {"kind": "exec", "command": list(command), "passEnv": [], "inputBindings": []}

    def prompt(self) -> dict[str, Any]:
        engine = {"kind": "llm", "name": "local", "endpoint": "http://127.0.0.1:9/v1/chat/completions"}
        return {"kind": "command", "template": "none", "engine": engine, "inputBindings": []}

    def script(self, text: str) -> dict[str, Any]:
        data = text.encode()
        script = {"kind": "script", "ref": "scripts/x.sh", "interpreter": ["sh"], "extension": ".sh"}
        return {**script, "bytesBase64": base64.b64encode(data).decode(), "byteLength": len(data), "inputBindings": []}

    def child(self, plan: Plan) -> dict[str, Any]:
        child = {"kind": "child-workflow", "ref": "workflows/kid", "via": "direct", "inputBindings": []}
        return {**child, "planHash": plan.plan_hash, "frozenPlan": msgspec.to_builtins(plan)}

    def ref(self, text: str) -> dict[str, Any]:
        root, name = text.split(".")
        return {"text": text, "root": root, "name": name, "path": []}

    def step(self, name: str, target: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
        step: dict[str, Any] = {"id": name, "kind": "unit", "inputs": [], **keys}
        if "route" in keys:
            return {**step, "kind": "route"}
        policy: dict[str, Any] = {
            "env": [],
            "retry": {"max": 0, "on": []},
            "onError": "fail",
            "isolation": "none",
            "timeoutMs": None,
        }
        return {**step, "unit": {"target": target or self.exec("make"), "instructions": "Go.", **policy}}

    def plan(self, *steps: dict[str, Any], **keys: Any) -> Plan:
        provenance = {"title": "A", "ref": "workflows/a", "sourceFormat": "markdown", "sourceHash": "0" * 64}
        rest = {"sourceReadSet": [], "toolchain": {"name": "akmc", "lowering": 1}, "spans": {}}
        plan: dict[str, Any] = {
            "irVersion": 5,
            "params": {},
            "budget": {},
            "execution": {"maxConcurrency": None},
            "steps": [{**step, "index": index} for index, step in enumerate(copy.deepcopy(list(steps)))],
            "outputs": {},
            "provenance": {**provenance, **rest},
            **keys,
        }
        for unit in (step["unit"] for step in plan["steps"] if "unit" in step):
            prompt = unit["instructions"] if unit["target"]["kind"] == "command" else None
            unit["target"]["contentHash"] = target_hash(unit["target"], env=[], instructions=prompt)
        plan["contentHash"] = content_hash({**plan, "contentHash": ""})
        plan["planHash"] = plan_hash(plan)
        return msgspec.convert(plan, Plan)


@pytest.fixture(scope="session")
def plans() -> Plans:
    return Plans()
