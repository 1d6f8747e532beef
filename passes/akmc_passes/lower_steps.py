"""Source IR steps to plan steps. Pure: what is missing was reported before, or is left open."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from akm_schemas.json_types import JsonObject
from akm_schemas.plan import (
    Binding,
    Branch,
    ChildTarget,
    CommandTarget,
    ExecTarget,
    Gate,
    LiteralBinding,
    LlmEngine,
    Map,
    Output,
    PassThroughBinding,
    Retry,
    Route,
    Step,
    Target,
    Unit,
)
from akm_schemas.references import Reference
from akmc_grammar import ir as source
from akmc_passes.contract import Choice, Composed, ComposedCommand, Program
from akmc_passes.ir_walk import map_of, route_of, unit_of, unit_path
from akmc_passes.tuning import merged_tuning

OPEN_ENGINE = LlmEngine(name="", endpoint="")
"""Stands for an engine that has not been chosen."""

DEFAULT_TIMEOUT_MS = 600_000
DEFAULT_MAP_WIDTH = 4
UNLOOPED = 1
_NO_TIMEOUT = (ChildTarget,)


class Unlowered(Exception):
    """A part of the source that could not be read, so that there is no plan."""


def lower_step(program: Program, step: source.Step, index: int, map_width: int, *, engines: bool) -> Step:
    """One step; ``engines`` is false to leave every engine open. Raises ``Unlowered``."""
    if not isinstance(step.id, str):
        raise Unlowered
    inputs = [_reference(program, "steps", index, "inputs", number) for number in range(len(step.inputs))]
    return Step(
        id=step.id,
        index=index,
        kind=step.kind,
        inputs=inputs,
        output=UNSET if step.kind == "route" else _schema(step.output),
        unit=UNSET if step.kind == "route" else _unit(program, step, index, engines),
        map=_map(program, step, index, map_width) if step.kind == "map" else UNSET,
        route=_route(program, step, index) if step.kind == "route" else UNSET,
        gate=_gate(program, step, engines),
    )


def lower_outputs(program: Program, outputs: dict[str, source.Output]) -> dict[str, Output]:
    """The run-level exports."""
    return {
        name: Output(from_=_reference(program, "outputs", name, "from"), schema=_schema(output.schema))
        for name, output in outputs.items()
    }


def never_loops(step: source.Step) -> bool:
    """Whether a step's gate has one round whatever ``max_loops`` says: what it judges cannot answer feedback."""
    return step.kind == "route" or unit_of(step).exec is not UNSET


def _reference(program: Program, *path: str | int) -> Reference:
    found = program.references.get(path)
    if found is None:
        raise Unlowered
    return found


def _schema(schema: JsonObject | UnsetType) -> JsonObject | UnsetType:
    return schema or UNSET


def _unit(program: Program, step: source.Step, index: int, engines: bool) -> Unit:
    unit, defaults = unit_of(step), _defaults(program)
    composed = program.composed.get(("steps", index))
    choice = program.choices.get(("steps", index)) if engines else None
    target = _target(program, unit, composed, choice, engines)
    on_error = unit.on_error if unit.on_error is not UNSET else defaults.on_error
    composed_output = composed.output if composed is not None and composed.output else UNSET
    return Unit(
        target=target,
        instructions=step.instructions,
        env=_env(program, step, index, composed),
        retry=Retry(max=0, on=[])
        if unit.retry is UNSET
        else Retry(max=unit.retry.max, on=[*dict.fromkeys(unit.retry.on)]),
        on_error="fail" if on_error is UNSET else on_error,
        isolation="none" if unit.isolation is UNSET else unit.isolation,
        output=_schema(unit.output) if unit.output is not UNSET else composed_output,
        timeout_ms=_timeout(program, unit, composed, choice, target),
    )


def _defaults(program: Program) -> source.Defaults:
    assert program.document.ir is not None
    return program.document.ir.defaults


