"""The parts of a step as lines: what it runs, over what, for whom, and what is done when it fails."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from akm_schemas.canonical import canonical_text
from akm_schemas.counting import counted
from akm_schemas.drawing.model import Kind, Line, Prose
from akm_schemas.plan import (
    ChildTarget,
    CommandTarget,
    ExecTarget,
    Gate,
    LlmEngine,
    Map,
    Plan,
    Route,
    ScriptTarget,
    Step,
    Target,
    Unit,
)
from akm_schemas.plan_words import env_binding, input_binding


def kind_of(step: Step) -> Kind:
    """What a step is to its author."""
    if step.unit is UNSET:
        return "route"
    target = step.unit.target
    if isinstance(target, ExecTarget):
        return "exec"
    if isinstance(target, ScriptTarget):
        return "script"
    return "child workflow" if isinstance(target, ChildTarget) else "prompt"


def lines_of(step: Step) -> Iterator[Line]:
    """Every fact of a step, the ones that a picture shows first."""
    if step.unit is not UNSET:
        yield from _target(step.unit.target)
    if step.map is not UNSET:
        yield from _map(step.map)
    if step.route is not UNSET:
        yield from _route(step.route)
    if step.inputs:
        yield Line("reads", ", ".join(reference.text for reference in step.inputs))
    if step.unit is not UNSET:
        yield from _policy(step.unit)
    if step.gate is not UNSET:
        yield from _gate(step.gate)
    if step.output is not UNSET:
        yield Line("step output", canonical_text(step.output), brief=False)


def prose_of(step: Step) -> Iterator[Prose]:
    """What a step's engine, readers and judge are told."""
    if step.unit is not UNSET:
        if step.unit.instructions:
            yield Prose("instructions", step.unit.instructions)
        target = step.unit.target
        if isinstance(target, CommandTarget) and target.prompt is not UNSET:
            yield Prose(f"prompt (template {target.template})", target.prompt)
    if step.gate is not UNSET:
        yield Prose("rubric", step.gate.rubric)


def branches_of(route: Route) -> dict[str, str]:
    """Target id to the matches that lead there (``"a", 2``, ``otherwise``), in the order written."""
    found: dict[str, list[str]] = {}
    for branch in route.when:
        found.setdefault(branch.step, []).append(canonical_text(branch.match))
    if route.default is not UNSET:
        found.setdefault(route.default, []).append("otherwise")
    return {step: ", ".join(matches) for step, matches in found.items()}


def head_of(plan: Plan) -> Iterator[Line]:
    """What a run of the plan starts with."""
    params = [f"{name} = {canonical_text(s['default'])}" if "default" in s else name for name, s in plan.params.items()]
    if params:
        yield Line("params", ", ".join(sorted(params)))
    budget = [
        counted(value, word)
        for value, word in ((plan.budget.max_units, "unit"), (plan.budget.max_tokens, "token"))
        if value is not UNSET
    ]
    if budget:
        yield Line("budget", ", ".join(budget))
    if plan.execution.max_concurrency is not None:
        yield Line("width", f"at most {counted(plan.execution.max_concurrency, 'unit')} at a time")
    for cron in plan.provenance.schedule or ():
        yield Line("schedule", cron)


def foot_of(plan: Plan) -> Iterator[Line]:
    """What a run of the plan ends with."""
    for name, output in sorted(plan.outputs.items()):
        yield Line("output", f"{name} from {output.from_.text}")


def _target(target: Target) -> Iterator[Line]:
    if isinstance(target, ExecTarget):
        yield Line("exec", shlex.join(target.command))
        if target.cwd is not UNSET:
            yield Line("in", target.cwd)
        if target.pass_env:
            yield Line("pass_env", ", ".join(target.pass_env), brief=False)
    elif isinstance(target, ScriptTarget):
        yield Line("script", f"{target.ref} by {shlex.join(target.interpreter)}")
    elif isinstance(target, CommandTarget):
        yield Line("engine", _engine(target))
        yield from _command(target)
    else:
        via = f" through {target.task_ref}" if target.task_ref is not UNSET else ""
        yield Line("child", f"{target.ref}{via}")
    for binding in target.input_bindings:
        yield Line("with", input_binding(binding), brief=False)
    if target.content_hash:
        yield Line("content hash", target.content_hash, brief=False)


def _engine(target: CommandTarget) -> str:
    engine = target.engine
    if not engine.name:  # a source that was lowered without a config
        return "not resolved: no config names one"
    kind = "llm" if isinstance(engine, LlmEngine) else f"{engine.platform} agent"
    return f"{engine.name} ({kind})" + (f", model {target.model}" if target.model is not UNSET else "")


def _command(target: CommandTarget) -> Iterator[Line]:
    if target.ref is not UNSET:
        yield Line("command", target.ref)
    engine = target.engine
    if isinstance(engine, LlmEngine):
        if engine.endpoint:
            yield Line("endpoint", engine.endpoint, brief=False)
    elif engine.bin is not UNSET:
        yield Line("program", shlex.join([engine.bin, *(engine.args or ())]), brief=False)
    if target.llm is not UNSET:
        yield Line("llm", canonical_text(msgspec.to_builtins(target.llm)), brief=False)
    if target.options is not UNSET:
        yield Line("options", canonical_text(target.options), brief=False)
    if target.concurrency is not UNSET:
        yield Line("engine width", str(target.concurrency), brief=False)


def _map(map_: Map) -> Iterator[Line]:
    yield Line("over", map_.over.text)
    yield Line("width", f"{map_.concurrency} at a time, {map_.reducer}")


def _route(route: Route) -> Iterator[Line]:
    yield Line("by", route.input.text)
    for step, matches in branches_of(route).items():
        yield Line("when", f"{matches} → {step}", brief=False)
    if route.default is UNSET:
        yield Line("else", "the run fails")


def _policy(unit: Unit) -> Iterator[Line]:
    if unit.on_error == "continue":
        yield Line("on error", "continue")
    if unit.retry.max:
        yield Line("retry", f"{unit.retry.max} on {', '.join(unit.retry.on)}")
    if unit.isolation != "none":
        yield Line("isolation", unit.isolation)
    yield Line("timeout", "none" if unit.timeout_ms is None else _duration(unit.timeout_ms), brief=False)
    for binding in unit.env:
        yield Line("env", env_binding(binding), brief=False)
    if unit.output is not UNSET:
        yield Line("unit output", canonical_text(unit.output), brief=False)


def _duration(milliseconds: int) -> str:
    """The largest whole unit: ``10 min``, ``90 s``, ``1500 ms``."""
    for size, word in ((60_000, "min"), (1000, "s")):
        if milliseconds % size == 0:
            return f"{milliseconds // size} {word}"
    return f"{milliseconds} ms"


def _gate(gate: Gate) -> Iterator[Line]:
    rounds = "1 round" if gate.max_loops == 1 else f"at most {gate.max_loops} rounds"
    yield Line("gate", f"{rounds}, judge {_engine(gate.judge)}")
