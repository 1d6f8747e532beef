"""A task that was asked for: everything about it, and the workflow that it targets."""

from __future__ import annotations

from akmc_grammar.places import Place
from akmc_grammar.suggest import did_you_mean, listed
from akmc_grammar.task_ir import TaskDocument, TaskIR
from akmc_passes.child_targets import broken_child, input_misfits
from akmc_passes.composed_targets import Refusal
from akmc_passes.composition_graph import hop_to
from akmc_passes.composition_limits import Limits, OverLimit
from akmc_passes.contract import Asset, Context
from akmc_passes.library import Library, adopt
from akmc_passes.tasks import ReadTask
from akmc_passes.words import quoted


def check_task(asset: Asset, context: Context, library: Library) -> Context:
    """The context with every finding of the task.

    A cycle or a limit that begins with the task, and a broken child, are reported at its ``uses``; inputs that the
    child does not take at the input.
    """
    task = library.task(asset, context)
    adopt(context, task.context, findings=True)
    if task.document is not None and task.document.ir is not None:
        _check_engine(task.document, task.document.ir, context)
    if task.child is not None and not task.errors:
        _check_child(asset, task, context, library)
    return context


def _check_engine(document: TaskDocument, task: TaskIR, context: Context) -> None:
    """Report an engine that the config does not have; a step that composes the task would find it too."""
    name = task.unit.engine
    if context.config is None or not isinstance(name, str) or name in context.config.engines:
        return
    engines = context.config.engines
    message = f"the engine is not configured: {quoted(name)}; configured: {listed(engines)}"
    help = did_you_mean(name, engines) or f'add "engines": {{"{name}": {{...}}}} to the config'
    context.sink.report("unknown-engine", Place(document.source.name, ("engine",)), message, help=help)


def _check_child(asset: Asset, task: ReadTask, context: Context, library: Library) -> None:
    assert task.document is not None and task.child is not None
    name = task.document.source.name
    place = Place(name, ("uses",))
    hop = hop_to(task.child.ref, 0, place, library.context_for_refs(context), library)
    limits = Limits(asset.ref or name, asset.file, () if hop is None else (hop,), context, library)
    refusal: Refusal | None = limits.refusal(0)
    if refusal is None:
        frozen = library.frozen(task.child, context)
        refusal = broken_child(task.child, frozen, context)
        if refusal is None and frozen.program is not None:
            refusal = limits.add(0, frozen.program.sizes)
            for misfit in input_misfits(task.document.ir, frozen.program) if task.document.ir is not None else ():
                at = Place(name, ("inputs", misfit.name), "key")
                context.sink.report("input-binding-invalid", at, misfit.message, help=misfit.help)
    if refusal is not None:
        notes = refusal.notes if isinstance(refusal, OverLimit) else ()
        message = f"the task cannot compose {task.child.ref}: {refusal.message}"
        context.sink.report(refusal.rule, place, message, notes=notes, help=refusal.help)
