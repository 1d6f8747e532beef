"""Source IR to plan.

Before: every part of the source was checked. After: ``program.plan`` is the plan with empty hashes, unless an error
stands in the way. Where engines are left open (``check`` without a config) the plan is ``open``: its engines are
placeholders, and it can be looked at and measured, not sealed.

Sizes: ``plan-bytes`` measures the plan with engines open, so that what checks clean freezes; what the config adds to
that has a bound of its own, and both bounds together are the plan's (spec 1, section 2.5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from akm_schemas.bounds import CONFIG_BYTES_FROZEN, PLAN_BYTES_UNFROZEN
from akm_schemas.canonical import writer_of
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import (
    IR_VERSION,
    LOWERING,
    Budget,
    ChildTarget,
    Execution,
    Plan,
    Provenance,
    Step,
    Target,
    Toolchain,
)
from akm_schemas.plan_sizes import own_size
from akmc_grammar.ir import SourceIR
from akmc_passes.contract import Context, Program
from akmc_passes.lower_steps import DEFAULT_MAP_WIDTH, Unlowered, lower_outputs, lower_step, never_loops
from akmc_passes.read_set import sorted_read_set

NAME: str = "lower"
AFTER: tuple[str, ...] = (
    "resolve",
    "environment",
    "composition",
    "references",
    "bindings",
    "schema_subset",
    "bounds",
    "types",
    "route_forward",
    "engines",
)
EMITS: tuple[str, ...] = ("plan-bytes", "config-too-large", "exec-gate-loops")

TOOLCHAIN = "akmc"
_HASH_BYTES = 64
_PLAN_HASHES = 2
# What may be a fraction or an integer beyond 2^53; the same inside a text only sends the plan the long way.
_ODD_NUMBER = rb"[:,\[]-?[0-9]+(?:[.eE]|[0-9]{14})"
_FREEZE_OWNERS = ("engines", "environment")


def run(program: Program, context: Context) -> Program:
    """Lower the program, measure it, and say which loops are capped."""
    ir = program.document.ir
    if ir is None:
        return program
    _warn_capped_loops(program, context, ir)
    if _has_errors(program, context, but=_FREEZE_OWNERS):
        return program
    unfrozen = _lowered(program, context, ir, engines=False)
    if unfrozen is None:
        return program
    size = own_bytes(unfrozen)
    if not PLAN_BYTES_UNFROZEN.holds(size):
        message = f"the plan has {size} bytes without its engines, at most {PLAN_BYTES_UNFROZEN.high} are allowed"
        help = "split the workflow, or shorten its schemas, prose and llm settings"
        context.sink.report("plan-bytes", program.place("steps"), message, help=help)
        return program
    if context.leaves_engines_open:
        sizes = replace(program.sizes, own_open=size, own=size)
        return replace(program, plan=unfrozen, open=True, sizes=sizes)
    if _has_errors(program, context):
        return program
    plan = _lowered(program, context, ir, engines=True)
    if plan is None:
        return program
    added = own_bytes(plan) - size
    if not CONFIG_BYTES_FROZEN.holds(max(added, 0)):
        message = f"the config adds {added} bytes to the plan, at most {CONFIG_BYTES_FROZEN.high} are allowed"
        help = "shorten the engines' args and llm defaults: each step on an engine carries them"
        context.sink.report("config-too-large", program.place("steps"), message, help=help)
        return program
    return replace(program, plan=plan, sizes=replace(program.sizes, own_open=size, own=size + added))


def own_bytes(plan: Plan) -> int:
    """Bytes of the canonical plan once it is sealed, without the plans that it embeds."""
    targets = list(targets_of(plan))
    unsealed = sum(target.content_hash == "" for target in targets)
    if not any(isinstance(target, ChildTarget) for target in targets):
        text = msgspec.json.encode(plan)
        if re.search(_ODD_NUMBER, text) is None:  # only numbers are written differently, and the order of names
            return len(text) + _HASH_BYTES * (_PLAN_HASHES + unsealed)
    built = msgspec.to_builtins(plan)
    return own_size(built, writer_of(built)) + _HASH_BYTES * (_PLAN_HASHES + unsealed)


def targets_of(plan: Plan) -> Iterator[Target]:
    """Every target of a plan, judges included, embedded plans not."""
    for step in plan.steps:
        if isinstance(step.unit, msgspec.Struct):
            yield step.unit.target
        if isinstance(step.gate, msgspec.Struct):
            yield step.gate.judge


def _has_errors(program: Program, context: Context, *, but: tuple[str, ...] = ()) -> bool:
    name = program.document.source.name
    return bool(program.document.poisoned) or any(
        item.severity == "error" and item.place.file == name and item.rule.owner not in but
        for item in context.sink.found
    )


def _warn_capped_loops(program: Program, context: Context, ir: SourceIR) -> None:
    for index, step in enumerate(ir.steps):
        if step.rubric and isinstance(step.max_loops, int) and step.max_loops > 1 and never_loops(step):
            what = "a route step is judged once" if step.kind == "route" else "a fixed command cannot answer feedback"
            message = f"max_loops {step.max_loops} counts as 1: {what}"
            place = program.place("steps", index, "gate", "max_loops")
            context.sink.report("exec-gate-loops", place, message, help="remove max_loops")


def _lowered(program: Program, context: Context, ir: SourceIR, *, engines: bool) -> Plan | None:
    """The plan with empty hashes; ``None`` when a part could not be read (and was reported)."""
    flow = None if context.config is None else context.config.workflow
    width = (flow and flow.default_map_concurrency) or DEFAULT_MAP_WIDTH
    try:
        steps: list[Step] = [
            lower_step(program, step, index, width, engines=engines) for index, step in enumerate(ir.steps)
        ]
        outputs = lower_outputs(program, ir.outputs)
    except Unlowered:
        return None
    params: dict[str, JsonObject] = dict(ir.params)
    return Plan(
        ir_version=IR_VERSION,
        params=params,
        budget=Budget(max_units=ir.budget.max_units, max_tokens=ir.budget.max_tokens),
        execution=Execution(max_concurrency=None if flow is None else flow.max_concurrency),
        steps=steps,
        outputs=outputs,
        provenance=_provenance(program, context, ir),
        content_hash="",
        plan_hash="",
    )


def _provenance(program: Program, context: Context, ir: SourceIR) -> Provenance:
    return Provenance(
        title=ir.title,
        ref=program.document.ref,
        source_format=ir.source_format,
        source_hash=program.document.source.normal_sha256,
        source_read_set=sorted_read_set(context),
        schedule=ir.schedule or msgspec.UNSET,
        toolchain=Toolchain(name=TOOLCHAIN, lowering=LOWERING),
        spans=ir.spans,
    )
