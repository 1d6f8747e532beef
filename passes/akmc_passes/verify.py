"""What holds between passes. A violation is a bug of the pass that ran last."""

from __future__ import annotations

import re
from typing import Final

from msgspec import UNSET

from akm_schemas.plan import Plan
from akmc_grammar.ir import SourceIR
from akmc_passes.contract import Program
from akmc_passes.ir_walk import bound_references, env_refs, references
from akmc_passes.lower import targets_of

_HASH: Final = re.compile(r"[0-9a-f]{64}")


class InvariantError(AssertionError):
    """A program that breaks an invariant."""


def verify_program(program: Program, before: Program) -> None:
    """Raise InvariantError unless ``program``, which a pass made of ``before``, keeps every invariant."""
    if program is before:
        return
    if program.document is not before.document:
        raise InvariantError("a pass replaced the document")
    ir = program.document.ir
    if ir is None:
        if program.plan is not None or program.references or program.assets:
            raise InvariantError("a document that could not be read was given a meaning")
        return
    # What a pass handed on as it was has been verified behind the pass that made it.
    if program.references is not before.references:
        verify_references(program, ir)
    if program.env_files is not before.env_files:
        env_paths = {at.path for at in env_refs(ir)}
        if strays := [path for path in program.env_files if path not in env_paths]:
            raise InvariantError(f"env files bound where the source has no env ref: {strays}")
    for path in (*program.choices, *program.composed):
        if len(path) != 2 or path[0] != "steps" or path[1] not in range(len(ir.steps)):
            raise InvariantError(f"a step setting at {path}, which is no step")
    if program.plan is not None:
        verify_plan(program.plan, program)


def verify_references(program: Program, ir: SourceIR) -> None:
    """Raise InvariantError unless every reference is the text that the source has at its path."""
    texts = {at.path: at.text for at in (*references(ir), *bound_references(ir))}
    for path, reference in program.references.items():
        if texts.get(path) != reference.text:
            raise InvariantError(f"a reference at {path} that the source does not have: {reference.text!r}")


def verify_plan(plan: Plan, program: Program) -> None:
    """Raise InvariantError unless the plan is a lowering of its source, wholly sealed or not at all."""
    ir = program.document.ir
    assert ir is not None
    if [step.id for step in plan.steps] != [step.id for step in ir.steps]:
        raise InvariantError("the plan's steps are not the source's")
    for index, step in enumerate(plan.steps):
        parts = (step.unit is not UNSET, step.map is not UNSET, step.route is not UNSET)
        if step.index != index or parts != (step.kind != "route", step.kind == "map", step.kind == "route"):
            raise InvariantError(f"step {index} of the plan does not have the parts of its kind")
    hashes = [plan.content_hash, plan.plan_hash]
    if any(hashes) and (program.open or not all(_HASH.fullmatch(text) for text in hashes)):
        raise InvariantError("a plan that is sealed in part, or open and sealed")
    if all(hashes) and not all(_HASH.fullmatch(target.content_hash) for target in targets_of(plan)):
        raise InvariantError("a sealed plan with a target that has no hash")
