"""Which dispatcher performs which target, and what is refused by name."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from akm_run import dispatch
from akm_run.dispatch import command_agent, command_llm, dispatcher_for, exec_unit, script_unit, unsupported
from akm_schemas.plan import (
    AgentEngine,
    Budget,
    ChildTarget,
    CommandTarget,
    ExecTarget,
    Execution,
    Gate,
    LlmEngine,
    Plan,
    Provenance,
    Retry,
    ScriptTarget,
    Step,
    Target,
    Toolchain,
    Unit,
)

HASHED: dict[str, Any] = {"content_hash": "", "input_bindings": []}
LLM = CommandTarget(engine=LlmEngine(name="gpt", endpoint="http://h/v1/chat/completions"), **HASHED)
CLAUDE = CommandTarget(engine=AgentEngine(name="coder", platform="claude"), **HASHED)
TOOL = CommandTarget(engine=AgentEngine(name="tool", platform="command", bin="sh"), **HASHED)
EXEC = ExecTarget(command=["true"], pass_env=[], **HASHED)
SCRIPT = ScriptTarget(ref="scripts/x", interpreter=["sh"], extension=".sh", bytes_base64="", byte_length=0, **HASHED)


def step(name: str, target: Target | None, judge: CommandTarget | None = None) -> Step:
    more: dict[str, Any] = {}
    if target is not None:
        fixed: dict[str, Any] = {
            "retry": Retry(max=0, on=[]),
            "on_error": "fail",
            "isolation": "none",
            "timeout_ms": None,
        }
        more["unit"] = Unit(target=target, instructions="x", env=[], **fixed)
    if judge is not None:
        more["gate"] = Gate(rubric="x", max_loops=1, judge=judge)
    return Step(id=name, index=0, kind="unit", inputs=[], **more)


def plan(*steps: Step) -> Plan:
    provenance = Provenance(
        title="t",
        ref="workflows/t",
        source_format="markdown",
        source_hash="",
        source_read_set=[],
        toolchain=Toolchain(name="akmc", lowering=1),
        spans={},
    )
    return Plan(
        ir_version=5,
        params={},
        budget=Budget(),
        execution=Execution(max_concurrency=None),
        steps=list(steps),
        outputs={},
        provenance=provenance,
        content_hash="",
        plan_hash="",
    )


KID = ChildTarget(
    ref="workflows/kid", via="direct", plan_hash="", frozen_plan=plan(step("deep", LLM), step("ok", EXEC)), **HASHED
)


def test_dispatchers() -> None:
    assert dispatcher_for(EXEC) is exec_unit.perform
    assert dispatcher_for(SCRIPT) is script_unit.perform
    assert dispatcher_for(LLM) is command_llm.perform
    assert dispatcher_for(TOOL) is dispatcher_for(CLAUDE) is command_agent.perform
    assert dispatcher_for(KID) is None


def test_children_are_for_a_driver_that_runs_them() -> None:
    whole = plan(step("a", EXEC, LLM), step("r", None), step("b", CLAUDE), step("c", TOOL, TOOL), step("d", KID))
    assert unsupported(whole) == ["step 'd': a child-workflow unit cannot be run by this akm-run"]
    assert unsupported(whole, children=True) == []


def test_without_an_http_client_llm_engines_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "find_spec", lambda name: None if name == "httpx" else pytest.fail(name))
    lacks = "llm engine 'gpt' needs httpx, which is not installed; pip install httpx"
    whole = plan(step("a", EXEC, LLM), step("r", None), step("b", LLM), step("c", TOOL, TOOL), step("d", KID))
    own = [f"step 'a' (its gate's judge): {lacks}", f"step 'b': {lacks}"]
    assert unsupported(whole)[:-1] == own
    assert unsupported(whole, children=True) == [*own, f"step 'd', workflows/kid, step 'deep': {lacks}"]
    assert unsupported(plan(step("a", EXEC, TOOL), step("b", CLAUDE))) == []


def test_the_interpreter_starts_without_an_http_client() -> None:
    text = (
        "import sys; import akm_run.cli, akm_run.commands.invocation, akm_run.driver, akm_run.preflight\n"
        "import akm_run.dispatch.command_llm, akm_run.dispatch.command_agent\n"
        "print(sorted({'httpx', 'asyncio', 'anyio', 'ssl'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_is_cheap_to_import() -> None:
    text = "import sys, akm_run.dispatch as d; print([m for m in sys.modules if m.startswith('akm_run.dispatch.')])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['akm_run.dispatch.contract']"
