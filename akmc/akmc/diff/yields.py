"""What a run-level export can be, as a schema: declared, or followed through the plan (spec 1, section 2.3)."""

from __future__ import annotations

from typing import Final, TypeAlias

from msgspec import UNSET, Struct, field

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import ChildTarget, CommandTarget, Output, Plan, Step, Unit
from akm_schemas.plan_references import IMPLICIT_EXPORTS
from akm_schemas.references import Reference

_TEXT: Final[JsonObject] = {"type": "string"}
_OPAQUE: Final = ("allOf", "anyOf", "oneOf", "not", "enum")

Path: TypeAlias = "list[str | int]"


class Yield(Struct, frozen=True):
    """``schema`` describes what lies at the end of a path, or, with ``rest``, what lies where following it stopped."""

    schema: JsonObject
    rest: Path = field(default_factory=list)

    @property
    def known(self) -> bool:
        """Whether ``schema`` describes the value itself."""
        return not self.rest


def exported(plan: Plan, output: Output) -> Yield:
    """What ``output`` of ``plan`` can be."""
    if output.schema is not UNSET:
        return Yield(output.schema)
    return _yielded(plan, output.from_)


def _yielded(plan: Plan, reference: Reference) -> Yield:
    step = next((step for step in plan.steps if step.id == reference.name), None)
    if step is None or reference.root != "steps":
        return Yield({}, [reference.name, *reference.path])
    if step.output is not UNSET:
        return _followed(step.output, reference.path)
    if step.unit is UNSET:
        return Yield({}, [reference.name, *reference.path])
    target = step.unit.target
    if step.map is UNSET and step.unit.output is UNSET and isinstance(target, ChildTarget):
        return _child_export(target.frozen_plan, reference.path)
    return _followed(_artifact(step, step.unit), reference.path)


def _artifact(step: Step, unit: Unit) -> JsonObject:
    one = unit.output if unit.output is not UNSET else ({} if isinstance(unit.target, ChildTarget) else _TEXT)
    if step.map is UNSET or step.map.reducer == "vote":
        return one
    # an empty text is no output, and a failed unit's slot is null under `continue`
    nullable = unit.on_error == "continue" or isinstance(unit.target, CommandTarget) or one is _TEXT
    return {"type": "array", "items": {"anyOf": [one, {"type": "null"}]} if nullable else one}


def _child_export(child: Plan, path: Path) -> Yield:
    if not path:
        return _all_exports(child)
    name, rest = str(path[0]), path[1:]
    if not child.outputs and name in IMPLICIT_EXPORTS:
        return _followed(_TEXT, rest)
    if name not in child.outputs:
        return Yield({}, path)
    inner = exported(child, child.outputs[name])
    return _followed(inner.schema, rest) if inner.known else Yield(inner.schema, [*inner.rest, *rest])


def _all_exports(child: Plan) -> Yield:
    found = {name: exported(child, output) for name, output in child.outputs.items()}
    found = found or {name: Yield(_TEXT) for name in IMPLICIT_EXPORTS}
    properties: JsonObject = {name: inner.schema for name, inner in found.items()}
    required: list[Json] = [*sorted(found)]
    schema: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return Yield(schema, [part for name in sorted(found) for part in found[name].rest])


def _followed(schema: JsonObject, path: Path) -> Yield:
    for count, part in enumerate(path):
        if any(key in schema for key in _OPAQUE):
            return Yield(schema, path[count:])
        if isinstance(part, int):
            inner = schema.get("items", {})
        else:
            properties = schema.get("properties")
            inner = properties.get(part, {}) if isinstance(properties, dict) else {}
        if not isinstance(inner, dict):
            return Yield(schema, path[count:])
        schema = inner
    return Yield(schema)
