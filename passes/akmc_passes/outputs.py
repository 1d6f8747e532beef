"""What a run exports.

Before: ``outputs.<name>.from`` is text; the references of the spine are parsed. After: ``program.references`` holds the
parsed form of every export that names a part of a declared step's artifact; each other one is reported once.

Rules (spec 1, section 2.3): exports resolve when the last step is done, so any declared step will do, and only a step:
the caller of a run knows its params already. An export of a step that a route can skip is a warning: it would fail.
"""

from __future__ import annotations

from msgspec.structs import replace

from akmc_passes.contract import Context, Program
from akmc_passes.ir_walk import references
from akmc_passes.reference_reader import ReferenceReader
from akmc_passes.spine import Spine

NAME: str = "outputs"
AFTER: tuple[str, ...] = ("references",)
EMITS: tuple[str, ...] = ("invalid-reference", "unknown-step-reference", "maybe-skipped-reference")


def run(program: Program, context: Context) -> Program:
    """Parse and check every export."""
    ir = program.document.ir
    if ir is None:
        return program
    found = ReferenceReader(program, context, Spine(ir)).read_all(at for at in references(ir) if at.step is None)
    return replace(program, references={**program.references, **found})
