"""Typed references.

Before: references are parsed and name declared things; schemas may still be malformed. After: every reference whose
path the producer's schema cannot carry, every ``map.over`` that cannot be an array, every ``route.input`` that cannot
be a scalar, every collecting map whose output schema refuses all lists, every bound reference whose kinds of value the target's schema all refuses, and every branch or value that a
routed enum leaves over is reported. The program knows its ``artifacts``.

Nothing here asks for a schema: what declares none may be anything (spec 1, section 2.3). An exec step without a schema
is text.
"""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from akm_schemas.references import Reference
from akmc_grammar.diagnostics import Note
from akmc_grammar.ir import SourceIR, Step
from akmc_grammar.places import Path, Place
from akmc_grammar.suggest import did_you_mean, listed
from akmc_passes.artifacts import Artifacts, Known, match_text
from akmc_passes.contract import Context, Program
from akmc_passes.ir_walk import map_of, marred, route_of
from akmc_passes.schema_paths import SCALARS, Broken, View, described, follow
from akmc_passes.spine import Spine
from akmc_passes.words import quoted

NAME: str = "types"
AFTER: tuple[str, ...] = ("references", "outputs", "bindings", "schema_subset")
EMITS: tuple[str, ...] = (
    "reference-type-mismatch",
    "input-binding-invalid",
    "unreachable-branch",
    "non-exhaustive-route",
    "map-output-mismatch",
)


def run(program: Program, context: Context) -> Program:
    """Check every reference against its producer's schema, and every route against the values that it is given."""
    ir = program.document.ir
    if ir is None:
        return program
    artifacts = Artifacts(program, Spine(ir))
    for path, reference in program.references.items():
        known = artifacts.producer(reference)
        if known is None or program.document.is_poisoned(path):
            continue
        end = follow(known.view, reference.path)
        if isinstance(end, Broken):
            _report_broken(program, context, path, reference, known, end)
        elif path[2:] == ("map", "over"):
            _check_over(program, context, path, known, end)
        elif path[2:] == ("route", "input"):
            _check_input(program, context, path, known, end)
        elif path[2:4] == ("unit", "with"):
            _check_binding(artifacts, context, path, reference, known, end)
    for index, step in enumerate(ir.steps):
        if step.kind == "route" and not marred(program.document, ("steps", index, "route")):
            _check_branches(artifacts, context, ir, index)
        elif step.kind == "map":
            _check_collected(artifacts, context, step, index)
    return replace(program, artifacts=artifacts)


def walked_text(reference: Reference, parts: int) -> str:
    """The text of a step reference up to the given number of path parts."""
    words = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in reference.path[:parts]]
    return f"steps.{reference.name}.output" + "".join(words)


def _declared(program: Program, known: Known) -> list[Note]:
    return [Note("declared here", program.place(*known.declared))]


def _report_broken(
    program: Program, context: Context, path: Path, reference: Reference, known: Known, broken: Broken
) -> None:
    start, part = walked_text(reference, broken.step), reference.path[broken.step]
    lacks = f"an element [{part}]" if isinstance(part, int) else f"a property {quoted(part)}"
    message = f"{start} is {broken.found}, which cannot have {lacks}"
    help = "name a place that the schema declares, or declare this one"
    if broken.names or broken.found == "a closed object":
        message += f"; declared properties: {listed(broken.names)}"
        help = did_you_mean(str(part), broken.names) or help
    place = Place(
        program.document.source.name,
        path,
        offset=len(start),
        length=len(walked_text(reference, broken.step + 1)) - len(start),
    )
    context.sink.report("reference-type-mismatch", place, message, notes=_declared(program, known), help=help)


def _check_over(program: Program, context: Context, path: Path, known: Known, end: View) -> None:
    types = end.types
    if "array" in types:
        return
    message = f"map.over takes an array, found {described(types)}"
    help = "name a list: a map never iterates over characters or keys"
    notes = _declared(program, known)
    context.sink.report("reference-type-mismatch", program.place(*path), message, notes=notes, help=help)


def _check_input(program: Program, context: Context, path: Path, known: Known, end: View) -> None:
    types = end.types
    if types & SCALARS:
        return
    message = f"route.input takes a string, a number or a boolean, found {described(types)}"
    help = "name a scalar inside it: no branch can match this"
    notes = _declared(program, known)
    context.sink.report("reference-type-mismatch", program.place(*path), message, notes=notes, help=help)


def _check_binding(
    artifacts: Artifacts, context: Context, path: Path, reference: Reference, known: Known, end: View
) -> None:
    """Compare kinds of value alone: two schemas that share one may still have a value in common."""
    program = artifacts.program
    composed, name = program.composed.get(path[:2]), path[4]
    surface = None if composed is None else composed.surface
    if surface is None or not isinstance(name, str) or name not in surface.schemas:
        return
    found, taken = end.types, artifacts.view_of(surface.schemas[name]).types
    if found & taken:
        return
    message = f"the {surface.kind} {quoted(name)} of {surface.ref} takes {described(taken)}"
    message += f", and {quoted(reference.text)} is {described(found)}"
    help = "bind an output of that type, or declare the schema of what the producer really makes"
    notes = _declared(program, known)
    context.sink.report("input-binding-invalid", program.place(*path), message, notes=notes, help=help)


def _check_collected(artifacts: Artifacts, context: Context, step: Step, index: int) -> None:
    """A map that collects promotes a list, whatever its units make."""
    program, path = artifacts.program, ("steps", index, "output")
    document = program.document
    if step.output is UNSET or not step.output or marred(document, path):
        return
    reducer = map_of(step).reducer
    types = artifacts.view_of(step.output).types
    if "array" in types or reducer not in (UNSET, "collect") or marred(document, ("steps", index, "map", "reducer")):
        return
    message = f"the map collects its results into an array, and its output takes {described(types)}"
    help = 'write {type: array, items: ...}; the schema of one result is "output" in "map.unit"'
    context.sink.report("map-output-mismatch", program.place(*path), message, help=help)


def _check_branches(artifacts: Artifacts, context: Context, ir: SourceIR, index: int) -> None:
    """Compare the branches of a route with the enum of what it is given."""
    program, routed = artifacts.program, artifacts.routed(index)
    if routed is None:
        return
    route, reference = route_of(ir.steps[index]), program.references[("steps", index, "route", "input")]
    known = artifacts.producer(reference)
    notes = [] if known is None else _declared(program, known)
    matches = set()
    for number, branch in enumerate(route.when):
        if branch.match is UNSET:
            continue
        text = match_text(branch.match)
        matches.add(text)
        if text not in routed.as_set:
            place = program.place("steps", index, "route", "when", number, "match")
            message = f"{reference.text} is never {quoted(text)}; its values: {routed.listed}"
            help = did_you_mean(text, routed.texts) or "remove the branch, or add the value to the enum"
            context.sink.report("unreachable-branch", place, message, notes=notes, help=help)
    if route.default is UNSET and not routed.as_set <= matches:
        missing = [text for text in routed.texts if text not in matches]
        place = program.place("steps", index, "route")
        message = f"no branch takes {listed(missing)} of {reference.text}, and there is no default"
        help = 'add a branch for each, or a "default"'
        context.sink.report("non-exhaustive-route", place, message, notes=notes, help=help)
