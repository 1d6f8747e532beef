"""Following a path through a schema, statically.

A view is what is known of a value: alternatives, of which at least one holds, each a conjunction of schemas. The empty
conjunction says nothing. A path breaks only when no alternative can carry it; whatever is malformed, negated or too
branchy to expand counts as "may be anything", so that no schema is ever misjudged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from msgspec import Struct

from akm_schemas.canonical import canonical_bytes
from akm_schemas.json_types import Json, JsonObject

Conjunction: TypeAlias = tuple[JsonObject, ...]
View: TypeAlias = tuple[Conjunction, ...]

ANYTHING: Final[View] = ((),)
# Disjoint kinds of value: "number" are those with a fraction here, so that a schema of integers is called that.
TYPES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
SCALARS: Final = frozenset({"boolean", "integer", "number", "string"})
TEXT: Final[View] = (({"type": "string"},),)

# an analysis budget, not a limit of the language: beyond it a schema counts as "may be anything"
_ALTERNATIVES: Final = 128

_ONE: Final = {name: frozenset({name, "integer"} if name == "number" else {name}) for name in TYPES}
_COMBINATORS: Final = frozenset({"allOf", "anyOf", "oneOf"})
_ARTICLES: Final = {
    "array": "an array",
    "boolean": "a boolean",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}


class Broken(Struct, frozen=True):
    """A path that no value of the schema can carry: ``step`` counts the path's parts that still went well, ``found``
    says what is there, ``names`` are the properties of closed objects there, sorted (empty for other kinds)."""

    step: int
    found: str
    names: tuple[str, ...] = ()


def view_of(schema: JsonObject) -> View:
    """The view of one schema."""
    return ((schema,),)


def array_of(view: View) -> View:
    """The view of an array whose items are all of one view."""
    if view == ANYTHING:
        return (({"type": "array"},),)
    return tuple(({"type": "array", "items": {"allOf": list(conjunction)}},) for conjunction in view)


def follow(view: View, path: Iterable[str | int]) -> View | Broken:
    """The view at the end of ``path``, or where it breaks."""
    for step, part in enumerate(path):
        carried: list[Conjunction] = []
        refusals: list[Broken] = []
        for alternative in _live(view):
            below = _below(alternative, part, step)
            if isinstance(below, Broken):
                refusals.append(below)
            else:
                carried.append(below)
        if not carried and refusals:
            return _joined(refusals)
        view = tuple(carried) or ANYTHING
    return view


def admitted_types(view: View) -> frozenset[str]:
    """The kinds of value that a view admits."""
    return frozenset[str]().union(*(_types(alternative) for alternative in _live(view))) or TYPES


def described(types: frozenset[str]) -> str:
    """Kinds of value as words: ``an array or an object``."""
    told = types - {"integer"} if "number" in types else types
    return " or ".join(_ARTICLES[name] for name in sorted(told))


def finite_values(view: View) -> list[Json] | None:
    """Every value of a view, in the order of its enums, where each alternative has one; ``None`` otherwise."""
    found: dict[bytes, Json] = {}
    for alternative in _live(view):
        types = _types(alternative)
        enums = [schema["enum"] for schema in alternative if isinstance(schema.get("enum"), list)]
        if not enums and types != {"null"}:
            return None
        keyed = [{canonical_bytes(value): value for value in enum} for enum in enums if isinstance(enum, list)]
        first = keyed[0] if keyed else {b"null": None}
        for key, value in first.items():
            if _kind(value) in types and all(key in other for other in keyed):
                found.setdefault(key, value)
    return list(found.values()) or None


def _live(view: View) -> list[Conjunction]:
    """The alternatives of a view without combinators, those that admit no value left out."""
    flat: list[Conjunction] = []
    for conjunction in view:
        expanded = _expand_all(conjunction)
        if expanded is None or len(flat) + len(expanded) > _ALTERNATIVES:
            return [()]
        flat.extend(expanded)
    return [alternative for alternative in flat if _types(alternative)] or [()]


def _expand_all(schemas: Iterable[Json]) -> list[Conjunction] | None:
    """The alternatives of a conjunction; ``None`` when there are too many."""
    result: list[Conjunction] = [()]
    for schema in schemas:
        options = _expand(schema)
        if options is None or len(result) * len(options) > _ALTERNATIVES:
            return None
        result = [left + right for left in result for right in options]
    return result


def _expand(schema: Json) -> list[Conjunction] | None:
    """The alternatives of one schema."""
    if not isinstance(schema, dict):
        return [()]
    result: list[Conjunction] = [(schema,)]
    if schema.keys().isdisjoint(_COMBINATORS):
        return result
    parts: list[list[Conjunction] | None] = []
    if isinstance(members := schema.get("allOf"), list):
        parts.append(_expand_all(members))
    for key in ("anyOf", "oneOf"):
        if isinstance(members := schema.get(key), list) and members:
            options = [_expand(member) for member in members]
            parts.append(None if None in options else [one for option in options for one in option or ()])
    for part in parts:
        if part is None or len(result) * len(part) > _ALTERNATIVES:
            return None
        result = [left + right for left in result for right in part]
    return result


def _types(alternative: Conjunction) -> frozenset[str]:
    types = TYPES
    for schema in alternative:
        types &= _own_types(schema)
    return types


def _own_types(schema: JsonObject) -> frozenset[str]:
    """The kinds that ``type`` and ``enum`` of one schema admit."""
    named = schema.get("type")
    if isinstance(named, str) and "enum" not in schema and named in _ONE:
        return _ONE[named]
    names = [named] if isinstance(named, str) else named if isinstance(named, list) and named else None
    types = TYPES
    if names is not None:
        known = {name for name in names if isinstance(name, str)}
        if "number" in known:
            known.add("integer")
        types = frozenset(known) if known <= TYPES else TYPES
    if isinstance(members := schema.get("enum"), list) and members:
        types &= {_kind(member) for member in members}
    return types


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if value == int(value) else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def _below(alternative: Conjunction, part: str | int, step: int) -> Conjunction | Broken:
    """What is known of one part of a value."""
    types = _types(alternative)
    if ("object" if isinstance(part, str) else "array") not in types:
        return Broken(step, described(types))
    found: list[JsonObject] = []
    for schema in alternative:
        properties = schema.get("properties")
        named = properties if isinstance(properties, dict) else {}
        if isinstance(part, str):
            if schema.get("additionalProperties") is False and part not in named:
                return Broken(step, "a closed object", tuple(sorted(named)))
            below = named.get(part)
        else:
            below = schema.get("items")
        if isinstance(below, dict):
            found.append(below)
        if isinstance(members := schema.get("enum"), list) and members:
            values = [value for member in members for value in _member(member, part)]
            if not values:
                return Broken(step, "one of the values of its enum")
            found.append({"enum": values})
    return tuple(found)


def _member(value: Json, part: str | int) -> list[Json]:
    """The part of an enum member, as a list of one; empty when it has none."""
    if isinstance(value, dict) and isinstance(part, str) and part in value:
        return [value[part]]
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return [value[part]]
    return []


def _joined(refusals: list[Broken]) -> Broken:
    """One refusal that speaks for all alternatives."""
    names = sorted({name for refusal in refusals for name in refusal.names})
    founds = dict.fromkeys(refusal.found for refusal in refusals)
    return Broken(refusals[0].step, " or ".join(founds), tuple(names))
