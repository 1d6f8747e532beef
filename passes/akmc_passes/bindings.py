"""What the ``with`` of a step binds.

Before: ``composition`` knows what each step can bind. After: the target (or the command) of every composed step has
its bindings, sorted by name: literals that satisfy their schema, references to earlier steps, and the defaults of a
task; ``program.references`` also holds the references among them. What binds nothing, breaks a schema or is missing
is reported at its place in ``with``, what is missing where there is no ``with`` at the ``uses``.

Bindings are always checked, config or not. Source: spec 1, sections 3 and 5.
"""

from __future__ import annotations

from msgspec.structs import replace

from akm_schemas.plan import InputBinding
from akmc_passes.contract import Composed, ComposedCommand, Context, Program
from akmc_passes.spine import Spine

NAME: str = "bindings"
AFTER: tuple[str, ...] = ("composition", "references")
EMITS: tuple[str, ...] = ("input-binding-invalid", "invalid-reference", "child-output-unknown")


def run(program: Program, context: Context) -> Program:
    """Bind every composed step that can be bound."""
    ir = program.document.ir
    if ir is None or not program.composed:
        return program
    from akmc_passes.binder import Binder  # on use: most workflows compose nothing

    spine = Spine(ir)
    composed = dict(program.composed)
    references = dict(program.references)
    for path, made in program.composed.items():
        index = path[1]
        if made.surface is None or not isinstance(index, int):
            continue
        binder = Binder(program, context, spine, index, made.surface)
        bindings = binder.bindings()
        references.update(binder.references)
        composed[path] = _bound(made, bindings)
    return replace(program, composed=composed, references=references)


def _bound(made: Composed, bindings: list[InputBinding]) -> Composed:
    if isinstance(made.target, ComposedCommand):
        return replace(made, input_bindings=tuple(bindings))
    target = replace(made.target, input_bindings=bindings)
    return replace(made, target=target, input_bindings=tuple(bindings))
