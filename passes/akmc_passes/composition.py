"""What the steps of a YAML workflow compose.

Before: refs are resolved. After: ``program.composed`` holds what each readable ``uses`` came to (bindings aside),
``program.exports`` the exports of each child by step id, ``program.sizes`` the bytes of all embedded plans; every
child was frozen whole, depth first, and what it read is in the read set. A step that cannot compose is reported once,
at its ``uses``; what is wrong inside a task, a command or a child is shown under its own path.

Cycles and depth are found in the graph before anything is frozen, and belong to the file that was asked for: a child
that is too deep for its parent is a sound workflow of its own.
"""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from akmc_passes.contract import Context, Program
from akmc_passes.ir_walk import unit_of

NAME: str = "composition"
AFTER: tuple[str, ...] = ("resolve",)
EMITS: tuple[str, ...] = (
    "composition-cycle",
    "composition-depth",
    "composition-bytes",
    "composition-invalid",
    "config-too-large",
    "bound-exceeded",
    "input-binding-invalid",
)


def run(program: Program, context: Context) -> Program:
    """Compose every step that says ``uses``."""
    ir = program.document.ir
    if ir is None or all(unit_of(step).uses is UNSET for step in ir.steps):
        return program
    from akmc_passes.composer import Composer  # on use: most workflows compose nothing

    composer = Composer(program, context, ir)
    for index, step in enumerate(ir.steps):
        composer.compose(index, step)
    return replace(program, composed=composer.composed, exports=composer.exports, sizes=composer.sizes())
