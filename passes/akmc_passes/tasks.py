"""Tasks: what a task document means, composed by a step or looked at by itself.

Before: the front end has read the task. After: a ``ReadTask`` whose context holds every finding of the task: schemas
outside the subset, refs that name nothing, schedules that lack an input. ``composed`` is its target unless it is a
workflow, ``child`` the workflow that it targets. Source: spec 1, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import UNSET, Struct

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import ExecTarget, ScriptTarget
from akm_schemas.subset_check import check_schema
from akm_schemas.subset_validate import validate
from akmc_grammar.ir import Uses
from akmc_grammar.places import Path, Place
from akmc_grammar.suggest import did_you_mean, listed
from akmc_grammar.task_ir import TaskDocument, TaskIR
from akmc_passes.composed_targets import Refusal, command_target, exec_target, prompt_target, script_target
from akmc_passes.contract import Asset, Composed, ComposedCommand, Context, Surface
from akmc_passes.directories import check_directory
from akmc_passes.library import Library
from akmc_passes.read_set import read_asset
from akmc_passes.resolve import resolve_ref
from akmc_passes.schema_subset import report_schema
from akmc_passes.words import quoted

RULE = "task-invalid"
_FLAG: Final = "write required: true where the input has to be bound; a list of names goes with the keys of an object"


class ReadTask(Struct, frozen=True):
    """A task, what it composes, and a context with its findings and its read set."""

    document: TaskDocument | None
    context: Context
    composed: Composed | None = None
    child: Asset | None = None

    @property
    def errors(self) -> int:
        """How many errors the task has."""
        return sum(item.severity == "error" for item in self.context.sink.found)


def read_task_asset(asset: Asset, context: Context, library: Library) -> ReadTask:
    """Read a task and check everything about it, the workflow that it may target aside."""
    own = library.context_for(asset, context)
    reading = library.read(asset)
    own.sink.found.extend(reading.found)
    if reading.crash is not None:
        own.crashes.append(reading.crash)
    document = reading.document
    if not isinstance(document, TaskDocument):
        return ReadTask(None, own)
    read_asset(own, asset)
    own.documents[document.source.name] = document
    task = document.ir
    if task is None:
        return ReadTask(document, own)
    sound = _check_schemas(document, task, own)
    _check_schedules(document, task, own, sound)
    run = task.unit.exec
    if run is not UNSET and isinstance(run.cwd, str) and not document.is_poisoned(("working-directory",)):
        place = Place(document.source.name, ("working-directory",))
        check_directory(own, "working-directory-escape", place, run.cwd)
    found = _target(document, task, own, library)
    if isinstance(found, Asset):
        return ReadTask(document, own, child=found)
    return ReadTask(document, own, None if found is None else _composed(found, task, asset.ref))


def surface_of(task: TaskIR, ref: str) -> Surface | None:
    """What a step can bind of a task that targets no workflow; ``None`` when it has no inputs."""
    if not task.inputs:
        return None
    return Surface(
        "input", ref, {name: item.schema for name, item in task.inputs.items()}, presets(task), required(task)
    )


def presets(task: TaskIR) -> dict[str, Json]:
    """The defaults of a task's inputs."""
    return {name: item.schema["default"] for name, item in task.inputs.items() if "default" in item.schema}


def required(task: TaskIR) -> dict[str, str]:
    """The inputs that have to be bound, each with the reason."""
    return {name: "the task requires it" for name, item in task.inputs.items() if item.required}


# ---- the document ----


def _check_schemas(document: TaskDocument, task: TaskIR, context: Context) -> frozenset[str]:
    """Report faults of schemas; the names of the inputs whose schemas can be used."""
    sound: set[str] = set()
    for name, item in task.inputs.items():
        report_schema(document, context, ("inputs", name), item.schema, flag=_FLAG)
        if not check_schema(item.schema):
            sound.add(name)
    if task.unit.output is not UNSET and not document.is_poisoned(("output",)):
        report_schema(document, context, ("output",), task.unit.output)
    return frozenset(sound)


