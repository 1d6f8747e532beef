"""Where things stand in a source IR: one walk per kind of thing, so that passes agree on paths."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET, Struct

from akm_schemas.json_types import JsonObject
from akmc_grammar.document import Document
from akmc_grammar.ir import Map, Route, SourceIR, Step, Unit
from akmc_grammar.places import Path

NO_UNIT = Unit()


class ReferenceAt(Struct, frozen=True):
    """Reference text at a path. ``step`` is the index of the step that reads it, ``None`` for run-level outputs."""

    path: Path
    text: str
    step: int | None


class EnvRefAt(Struct, frozen=True):
    """An env ref at a path."""

    path: Path
    text: str


def unit_path(step: Step, index: int) -> Path:
    """The path of a step's dispatch bag, where an author writes it."""
    return ("steps", index, "map", "unit") if step.kind == "map" else ("steps", index, "unit")


def unit_of(step: Step) -> Unit:
    """A step's dispatch bag, the empty one when it says nothing."""
    return step.unit if isinstance(step.unit, Unit) else NO_UNIT


def map_of(step: Step) -> Map:
    """A map step's fan-out, the empty one when it could not be read."""
    return step.map if isinstance(step.map, Map) else Map()


def route_of(step: Step) -> Route:
    """A route step's selection, the empty one when it could not be read."""
    return step.route if isinstance(step.route, Route) else Route()


def references(ir: SourceIR) -> Iterator[ReferenceAt]:
    """Every reference text of the spine and of the run-level outputs, in source order."""
    for index, step in enumerate(ir.steps):
        if step.map is not UNSET and isinstance(step.map.over, str):
            yield ReferenceAt(("steps", index, "map", "over"), step.map.over, index)
        if step.route is not UNSET and isinstance(step.route.input, str):
            yield ReferenceAt(("steps", index, "route", "input"), step.route.input, index)
        for number, text in enumerate(step.inputs):
            if text is not None:
                yield ReferenceAt(("steps", index, "inputs", number), text, index)
    for name, output in ir.outputs.items():
        if isinstance(output.from_, str):
            yield ReferenceAt(("outputs", name, "from"), output.from_, None)


def bound_references(ir: SourceIR) -> Iterator[ReferenceAt]:
    """Every reference text in a ``with``, in source order. Only exactly ``{from: TEXT}`` is one."""
    for index, step in enumerate(ir.steps):
        uses = unit_of(step).uses
        for name, value in uses.with_.items() if uses is not UNSET and uses.with_ is not UNSET else ():
            if isinstance(value, dict) and value.keys() == {"from"} and isinstance(text := value["from"], str):
                yield ReferenceAt(("steps", index, "unit", "with", name, "from"), text, index)


def env_refs(ir: SourceIR) -> Iterator[EnvRefAt]:
    """Every env ref, in source order."""
    for index, step in enumerate(ir.steps):
        for number, text in enumerate(unit_of(step).env_refs):
            if text is not None:
                yield EnvRefAt((*unit_path(step, index), "env", number), text)


def schemas(ir: SourceIR) -> Iterator[tuple[Path, JsonObject]]:
    """Every schema with its path: params, step and unit outputs, exports."""
    for name, schema in ir.params.items():
        yield ("params", name), schema
    for index, step in enumerate(ir.steps):
        if step.output is not UNSET:
            yield ("steps", index, "output"), step.output
        unit = unit_of(step)
        if unit.output is not UNSET:
            yield (*unit_path(step, index), "output"), unit.output
    for name, output in ir.outputs.items():
        if output.schema is not UNSET:
            yield ("outputs", name, "schema"), output.schema


def marred(document: Document, path: Path) -> bool:
    """Whether something at, above or below ``path`` could not be read, so that what is there says less than its author
    wrote."""
    return document.is_poisoned(path) or path in document.above_poisoned
