"""One document's ``uses``, step by step; see ``composition``, which imports this when a step composes something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import UNSET
from msgspec.structs import replace

from akm_schemas.json_types import JsonObject
from akm_schemas.yaml_keys import BUILTIN
from akmc_grammar.ir import SourceIR, Step, Uses
from akmc_grammar.places import Path
from akmc_passes.child_targets import Child, child_target, wrapped_target
from akmc_passes.composed_targets import Refusal, command_target, prompt_target, script_target
from akmc_passes.composition_limits import Limits, OverLimit
from akmc_passes.contract import Asset, Composed, ComposedCommand, Context, Program, Sizes
from akmc_passes.ir_walk import unit_of
from akmc_passes.library import adopt, library_of
from akmc_passes.read_set import own_file
from akmc_passes.tasks import ReadTask


@dataclass
class Composer:
    """One document."""

    program: Program
    context: Context
    ir: SourceIR
    composed: dict[Path, Composed] = field(default_factory=dict)
    exports: dict[str, JsonObject] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.library = library_of(self.context)
        source = self.program.document.source.name
        hops = self.library.hops(self.program.document, self.library.context_for_refs(self.context))
        root = own_file(self.program, self.context)
        self.limits = Limits(self.program.document.ref or source, root, hops, self.context, self.library)

    def compose(self, index: int, step: Step) -> None:
        """What the ``uses`` of one step comes to."""
        unit = unit_of(step)
        path: Path = ("steps", index, "unit", "uses")
        if unit.uses is UNSET or self.program.document.is_poisoned(path):
            return
        made = self.target(index, step, unit.uses)
        if isinstance(made, Refusal):
            self.refuse(path, unit.uses.ref, made)
        elif made is not None and self.is_fitting(index, step, made):
            self.composed["steps", index] = made

    def refuse(self, path: Path, ref: str, refusal: Refusal) -> None:
        """Report that a step cannot compose what it names."""
        message = f"Workflow step cannot compose {ref}: {refusal.message}"
        notes = refusal.notes if isinstance(refusal, OverLimit) else ()
        self.context.sink.report(refusal.rule, self.program.place(*path), message, notes=notes, help=refusal.help)

    def is_fitting(self, index: int, step: Step, made: Composed) -> bool:
        """Report a ``with`` that nothing takes and an ``env`` that nothing could consume."""
        unit, sink = unit_of(step), self.context.sink
        assert unit.uses is not UNSET
        ref, fits = unit.uses.ref, True
        if made.surface is None and unit.uses.with_ is not UNSET and ref != BUILTIN:
            what = "a task without inputs" if ref.rpartition("//")[2].startswith("tasks/") else "a command or a script"
            message = f'Workflow step cannot compose {ref}: "with" binds nothing of {what}'
            help = "drop it; uses: akm/command takes arguments, and a task can declare inputs"
            place = self.program.place("steps", index, "unit", "with", part="key")
            sink.report("composition-invalid", place, message, help=help)
            fits = False
        if unit.env_literals is not UNSET and made.surface is not None and made.surface.kind == "param":
            message = f'Workflow step cannot compose {ref}: nothing of a child workflow could consume "env"'
            help = "write it in the steps of the child, or bind a param of it"
            place = self.program.place("steps", index, "unit", "env", part="key")
            sink.report("composition-invalid", place, message, help=help)
            fits = False
        return fits

    # ---- one target ----

    def target(self, index: int, step: Step, uses: Uses) -> Composed | Refusal | None:
        """The target of a ``uses``; ``None`` where it was reported already."""
        if uses.ref == BUILTIN:
            return self.builtin(index, uses.with_ if uses.with_ is not UNSET else {})
        asset = self.program.assets.get(("steps", index, "unit", "uses"))
        if asset is None:
            return None
        if asset.family == "scripts":
            script = script_target(asset, self.context)
            return script if isinstance(script, Refusal) else Composed(script)
        if asset.family == "commands":
            command = command_target(asset, self.context, self.library)
            return command if isinstance(command, Refusal) else Composed(command)
        if over := self.limits.refusal(index):
            self.limits.enter_read_set()
            return over
        if asset.family == "tasks":
            return self.task(index, step, asset)
        return self.child(index, step, child_target(asset, self.context, self.library))

    def builtin(self, index: int, bag: JsonObject) -> Composed | Refusal | None:
        """``akm/command`` with a command or with prompt text."""
        given = bag.get("arguments")
        arguments = given if isinstance(given, str) else None
        made: ComposedCommand | Refusal
        if isinstance(content := bag.get("content"), str):
            made = prompt_target(content, arguments=arguments)
        else:
            asset = self.program.assets.get(("steps", index, "unit", "uses", "with", "ref"))
            if asset is None:
                return None
            made = command_target(asset, self.context, self.library, arguments=arguments)
        return made if isinstance(made, Refusal) else Composed(made)

    def task(self, index: int, step: Step, asset: Asset) -> Composed | Refusal | None:
        """A task: its own target, or the workflow that it targets."""
        task = self.library.task(asset, self.context)
        adopt(self.context, task.context, findings=bool(task.errors))
        if task.errors or task.document is None or task.document.ir is None:
            what = f"has {_counted(task.errors)}" if task.errors else "cannot be read"
            return Refusal(f"the task {what}", f"mend {asset.path} first")
        alone = _own_run_keys(task)
        if alone:
            message = f"{alone} of the task {'belong' if ' and ' in alone else 'belongs'} to tasks run by themselves"
            return Refusal(message, f"drop {alone}, or compose the task's own target")
        if task.child is None:
            return task.composed
        return self.child(index, step, wrapped_target(task, asset, self.context, self.library))

    def child(self, index: int, step: Step, made: Child | Refusal) -> Composed | Refusal | None:
        """Enter a child: its exports and its bytes, which have a limit."""
        if isinstance(made, Refusal):
            return made
        if isinstance(step.id, str) and made.exports is not None:
            self.exports[step.id] = made.exports
        if over := self.limits.add(index, made.sizes):
            return over
        return made.composed

    def sizes(self) -> Sizes:
        """The bytes of everything embedded."""
        return replace(self.program.sizes, embedded_open=self.limits.open_bytes, embedded=self.limits.bytes)


def _own_run_keys(task: ReadTask) -> str:
    """The keys of a task that only a run of its own would heed, as words."""
    assert task.document is not None and task.document.ir is not None
    keys: Mapping[str, object] = {
        "maxSteps": task.document.ir.max_steps,
        "maxRetries": task.document.ir.max_retries,
    }
    return " and ".join(f'"{name}"' for name, value in keys.items() if value is not UNSET)


def _counted(errors: int) -> str:
    return "errors of its own" if errors != 1 else "an error of its own"
