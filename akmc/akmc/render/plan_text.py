"""A plan as stable, readable text: one block per step, prose included, nothing clipped.

Diffs, snapshots and a git ``textconv`` use it, so the same plan always gives the same text; hashes of parts are left
out (they would turn one changed word into many changed lines), the plan's own stand at the head.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from akm_schemas.canonical import canonical_text
from akm_schemas.counting import counted
from akm_schemas.hashing import sha256_hex
from akm_schemas.json_types import Json
from akm_schemas.plan import (
    AgentEngine,
    ChildTarget,
    CommandTarget,
    ExecTarget,
    Gate,
    Plan,
    Route,
    ScriptTarget,
    Step,
    Target,
    Unit,
)
from akm_schemas.plan_words import env_binding, input_binding
from akmc.render.escape import visible

INDENT = "  "


def plan_text(plan: Plan, *, preamble: str = "") -> str:
    """The whole plan; ``preamble`` is a source's free prose, which no plan carries."""
    lines = [*_head(plan)]
    if preamble:
        lines += ["", "preamble:", *_prose(preamble)]
    lines += _body(plan)
    return "\n".join(lines) + "\n"


def _head(plan: Plan) -> Iterator[str]:
    source = plan.provenance
    yield f"plan {visible(source.ref) or '(outside every bundle)'}"
    yield f"title: {visible(source.title)}"
    yield f"format: {source.source_format}"
    yield f"contentHash: {plan.content_hash}"
    yield f"planHash: {plan.plan_hash}"


def _body(plan: Plan) -> Iterator[str]:
    for name, schema in sorted(plan.params.items()):
        yield f"param {name}: {_json(schema)}"
    if plan.budget.max_units is not UNSET:
        yield f"budget max_units: {plan.budget.max_units}"
    if plan.budget.max_tokens is not UNSET:
        yield f"budget max_tokens: {plan.budget.max_tokens}"
    if plan.execution.max_concurrency is not None:
        yield f"max concurrency: {plan.execution.max_concurrency}"
    for cron in plan.provenance.schedule or []:
        yield f"schedule: {visible(cron)}"
    for step in plan.steps:
        yield ""
        yield from _step(step)
    if plan.outputs:
        yield ""
    for name, output in sorted(plan.outputs.items()):
        schema_text = "" if output.schema is UNSET else f" {_json(output.schema)}"
        yield f"output {name}: {output.from_.text}{schema_text}"


def _step(step: Step) -> Iterator[str]:
    yield f"step {step.id} ({step.kind})"
    lines: list[str] = []
    if step.map is not UNSET:
        lines.append(f"over: {step.map.over.text}")
        lines.append(f"concurrency: {step.map.concurrency}, reducer: {step.map.reducer}")
    if step.route is not UNSET:
        lines += _route(step.route)
    lines += [f"input: {reference.text}" for reference in step.inputs]
    if step.unit is not UNSET:
        lines += _unit(step.unit)
    if step.output is not UNSET:
        lines.append(f"step output: {_json(step.output)}")
    if step.gate is not UNSET:
        lines += _gate(step.gate)
    yield from (INDENT + line if line else "" for line in lines)


def _route(route: Route) -> Iterator[str]:
    yield f"route by: {route.input.text}"
    for branch in route.when:
        yield f"when {_json(branch.match)}: {branch.step}"
    if route.default is not UNSET:
        yield f"otherwise: {route.default}"


def _unit(unit: Unit) -> Iterator[str]:
    yield from _target(unit.target)
    yield f"timeout: {'none' if unit.timeout_ms is None else f'{unit.timeout_ms} ms'}"
    if unit.retry.max:
        yield f"retry: {unit.retry.max} on {', '.join(unit.retry.on)}"
    if unit.on_error != "fail":
        yield f"on error: {unit.on_error}"
    if unit.isolation != "none":
        yield f"isolation: {unit.isolation}"
    for binding in unit.env:
        yield f"env: {visible(env_binding(binding))}"
    if unit.output is not UNSET:
        yield f"unit output: {_json(unit.output)}"
    if unit.instructions:
        yield "instructions:"
        yield from _prose(unit.instructions)


def _target(target: Target) -> Iterator[str]:
    if isinstance(target, ExecTarget):
        yield f"exec: {_words(target.command)}"
        if target.cwd is not UNSET:
            yield f"cwd: {_json(target.cwd)}"
        if target.pass_env:
            yield f"pass env: {', '.join(target.pass_env)}"
    elif isinstance(target, ScriptTarget):
        yield f"script: {target.ref} ({counted(target.byte_length, 'byte')}) by {_words(target.interpreter)}"
        yield from _script(target)
    elif isinstance(target, CommandTarget):
        yield from _command(target)
    else:
        via = f", through {target.task_ref}" if target.task_ref is not UNSET else ""
        yield f"child workflow: {target.ref}{via}"
    for binding in target.input_bindings:
        yield f"with: {visible(input_binding(binding))}"
    if isinstance(target, ChildTarget):
        yield "child plan:"
        yield from (INDENT + line if line else "" for line in plan_text(target.frozen_plan).splitlines())


def _script(target: ScriptTarget) -> Iterator[str]:
    """The bytes that run, as lines where they are UTF-8, else by their hash: a changed script is a changed text."""
    data = base64.b64decode(target.bytes_base64)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        yield f"script sha256: {sha256_hex(data)}"
        return
    yield "script text:"
    yield from _prose(text.removesuffix("\n"))


def _command(target: CommandTarget) -> Iterator[str]:
    engine = target.engine
    yield f"engine: {_json(msgspec.to_builtins(engine))}"
    if target.model is not UNSET:
        yield f"model: {visible(target.model)}"
    if target.llm is not UNSET:
        yield f"llm: {_json(msgspec.to_builtins(target.llm))}"
    if target.concurrency is not UNSET:
        yield f"engine concurrency: {target.concurrency}"
    if target.ref is not UNSET:
        yield f"command: {target.ref}"
    if target.options is not UNSET:
        yield f"options: {_json(target.options)}"
    if target.prompt is not UNSET:
        yield f"prompt (template {target.template}):"
        yield from _prose(target.prompt)


def _gate(gate: Gate) -> Iterator[str]:
    engine = gate.judge.engine
    kind = engine.platform if isinstance(engine, AgentEngine) else "llm"
    yield f"gate: at most {counted(gate.max_loops, 'round')}, judged by {engine.name} ({kind})"
    yield from _command(gate.judge)
    yield "rubric:"
    yield from _prose(gate.rubric)


def _prose(text: str) -> Iterator[str]:
    """Prose lines, each behind a bar, so that no line of it can look like a line of ours."""
    for line in text.split("\n"):
        yield f"{INDENT}| {visible(line.expandtabs(4))}".rstrip(" ")


def _json(value: Json) -> str:
    return visible(canonical_text(value))


def _words(words: list[str]) -> str:
    """An argv, whole and unambiguous."""
    return _json([*words])
