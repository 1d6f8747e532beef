"""Child workflows as targets, composed directly or through a task.

Before: no cycle leads through the child and it is not too deep. After: the child is frozen whole and embedded, or a
``Refusal`` says why not and what is wrong inside it is shown under its own path.
"""

from __future__ import annotations

from msgspec import UNSET, Struct

from akm_schemas.json_types import JsonObject
from akm_schemas.plan import ChildTarget, Plan
from akm_schemas.subset_validate import validate
from akmc_grammar.suggest import listed
from akmc_grammar.task_ir import TaskIR
from akmc_passes.composed_targets import Refusal
from akmc_passes.contract import Asset, Composed, Context, Program, Sizes, Surface
from akmc_passes.exports import exports_of, needed_params
from akmc_passes.library import Frozen, Library, adopt
from akmc_passes.tasks import ReadTask, presets, required
from akmc_passes.words import quoted

LIMIT_RULES = frozenset({"composition-cycle", "composition-depth", "composition-bytes"})
"""Limits belong to the file that was asked for: a child over one of them is broken only by itself."""

_OPEN_HASH = "0" * 64  # stands for the hash of a child whose engines are open, so that sizes are right


class Child(Struct, frozen=True):
    """A child as a step embeds it. ``composed`` is ``None`` where its plan is too large for its own embedded ones."""

    composed: Composed | None
    exports: JsonObject | None
    sizes: Sizes


def child_target(asset: Asset, context: Context, library: Library) -> Child | Refusal:
    """A child that a step names directly."""
    frozen = library.frozen(asset, context)
    program = frozen.program
    if refusal := broken_child(asset, frozen, context):
        return refusal
    assert program is not None
    target = _target(asset, program, None)
    composed = None if target is None else Composed(target, surface=_surface(program, asset.ref))
    return _child(program, composed)


def wrapped_target(task: ReadTask, task_asset: Asset, context: Context, library: Library) -> Child | Refusal:
    """A child that a step names through a task: the task's inputs are params of the child."""
    assert task.document is not None and task.document.ir is not None and task.child is not None
    ir = task.document.ir
    frozen = library.frozen(task.child, context)
    program = frozen.program
    if refusal := broken_child(task.child, frozen, context):
        return refusal
    assert program is not None
    misfits = input_misfits(ir, program)
    if misfits:
        return Refusal(misfits[0].message, misfits[0].help, "input-binding-invalid")
    own = _surface(program, task.child.ref)
    surface = Surface("param", own.ref, own.schemas, presets(ir), {**own.required, **required(ir)})
    target = _target(task.child, program, task_asset.ref)
    timeout = None if ir.unit.timeout is UNSET else ir.unit.timeout
    return _child(program, None if target is None else Composed(target, timeout=timeout, surface=surface))


class Misfit(Struct, frozen=True):
    """An input of a task that the child workflow does not take as it is."""

    name: str
    message: str
    help: str


def input_misfits(task: TaskIR, child: Program) -> list[Misfit]:
    """The inputs of a task that its workflow has no param for, or whose default the param's schema refuses."""
    ir = child.document.ir
    assert ir is not None
    found: list[Misfit] = []
    for name in task.inputs:
        if name not in ir.params:
            message = f"the workflow has no param for the task's input {quoted(name)}"
            found.append(
                Misfit(name, f"{message}; declared params: {listed(ir.params)}", "rename the input, or drop it")
            )
    for name, value in presets(task).items():
        outcome = validate(ir.params[name], value) if name in ir.params else None
        if outcome is not None and not outcome.ok:
            message = f"the default of the task's input {quoted(name)} does not satisfy the param's schema"
            found.append(
                Misfit(name, f"{message}: {outcome.errors[0]}", "mend the default: the child's schema decides")
            )
    return found


def broken_errors(frozen: Frozen) -> int:
    """The errors of a child that make it useless to every parent."""
    found = frozen.context.sink.found
    return sum(item.severity == "error" and item.rule.name not in LIMIT_RULES for item in found)


def broken_child(asset: Asset, frozen: Frozen, context: Context) -> Refusal | None:
    """Take over what a child read; why it cannot be composed when it is broken, its own findings then taken over too."""
    errors = broken_errors(frozen)
    adopt(context, frozen.context, findings=bool(errors))
    if frozen.program is not None and not errors:
        return None
    if frozen.program is None and not errors:
        return Refusal("the workflow cannot be read", f"check {asset.path} and its mode")
    what = "has an error of its own" if errors == 1 else "has errors of its own"
    return Refusal(f"the workflow {what}", f"mend {asset.path} first")


def _surface(child: Program, ref: str) -> Surface:
    ir = child.document.ir
    assert ir is not None
    needed = {name: f"{text} inside the child needs it" for name, text in needed_params(child).items()}
    return Surface("param", ref, ir.params, {}, needed)


def _target(asset: Asset, child: Program, task_ref: str | None) -> ChildTarget | None:
    plan: Plan | None = child.plan
    if plan is None:
        return None
    return ChildTarget(
        ref=asset.ref,
        via="direct" if task_ref is None else "task",
        task_ref=UNSET if task_ref is None else task_ref,
        input_bindings=[],
        plan_hash=plan.plan_hash or _OPEN_HASH,
        content_hash="",
        frozen_plan=plan,
    )


def _child(child: Program, composed: Composed | None) -> Child:
    ir = child.document.ir
    assert ir is not None
    return Child(composed, exports_of(ir), child.sizes)
