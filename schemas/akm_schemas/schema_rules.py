"""What rules of their own say, as JSON Schema: several keys together, request members, the schema subset itself."""

from __future__ import annotations

from typing import Final

from akm_schemas.bounds import SAFE_INTEGER
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.keys import OWNED_ANYWHERE, OWNED_TOP_LEVEL, STEP, UNIT, Record
from akm_schemas.schema_patterns import Pattern, names_like
from akm_schemas.subset_keywords import ANNOTATIONS, COUNTS, LIMITS, SCHEMA_LISTS, TYPES


def excludes(*names: str) -> JsonObject:
    """A schema of mappings without ``names``, for ``dependencies``: the misplaced key itself is marked in editors."""
    return {"properties": dict.fromkeys(names, False)}


# Rules over several keys of one record.
CROSS_KEY: Final[dict[Record, JsonObject]] = {
    STEP: {"dependencies": {"map": excludes("unit", "route"), "route": excludes("unit", "inputs", "output")}},
    UNIT: {"dependencies": {"exec": excludes("engine", "model", "llm")}},
}


def _other_names(words: tuple[str, ...]) -> JsonObject:
    return {"not": {"pattern": Pattern(names_like(words)).anchored}}


EXTRA_PARAMS: Final[dict[str, JsonObject]] = {
    "extra_params": {
        "type": "object",
        "propertyNames": _other_names(OWNED_TOP_LEVEL + OWNED_ANYWHERE),
        "additionalProperties": {"$ref": "#/definitions/extra_value"},
    },
    "extra_value": {
        "propertyNames": _other_names(OWNED_ANYWHERE),
        "additionalProperties": {"$ref": "#/definitions/extra_value"},
        "items": {"$ref": "#/definitions/extra_value"},
    },
}

_SCHEMA: Final[JsonObject] = {"$ref": "#/definitions/schema"}
_ENFORCED: Final[dict[str, Json]] = {
    "type": {
        "description": "The type of the value, or a list of admitted types.",
        "anyOf": [
            {"enum": list(TYPES)},
            {"type": "array", "items": {"enum": list(TYPES)}, "minItems": 1, "uniqueItems": True},
        ],
    },
    "enum": {"description": "The admitted values.", "type": "array", "minItems": 1},
    "properties": {
        "description": "The schema of each property.",
        "type": "object",
        "additionalProperties": _SCHEMA,
    },
    "required": {
        "description": "The properties that have to be there.",
        "type": "array",
        "items": {"type": "string"},
        "uniqueItems": True,
    },
    "items": {"$ref": "#/definitions/schema", "description": "The schema of every element."},
    "additionalProperties": {
        "description": "False closes the object to other properties; true says nothing.",
        "type": "boolean",
    },
    "not": {"$ref": "#/definitions/schema", "description": "A schema that must not accept the value."},
}
_WORDS: Final = {
    "maxItems": "Most elements of an array.",
    "minItems": "Fewest elements of an array.",
    "maxLength": "Most characters of a text.",
    "minLength": "Fewest characters of a text.",
    "maximum": "The largest number admitted.",
    "minimum": "The smallest number admitted.",
    "allOf": "Every one of these schemas accepts the value.",
    "anyOf": "At least one of these schemas accepts the value.",
    "oneOf": "Exactly one of these schemas accepts the value.",
}


def _keyword(keyword: str) -> JsonObject:
    if keyword in COUNTS:
        return {"type": "integer", "minimum": 0, "maximum": SAFE_INTEGER}
    if keyword in LIMITS:
        return {"type": "number"}
    return {"type": "array", "items": _SCHEMA, "minItems": 1}


SUBSET: Final[JsonObject] = {
    "type": "object",
    "description": "A JSON Schema of the enforced subset.",
    "properties": {
        **_ENFORCED,
        **{word: {**_keyword(word), "description": _WORDS[word]} for word in (*COUNTS, *LIMITS, *SCHEMA_LISTS)},
        **{word: {"description": "An annotation: it constrains nothing."} for word in sorted(ANNOTATIONS)},
    },
    "patternProperties": {"^x-": {"description": "An annotation: it constrains nothing."}},
    "additionalProperties": False,
}