def _check_schedules(document: TaskDocument, task: TaskIR, context: Context, sound: frozenset[str]) -> None:
    for path, inputs in _schedules(document, task):
        unknown = inputs.keys() - task.inputs.keys()
        for name in sorted(name for name in unknown if not document.is_poisoned(("inputs", name))):
            message = f"the task has no input {quoted(name)}; declared inputs: {listed(task.inputs)}"
            help = did_you_mean(name, task.inputs) or "declare it, or drop it"
            _report(document, context, (*path, "inputs", name), message, help, part="key")
        for name, value in inputs.items():
            outcome = validate(task.inputs[name].schema, value) if name in sound else None
            if outcome is not None and not outcome.ok:
                message = f"{quoted(name)} does not satisfy the schema of the input: {outcome.errors[0]}"
                _report(document, context, (*path, "inputs", name), message, "give a value that the schema admits")
        missing = [name for name, item in task.inputs.items() if item.required and name not in inputs]
        if missing and not document.is_poisoned(("inputs",)):
            message = f"the schedule leaves required inputs unbound: {listed(missing)}"
            help = f"write inputs: {{{', '.join(f'{name}: …' for name in sorted(missing))}}} beside its cron"
            at = (*path, "inputs") if inputs else path
            _report(document, context, at, message, help)


def _schedules(document: TaskDocument, task: TaskIR) -> Iterator[tuple[Path, JsonObject]]:
    """Every readable schedule with the path of its entry (of the text, when it is one)."""
    for index, entry in enumerate(task.schedule):
        path: Path = ("schedule", index)
        if not document.is_poisoned(path):
            yield path, entry.inputs


def _report(document: TaskDocument, context: Context, path: Path, message: str, help: str, part: str = "value") -> None:
    place = Place(document.source.name, path, "key" if part == "key" else "value")
    context.sink.report(RULE, place, message, help=help)


# ---- the target ----


def _target(
    document: TaskDocument, task: TaskIR, context: Context, library: Library
) -> ExecTarget | ScriptTarget | ComposedCommand | Asset | None:
    """The task's target, or the workflow that it names; ``None`` after a report."""
    run, uses = task.unit.exec, task.unit.uses
    if run is not UNSET:
        return exec_target(run)
    if uses is UNSET or document.is_poisoned(("unit", "uses")) or document.is_poisoned(("uses",)):
        return None
    made = _used(document, task, uses, context, library)
    if not isinstance(made, Refusal):
        return made
    place = Place(document.source.name, ("uses",))
    context.sink.report(made.rule, place, f"the task cannot use {quoted(uses.ref)}: {made.message}", help=made.help)
    return None


def _used(
    document: TaskDocument, task: TaskIR, uses: Uses, context: Context, library: Library
) -> ScriptTarget | ComposedCommand | Asset | Refusal | None:
    bag = uses.with_ if uses.with_ is not UNSET else {}
    arguments, content, ref = bag.get("arguments"), bag.get("content"), bag.get("ref")
    said = arguments if isinstance(arguments, str) else None
    if task.kind == "prompt" and isinstance(content, str):
        return prompt_target(content, arguments=said)
    named, path = (ref, ("unit", "uses", "with", "ref")) if task.kind == "prompt" else (uses.ref, ("unit", "uses"))
    if not isinstance(named, str):
        return None
    asset = resolve_ref(context, Place(document.source.name, path), named)
    if asset is None:
        return None
    if task.kind == "workflow":
        return asset
    if task.kind == "script":
        return script_target(asset, context)
    return command_target(asset, context, library, arguments=said)


def _composed(target: ExecTarget | ScriptTarget | ComposedCommand, task: TaskIR, ref: str) -> Composed:
    if isinstance(target, ComposedCommand):
        target = _with_options(target, task)
    unit = task.unit
    return Composed(
        target=target,
        env_literals=unit.env_literals or {},
        output=None if unit.output is UNSET else unit.output,
        engine=None if unit.engine is UNSET else unit.engine,
        model=None if unit.model is UNSET else unit.model,
        llm=None if unit.llm is UNSET else unit.llm,
        timeout=None if unit.timeout is UNSET else unit.timeout,
        redact=tuple(task.redact),
        surface=surface_of(task, ref),
    )


def _with_options(command: ComposedCommand, task: TaskIR) -> ComposedCommand:
    """The command with what only agent engines take; the task's own words win over the command's."""
    options: JsonObject = dict(command.options or {})
    if isinstance(task.agent, str):
        options["agent"] = task.agent
    if task.tools:
        options["tools"] = [*task.tools]
    return ComposedCommand(command.prompt, command.template, command.ref, command.model, options or None)