def _target(
    program: Program, unit: source.Unit, composed: Composed | None, choice: Choice | None, engines: bool
) -> Target:
    if unit.exec is not UNSET:
        run = unit.exec
        return ExecTarget(
            command=run.command,
            cwd=run.cwd if run.cwd else UNSET,
            pass_env=run.pass_env,
            content_hash="",
            input_bindings=[],
        )
    if unit.uses is not UNSET and composed is None:
        raise Unlowered
    if composed is not None and not isinstance(composed.target, ComposedCommand):
        return composed.target
    prompt = composed.target if composed is not None and isinstance(composed.target, ComposedCommand) else None
    bindings = list(composed.input_bindings) if composed is not None else []
    if choice is None and engines:
        raise Unlowered
    layers = (unit.llm, composed.llm if composed is not None else None, _defaults(program).llm)
    open_llm = merged_tuning(*(layer for layer in layers if isinstance(layer, dict)))
    llm = choice.llm if choice is not None else open_llm
    model = choice.model if choice is not None else _authored_model(program, unit, composed)
    return CommandTarget(
        ref=UNSET if prompt is None or prompt.ref is None else prompt.ref,
        template="none" if prompt is None else prompt.template,
        prompt=UNSET if prompt is None else prompt.prompt,
        options=(prompt.options or UNSET) if prompt is not None else UNSET,
        engine=OPEN_ENGINE if choice is None else choice.engine,
        model=UNSET if model is None else model,
        llm=UNSET if llm is None else llm,
        concurrency=UNSET if choice is None or choice.concurrency is None else choice.concurrency,
        content_hash="",
        input_bindings=bindings,
    )


def _authored_model(program: Program, unit: source.Unit, composed: Composed | None) -> str | None:
    """The model that the sources name, for a plan whose engines are open."""
    asked = composed.model if composed is not None else None
    command = composed.target if composed is not None else None
    own = command.model if isinstance(command, ComposedCommand) else None
    return next((name for name in (unit.model, asked, _defaults(program).model, own) if isinstance(name, str)), None)


def _env(program: Program, step: source.Step, index: int, composed: Composed | None) -> list[Binding]:
    unit, path = unit_of(step), unit_path(step, index)
    bindings: list[Binding] = []
    for number in range(len(unit.env_refs)):
        found = program.env_files.get((*path, "env", number))
        if found is not None:  # what is not there is a freeze rule: check measures the plan without it
            bindings.append(found)
    literals = {**(composed.env_literals if composed is not None else {}), **(unit.env_literals or {})}
    bindings.extend(LiteralBinding(name=name, value=value) for name, value in sorted(literals.items()))
    scrubbed = composed.redact if composed is not None else ()
    bindings.extend(PassThroughBinding(name=name) for name in sorted(scrubbed) if name not in literals)
    return bindings


def _timeout(
    program: Program, unit: source.Unit, composed: Composed | None, choice: Choice | None, target: Target
) -> int | None:
    """Milliseconds; ``None`` for "none" and for what has no time limit of its own."""
    for timeout in (unit.timeout, composed.timeout if composed is not None else None, _defaults(program).timeout):
        if timeout == "none":
            return None
        if isinstance(timeout, int):
            return timeout
    if choice is not None and choice.timeout_ms is not None:
        return choice.timeout_ms
    if isinstance(target, CommandTarget):
        return DEFAULT_TIMEOUT_MS if isinstance(target.engine, LlmEngine) else None
    return None if isinstance(target, _NO_TIMEOUT) else DEFAULT_TIMEOUT_MS


def _map(program: Program, step: source.Step, index: int, width: int) -> Map:
    fan = map_of(step)
    return Map(
        over=_reference(program, "steps", index, "map", "over"),
        concurrency=width if fan.concurrency is UNSET else fan.concurrency,
        reducer="collect" if fan.reducer is UNSET else fan.reducer,
    )


def _route(program: Program, step: source.Step, index: int) -> Route:
    route = route_of(step)
    branches: list[Branch] = []
    for branch in route.when:
        if branch.match is UNSET or branch.step is UNSET:
            raise Unlowered
        branches.append(Branch(match=branch.match, step=branch.step))
    return Route(
        input=_reference(program, "steps", index, "route", "input"),
        when=branches,
        default=route.default,
    )


def _gate(program: Program, step: source.Step, engines: bool) -> Gate | UnsetType:
    if not isinstance(step.rubric, str) or not step.rubric:
        return UNSET
    judge = program.judge if engines else None
    if judge is None and engines:
        raise Unlowered
    loops = step.max_loops if isinstance(step.max_loops, int) else UNLOOPED
    return Gate(
        rubric=step.rubric,
        max_loops=UNLOOPED if never_loops(step) else loops,
        judge=CommandTarget(
            engine=OPEN_ENGINE if judge is None else judge.engine,
            model=UNSET if judge is None or judge.model is None else judge.model,
            llm=UNSET if judge is None or judge.llm is None else judge.llm,
            concurrency=UNSET if judge is None or judge.concurrency is None else judge.concurrency,
            content_hash="",
            input_bindings=[],
        ),
    )
