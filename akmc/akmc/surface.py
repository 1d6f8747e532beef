"""All that a plan can touch, its children included: what a reviewer asks of it before it runs."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from msgspec import UNSET

from akm_schemas.canonical import canonical_text
from akm_schemas.hashing import sha256_hex
from akm_schemas.plan import (
    AgentEngine,
    ChildTarget,
    CommandTarget,
    EnvRefBinding,
    ExecTarget,
    LiteralBinding,
    LlmEngine,
    Plan,
    ScriptTarget,
    Step,
    Unit,
)

Section: TypeAlias = Literal["programs", "variables", "secretNames", "endpoints", "models", "paths", "children"]
SECTIONS: Final[tuple[Section, ...]] = (
    "programs",
    "variables",
    "secretNames",
    "endpoints",
    "models",
    "paths",
    "children",
)
# Where an agent engine names no program: the one that its platform is called by.
PLATFORM_PROGRAMS: Final = {
    "claude": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "opencode-sdk": "opencode",
}


@dataclass(frozen=True, slots=True)
class Touched:
    """One thing: its name, how it is touched, and the steps that do, children's as ``step/step``."""

    name: str
    detail: str
    steps: tuple[str, ...]


@dataclass(slots=True)
class _Collector:
    """Rows by section, each with its steps in the order in which they were met."""

    rows: dict[tuple[Section, str, str], list[str]] = field(default_factory=dict)

    def add(self, section: Section, name: str, detail: str, step: str) -> None:
        steps = self.rows.setdefault((section, name, detail), [])
        if step not in steps:
            steps.append(step)


def surface_of(plan: Plan) -> dict[Section, tuple[Touched, ...]]:
    """Everything that ``plan`` and the plans embedded in it can touch, by section, sorted by name and detail."""
    found = _Collector()
    _plan(plan, "", found)
    return {
        section: tuple(
            Touched(name, detail, tuple(steps))
            for (where, name, detail), steps in sorted(found.rows.items())
            if where == section
        )
        for section in SECTIONS
    }


def _plan(plan: Plan, above: str, found: _Collector) -> None:
    for step in plan.steps:
        where = above + step.id
        for target in _commands(step):
            _command(target, "judge" if target is not _own(step) else "prompt", where, found)
        if isinstance(step.unit, Unit):
            _unit(step.unit, where, found)


def _own(step: Step) -> object:
    return step.unit.target if isinstance(step.unit, Unit) else None


def _commands(step: Step) -> Iterator[CommandTarget]:
    if isinstance(own := _own(step), CommandTarget):
        yield own
    if step.gate is not UNSET:
        yield step.gate.judge


def _unit(unit: Unit, where: str, found: _Collector) -> None:
    target = unit.target
    if isinstance(target, ExecTarget):
        found.add("programs", target.command[0], f"exec {canonical_text([*target.command])}", where)
        if target.cwd is not UNSET:
            found.add("paths", target.cwd, "working directory", where)
        for name in target.pass_env:
            found.add("variables", name, "handed on to exec", where)
    elif isinstance(target, ScriptTarget):
        digest = sha256_hex(base64.b64decode(target.bytes_base64))
        found.add("programs", target.interpreter[0], f"script {target.ref} (sha256 {digest})", where)
    elif isinstance(target, ChildTarget):
        via = f" through {target.task_ref}" if target.task_ref is not UNSET else ""
        found.add("children", target.ref, f"contentHash {target.frozen_plan.content_hash}{via}", where)
        _plan(target.frozen_plan, f"{where}/", found)
    if unit.isolation == "worktree":
        found.add("paths", ".", "a git worktree of its own", where)
        found.add("programs", "git", "makes the worktree", where)
    _environment(unit, where, found)


def _environment(unit: Unit, where: str, found: _Collector) -> None:
    for binding in unit.env:
        if isinstance(binding, EnvRefBinding):
            found.add("paths", binding.path, f"env file {binding.ref}", where)
            for key in binding.keys:
                found.add("variables", key, f"set by {binding.ref}", where)
            for name in binding.secret_names:
                found.add("secretNames", name, f"read for {binding.ref}", where)
        elif isinstance(binding, LiteralBinding):
            found.add("variables", binding.name, f"set to {canonical_text(binding.value)}", where)
        else:
            found.add("variables", binding.name, "handed on and scrubbed", where)


def _command(target: CommandTarget, use: str, where: str, found: _Collector) -> None:
    engine = target.engine
    if target.model is not UNSET:
        found.add("models", target.model, f"{use} on engine {engine.name}", where)
    if isinstance(engine, LlmEngine):
        _endpoint(engine, use, where, found)
        return
    _agent(engine, use, where, found)


def _endpoint(engine: LlmEngine, use: str, where: str, found: _Collector) -> None:
    found.add("endpoints", engine.endpoint, f"{use} on engine {engine.name}", where)
    if engine.api_key is not UNSET:
        found.add("variables", engine.api_key, f"credential of engine {engine.name}", where)


def _agent(engine: AgentEngine, use: str, where: str, found: _Collector) -> None:
    program = engine.bin if engine.bin is not UNSET else PLATFORM_PROGRAMS.get(engine.platform, engine.platform)
    words = "" if engine.args is UNSET else f" with {canonical_text([*engine.args])}"
    found.add("programs", program, f"{use} on engine {engine.name} ({engine.platform}){words}", where)
    if engine.workspace is not UNSET:
        found.add("paths", engine.workspace, f"workspace of engine {engine.name}", where)
    if engine.llm_engine is not UNSET:
        _endpoint(engine.llm_engine, f"{use} behind engine {engine.name}", where, found)
