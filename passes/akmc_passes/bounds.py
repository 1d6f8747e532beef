"""Bounds that the checking walk of the frontmatter cannot see.

Before: the walk enforced every bound of a frontmatter value. After: the bounds of prose are enforced too; the program
is unchanged. A place that was reported is not reported again.
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from akm_schemas.bounds import INSTRUCTION_BYTES, RUBRIC_BYTES, Bound
from akmc_grammar.places import Path
from akmc_passes.contract import Context, Program

NAME: str = "bounds"
AFTER: tuple[str, ...] = ()
EMITS: tuple[str, ...] = ("bound-exceeded",)


def run(program: Program, context: Context) -> Program:
    """Report prose above its bounds."""
    ir = program.document.ir
    if ir is None:
        return program
    file = program.document.source.name
    reported = {
        item.place.path for item in context.sink.found if item.rule.name == "bound-exceeded" and item.place.file == file
    }

    def check(path: Path, text: str | UnsetType, bound: Bound, what: str) -> None:
        size = 0 if text is UNSET else len(text.encode("utf-8", "surrogatepass"))
        if size > bound.high and path not in reported and not program.document.is_poisoned(path):
            message = f"{what} has at most {bound.high} bytes, found {size}"
            context.sink.report("bound-exceeded", program.place(*path), message, help="split the step")

    for index, step in enumerate(ir.steps):
        name = step.id if isinstance(step.id, str) else f"number {index + 1}"
        check(("steps", index, "instructions"), step.instructions, INSTRUCTION_BYTES, f'the section of step "{name}"')
        check(("steps", index, "rubric"), step.rubric, RUBRIC_BYTES, f'the rubric of step "{name}"')
    return program
