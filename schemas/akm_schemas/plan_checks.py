"""Every bound of a plan, and the cross-references that the interpreter relies on (spec 1, section 2.5; spec 2).

``check_plan`` holds for a plan whose shape msgspec has accepted and whose hashes match; the sizes in bytes of whole
plans are ``akm_schemas.plan_sizes``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import UNSET, UnsetType

from akm_schemas.bounds import (
    BRANCHES,
    CONCURRENCY,
    INPUTS,
    INSTRUCTION_BYTES,
    MAX_LOOPS,
    MAX_TOKENS,
    MAX_UNITS,
    OUTPUTS,
    PARAMS,
    RETRY_MAX,
    RETRY_REASONS,
    RUBRIC_BYTES,
    SCHEDULES,
    STEPS,
    TIMEOUT_MS,
)
from akm_schemas.canonical import number_text
from akm_schemas.json_paths import quoted
from akm_schemas.plan import (
    ChildTarget,
    ExecTarget,
    Gate,
    Map,
    Plan,
    Retry,
    Route,
    Step,
    Unit,
)
from akm_schemas.plan_assets import check_environment, check_read_set
from akm_schemas.plan_error import PlanPath, plan_error
from akm_schemas.plan_references import Scope, is_param_name, is_step_id
from akm_schemas.plan_targets import check_judge, check_target
from akm_schemas.plan_values import digest, not_empty, relative_path, require, schema_holds, sized, within

_CRON_FIELDS: Final = 5
_SPAN: Final = re.compile(r"steps\.(0|[1-9][0-9]{0,3})(?:\.section|\.gate)?", re.ASCII)

# Which members a step of each kind has; the others are absent.
_MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    "unit": frozenset(("unit",)),
    "map": frozenset(("unit", "map")),
    "route": frozenset(("route",)),
}


def check_plan(plan: Plan, path: PlanPath = ()) -> None:
    """Check ``plan`` and the plans embedded in it; raises PlanError for the first fault."""
    sized(PARAMS, len(plan.params), (*path, "params"))
    for name, schema in plan.params.items():
        place = (*path, "params", name)
        require(is_param_name(name), place, f"{quoted(name)} is no name of a param")
        schema_holds(schema, place)
    within(MAX_UNITS, plan.budget.max_units, (*path, "budget", "maxUnits"))
    within(MAX_TOKENS, plan.budget.max_tokens, (*path, "budget", "maxTokens"))
    within(CONCURRENCY, plan.execution.max_concurrency, (*path, "execution", "maxConcurrency"))
    sized(STEPS, len(plan.steps), (*path, "steps"))
    _check_ids(plan.steps, path)
    scope = Scope.of(plan)
    positions = {step.id: step.index for step in plan.steps}
    for step in plan.steps:
        _check_step(step, (*path, "steps", step.index), scope, positions)
    _check_outputs(plan, path, scope)
    _check_provenance(plan, (*path, "provenance"))


def _check_ids(steps: list[Step], path: PlanPath) -> None:
    seen: dict[str, int] = {}
    for position, step in enumerate(steps):
        # A thousand steps: places and messages are made where there is something to say.
        first = seen.setdefault(step.id, position)
        if is_step_id(step.id) and first == position == step.index:
            continue
        place = (*path, "steps", position)
        require(is_step_id(step.id), (*place, "id"), f"{quoted(step.id)} is no id of a step")
        require(first == position, (*place, "id"), f"{quoted(step.id)} is the id of step {first} already")
        require(step.index == position, (*place, "index"), f"says {step.index}, the step stands at {position}")


def _check_step(step: Step, path: PlanPath, scope: Scope, positions: Mapping[str, int]) -> None:
    for member in ("unit", "map", "route"):
        present = getattr(step, member) is not UNSET
        if present != (member in _MEMBERS[step.kind]):
            verb = "has no" if present else "needs a"
            raise plan_error("bounds", (*path, member), f"a {step.kind} step {verb} {member}")
    if len(step.inputs) > INPUTS.high:
        raise plan_error("bounds", (*path, "inputs"), f"expected at most {INPUTS.high} references")
    for index, reference in enumerate(step.inputs):
        scope.check(reference, (*path, "inputs", index), before=step.index)
    not_empty(step.output, (*path, "output"))
    schema_holds(step.output, (*path, "output"))
    if isinstance(step.unit, Unit):
        _check_unit(step.unit, (*path, "unit"), scope, step.index)
    if isinstance(step.map, Map):
        scope.check(step.map.over, (*path, "map", "over"), before=step.index)
        within(CONCURRENCY, step.map.concurrency, (*path, "map", "concurrency"))
    if isinstance(step.route, Route):
        require(not step.inputs, (*path, "inputs"), "a route step has no inputs")
        require(step.output is UNSET, (*path, "output"), "a route step has no output")
        scope.check(step.route.input, (*path, "route", "input"), before=step.index)
        _check_route(step.route, (*path, "route"), step.index, positions)
    if isinstance(step.gate, Gate):
        _check_gate(step, step.gate, (*path, "gate"), scope)


def _check_route(route: Route, path: PlanPath, position: int, positions: Mapping[str, int]) -> None:
    sized(BRANCHES, len(route.when), (*path, "when"))
    seen: set[str] = set()
    for index, branch in enumerate(route.when):
        place = (*path, "when", index)
        text = branch.match if isinstance(branch.match, str) else number_text(branch.match)
        require(text not in seen, (*place, "match"), f"the match {quoted(text)} is there twice")
        seen.add(text)
        _check_selected(branch.step, (*place, "step"), position, positions)
    if isinstance(route.default, str):
        _check_selected(route.default, (*path, "default"), position, positions)


def _check_selected(step: str, path: PlanPath, position: int, positions: Mapping[str, int]) -> None:
    require(step in positions, path, f"there is no step {quoted(step)}")
    require(positions[step] > position, path, f"step {quoted(step)} does not come after its router")


def _check_unit(unit: Unit, path: PlanPath, scope: Scope, position: int) -> None:
    sized(INSTRUCTION_BYTES, len(unit.instructions.encode()), (*path, "instructions"))
    check_environment(unit.env, (*path, "env"))
    # Env on an llm engine decodes: the interpreter answers it with a failed unit of its own (spec 3, section 5).
    takes_none = isinstance(unit.target, ChildTarget)
    require(not (takes_none and unit.env), (*path, "env"), "env cannot reach a child workflow")
    _check_retry(unit.retry, (*path, "retry"))
    not_empty(unit.output, (*path, "output"))
    schema_holds(unit.output, (*path, "output"))
    within(TIMEOUT_MS, unit.timeout_ms, (*path, "timeoutMs"))
    check_target(unit.target, (*path, "target"), scope, before=position)
    if isinstance(unit.target, ChildTarget):
        check_plan(unit.target.frozen_plan, (*path, "target", "frozenPlan"))


def _check_retry(retry: Retry, path: PlanPath) -> None:
    within(RETRY_MAX, retry.max, (*path, "max"))
    require(bool(retry.on) or not retry.max, (*path, "on"), "extra attempts need a failure reason")
    seen: set[str] = set()
    for index, reason in enumerate(retry.on):
        place = (*path, "on", index)
        require(reason in RETRY_REASONS, place, f"{quoted(reason)} is no failure reason; known: {_REASONS}")
        require(reason not in seen, place, f"{quoted(reason)} is listed twice")
        seen.add(reason)


_REASONS: Final = ", ".join(sorted(RETRY_REASONS))


def _check_gate(step: Step, gate: Gate, path: PlanPath, scope: Scope) -> None:
    require(bool(gate.rubric), (*path, "rubric"), "a gate without a rubric is written by leaving it out")
    sized(RUBRIC_BYTES, len(gate.rubric.encode()), (*path, "rubric"))
    within(MAX_LOOPS, gate.max_loops, (*path, "maxLoops"))
    fixed = step.kind == "route" or (isinstance(step.unit, Unit) and isinstance(step.unit.target, ExecTarget))
    require(not fixed or gate.max_loops == 1, (*path, "maxLoops"), "what is judged here never loops, expected 1")
    check_judge(gate.judge, (*path, "judge"), scope)


def _check_outputs(plan: Plan, path: PlanPath, scope: Scope) -> None:
    sized(OUTPUTS, len(plan.outputs), (*path, "outputs"))
    for name, output in plan.outputs.items():
        place = (*path, "outputs", name)
        require(is_param_name(name), place, f"{quoted(name)} is no name of an output")
        require(output.from_.root == "steps", (*place, "from"), "an output is taken from a step, not from a param")
        scope.check(output.from_, (*place, "from"), before=len(plan.steps))
        not_empty(output.schema, (*place, "schema"))
        schema_holds(output.schema, (*place, "schema"))


def _check_provenance(plan: Plan, path: PlanPath) -> None:
    provenance = plan.provenance
    if provenance.ref:  # empty for a file outside every family folder
        local = provenance.ref.rpartition("//")[2]
        require(local.startswith("workflows/"), (*path, "ref"), "expected the ref of a workflow")
        relative_path(local, (*path, "ref"), found=True)
    digest(provenance.source_hash, (*path, "sourceHash"))
    check_read_set(provenance, (*path, "sourceReadSet"))
    if not isinstance(provenance.schedule, UnsetType):
        sized(SCHEDULES, len(provenance.schedule), (*path, "schedule"))
        for index, entry in enumerate(provenance.schedule):
            fields = entry.isascii() and len(entry.split(" ")) == _CRON_FIELDS == len(entry.split())
            require(fields, (*path, "schedule", index), f"{quoted(entry)} is no schedule of five fields")
    require(bool(provenance.toolchain.name), (*path, "toolchain", "name"), "expected the name of a compiler")
    require(provenance.toolchain.lowering >= 1, (*path, "toolchain", "lowering"), "expected a number from 1")
    for name, span in provenance.spans.items():
        _check_span(name, span, path, len(plan.steps))


def _check_span(name: str, span: list[int], path: PlanPath, steps: int) -> None:
    part = _SPAN.fullmatch(name)
    named = part is not None and int(part[1]) < steps
    from_one = len(span) == 4 and min(span) >= 1
    if named and from_one and span[:2] <= span[2:]:
        return
    place = (*path, "spans", name)
    require(named, place, f"{quoted(name)} is no part of a step, such as steps.0 or steps.0.gate")
    require(from_one, place, "expected [line, column, endLine, endColumn] from 1")
    raise plan_error("bounds", place, "ends before it begins")
