"""Faults of a schema, and their words."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from akm_schemas.canonical import number_text
from akm_schemas.json_paths import quoted
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.subset_keywords import ANNOTATIONS, ENFORCED, FOREIGN, TYPES, UNSUPPORTED, nearest

FaultKind: TypeAlias = Literal["unsupported-keyword", "unknown-keyword", "malformed", "bad-default", "bound"]
SchemaPath: TypeAlias = tuple[str | int, ...]

_KNOWN: Final = ENFORCED | ANNOTATIONS
TYPE_NAMES: Final = ", ".join(TYPES)
_KEYWORD_NAMES: Final = ", ".join(sorted(ENFORCED))

# What other languages call the types; too far from ours for a nearest spelling.
_TYPE_ALIASES: Final[dict[str, str]] = {
    "bool": "boolean",
    "dict": "object",
    "double": "number",
    "float": "number",
    "int": "integer",
    "list": "array",
    "map": "object",
    "mapping": "object",
    "nil": "null",
    "none": "null",
    "nul": "null",
    "str": "string",
    "text": "string",
}


class KeywordFix(Struct, frozen=True):
    """Replace the member at the fault's path by ``key: value``; ``safe`` when it says exactly the same."""

    key: str
    value: Json
    safe: bool


class SchemaFault(Struct, frozen=True):
    """One fault: ``pointer`` is the path of the offending member inside the schema, ``part`` its key or its value."""

    kind: FaultKind
    pointer: SchemaPath
    part: Literal["key", "value"]
    message: str
    help: str | None = None
    fix: KeywordFix | None = None


def found(value: Json) -> str:
    """What stands there, for ``..., found X``: short, the author's text in quotes."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, (bool, int, float)):
        return number_text(value)
    empty = "" if value else "empty "
    kind = "list" if isinstance(value, list) else "mapping"
    return f"{'an' if empty else 'a'} {empty}{kind}"


def bad_type_name(name: Json, path: SchemaPath) -> SchemaFault:
    """``name`` stands where the name of a type is expected and is none."""
    help_ = f"use one of: {TYPE_NAMES}"
    if not isinstance(name, str):
        message = f"`type` has to be the name of a type, found {found(name)}"
        return SchemaFault("malformed", path, "value", message, help_)
    close = _TYPE_ALIASES.get(name.lower()) or nearest(name, TYPES)
    if close:
        help_ = f'did you mean "{close}"? The types are: {TYPE_NAMES}'
    return SchemaFault("malformed", path, "value", f"{quoted(name)} is no JSON Schema type", help_)


def foreign_keyword(keyword: str, schema: JsonObject, path: SchemaPath) -> SchemaFault:
    """A keyword that is neither enforced nor an annotation: one of JSON Schema's others, or a word of no draft.

    ``schema`` is the schema that holds it at ``path``; no fix proposes a keyword that is there already.
    """
    fault = _foreign(keyword, schema[keyword], path)
    return replace(fault, fix=None) if fault.fix and fault.fix.key in schema else fault


def _foreign(keyword: str, value: Json, path: SchemaPath) -> SchemaFault:
    instead = UNSUPPORTED.get(keyword)
    if instead is not None:
        message = f"the JSON Schema keyword `{keyword}` is not enforced"
        return SchemaFault("unsupported-keyword", path, "key", message, instead, _replacement(keyword, value))
    message = f"{quoted(keyword)} is no JSON Schema keyword"
    if keyword in FOREIGN:
        return SchemaFault("unknown-keyword", path, "key", message, FOREIGN[keyword])
    close = nearest(keyword, _KNOWN | UNSUPPORTED.keys())
    if close is None:
        return SchemaFault("unknown-keyword", path, "key", message, f"the enforced keywords are: {_KEYWORD_NAMES}")
    if close in UNSUPPORTED:
        help_ = f'did you mean "{close}"? It is not enforced: {UNSUPPORTED[close]}'
        return SchemaFault("unknown-keyword", path, "key", message, help_)
    fix = KeywordFix(close, value, safe=False)
    return SchemaFault("unknown-keyword", path, "key", message, f'did you mean "{close}"?', fix)


def _replacement(keyword: str, value: Json) -> KeywordFix | None:
    if keyword == "const":
        return KeywordFix("enum", [value], safe=True)
    if keyword == "id":
        return KeywordFix("$id", value, safe=True)
    if keyword in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, (int, float)):
        limit = "minimum" if keyword == "exclusiveMinimum" else "maximum"
        return None if isinstance(value, bool) else KeywordFix(limit, value, safe=False)
    return None
