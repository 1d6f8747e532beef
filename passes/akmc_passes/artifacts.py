"""What is known statically of params and artifacts (spec 1, sections 2.3 and 2.6; spec 3, sections 3 and 5)."""

from __future__ import annotations

from msgspec import UNSET, Struct

from akm_schemas.canonical import canonical_bytes
from akm_schemas.json_types import Json
from akm_schemas.plan import ExecTarget, ScriptTarget
from akm_schemas.references import Reference
from akmc_grammar.ir import Step
from akmc_grammar.places import Path
from akmc_passes.contract import Composed, Program
from akmc_passes.ir_walk import map_of, marred, route_of, unit_of, unit_path
from akmc_passes.schema_paths import (
    ANYTHING,
    SCALARS,
    TEXT,
    Broken,
    View,
    admitted_types,
    array_of,
    finite_values,
    follow,
    view_of,
)
from akmc_passes.spine import Spine


class Known(Struct, frozen=True):
    """What is known of a value, and the path of what says so."""

    view: View
    declared: Path


def producer(program: Program, spine: Spine, reference: Reference) -> Known | None:
    """What is known of the root of a reference (its path not followed); ``None``: nothing."""
    ir = program.document.ir
    assert ir is not None
    if reference.root == "params":
        schema = ir.params.get(reference.name)
        return Known(view_of(schema), ("params", reference.name)) if schema else None
    index = spine.index_of.get(reference.name)
    if index is None:
        return None
    exported = program.exports.get(reference.name)
    if exported is not None:
        return Known(view_of(exported), ("steps", index, "unit", "uses"))
    return step_artifact(program, ir.steps[index], index)


def step_artifact(program: Program, step: Step, index: int) -> Known | None:
    """What is known of a step's artifact."""
    document, path = program.document, unit_path(step, index)
    if marred(document, ("steps", index, "output")):
        return None
    if step.output is not UNSET and step.output:
        return Known(view_of(step.output), ("steps", index, "output"))
    unit = unit_of(step)
    if marred(document, (*path, "output")) or marred(document, (*path, "exec")) or step.kind == "route":
        return None
    one: View = ANYTHING
    declared: Path = path
    if unit.output is not UNSET and unit.output:
        one, declared = view_of(unit.output), (*path, "output")
    elif unit.exec is not UNSET:
        one, declared = TEXT, (*path, "exec")
    elif (composed := program.composed.get(("steps", index))) is not None:
        one, declared = _composed_view(composed), (*path, "uses")
    if step.kind == "map":
        fan = map_of(step)
        if marred(document, ("steps", index, "map", "reducer")):
            return None
        if fan.reducer is UNSET or fan.reducer == "collect":
            return Known(array_of(one), declared if one is not ANYTHING else ("steps", index, "map"))
    return None if one is ANYTHING else Known(one, declared)


def _composed_view(composed: Composed) -> View:
    """What a composed asset makes: what its task declares, the text of a process, or anything."""
    if composed.output:
        return view_of(composed.output)
    return TEXT if isinstance(composed.target, ExecTarget | ScriptTarget) else ANYTHING


def routed_values(program: Program, spine: Spine, index: int) -> list[Json] | None:
    """Every value that a route step can be given, where its schema lists them and one of them can be routed."""
    reference = program.references.get(("steps", index, "route", "input"))
    known = None if reference is None else producer(program, spine, reference)
    if reference is None or known is None:
        return None
    end = follow(known.view, reference.path)
    if isinstance(end, Broken) or not admitted_types(end) & SCALARS:  # reported as a mismatch
        return None
    return finite_values(end)


def match_text(value: Json) -> str:
    """A routed value, or the match of a branch, as the text that is compared."""
    return value if isinstance(value, str) else canonical_bytes(value).decode()


def live_targets(program: Program, spine: Spine, index: int) -> frozenset[str]:
    """The step ids that a route step can really select."""
    route = route_of(spine.ir.steps[index])
    values = routed_values(program, spine, index)
    if values is None or marred(program.document, ("steps", index, "route")):
        return spine.named_targets(index)
    texts = {match_text(value) for value in values}
    matches = {match_text(branch.match) for branch in route.when if branch.match is not UNSET}
    taken = {branch.step for branch in route.when if branch.match is not UNSET and match_text(branch.match) in texts}
    if texts - matches:
        taken.add(route.default)
    return frozenset(name for name in taken if isinstance(name, str))
