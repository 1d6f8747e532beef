"""Reference text of steps to references.

Before: references are text. After: ``program.references`` holds the parsed form of every reference of the spine that
is well-formed and names a declared param or an earlier step; each other one is reported once.

Rules (spec 1, section 2.3): a step root names an earlier step; a param root names a declared param; a route promotes
nothing that could be read. A reference to a step that may have been skipped is a warning, as is a param that hides
behind an option of akm-run. What a run exports is read by ``outputs``.
"""

from __future__ import annotations

from msgspec.structs import replace

from akmc_passes.contract import Context, Program
from akmc_passes.ir_walk import references
from akmc_passes.reference_reader import ReferenceReader
from akmc_passes.run_options import RUN_OPTIONS
from akmc_passes.spine import Spine

NAME: str = "references"
AFTER: tuple[str, ...] = ("resolve",)
EMITS: tuple[str, ...] = (
    "invalid-reference",
    "unknown-step-reference",
    "forward-reference",
    "self-reference",
    "unknown-param-reference",
    "maybe-skipped-reference",
    "param-shadows-option",
)


def run(program: Program, context: Context) -> Program:
    """Parse and check every reference of the spine."""
    ir = program.document.ir
    if ir is None:
        return program
    found = ReferenceReader(program, context, Spine(ir)).read_all(at for at in references(ir) if at.step is not None)
    for name in ir.params:
        if name in RUN_OPTIONS:
            place = program.place("params", name, part="key")
            message = f'the param "{name}" shares its name with the option --{name} of akm-run'
            help = f"rename it, or give it with --params-file: --{name} is read as the option"
            context.sink.report("param-shadows-option", place, message, help=help)
    return replace(program, references=found)
