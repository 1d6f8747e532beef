"""Schemas without what never decides a verdict."""

from __future__ import annotations

from typing import Final

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.subset_validate import json_equal

ANNOTATIONS: Final = frozenset(
    ("title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "$schema", "$id")
)


def meaning(schema: JsonObject) -> JsonObject:
    """``schema`` without what never decides a verdict: annotations, order of types and of required names."""
    kept: JsonObject = {}
    for key, value in schema.items():
        if key in ANNOTATIONS or key.startswith("x-") or (key == "additionalProperties" and value is True):
            continue
        kept[key] = _keyword_meaning(key, value)
    return kept


def same_meaning(one: JsonObject, other: JsonObject) -> bool:
    """Whether two schemas differ in annotations and order at most."""
    return json_equal(meaning(one), meaning(other))


def _keyword_meaning(key: str, value: Json) -> Json:
    if key == "properties" and isinstance(value, dict):
        return {name: meaning(child) if isinstance(child, dict) else child for name, child in value.items()}
    if key in ("allOf", "anyOf", "oneOf") and isinstance(value, list):
        return [meaning(child) if isinstance(child, dict) else child for child in value]
    if key in ("items", "not") and isinstance(value, dict):
        return meaning(value)
    if key == "required" and isinstance(value, list):
        return [*sorted({str(name) for name in value})]
    if key == "type":
        names = {str(name) for name in value} if isinstance(value, list) else {str(value)}
        return [*sorted(names - {"integer"} if "number" in names else names)]
    return value
