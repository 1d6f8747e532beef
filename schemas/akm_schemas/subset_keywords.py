"""The words of JSON Schema, by what we do with them (spec 1, section 2.4).

Enforced keywords constrain; annotations pass through; every other keyword of any draft is refused by name, because a
keyword that constrains nothing would promise what nobody keeps.
"""

from __future__ import annotations

from typing import Final

from akm_schemas import spelling

TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")

COUNTS: Final = ("maxItems", "maxLength", "minItems", "minLength")
LIMITS: Final = ("maximum", "minimum")
SCHEMA_LISTS: Final = ("allOf", "anyOf", "oneOf")

ENFORCED: Final = frozenset(
    ("type", "enum", "properties", "required", "items", "additionalProperties", "not", *COUNTS, *LIMITS, *SCHEMA_LISTS)
)

ANNOTATIONS: Final = frozenset(
    (
        "title",
        "description",
        "default",
        "examples",
        "$comment",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$schema",
        "$id",
    )
)

_TEXT: Final = "use `enum`, `minLength` and `maxLength`, or ask for it in the step's rubric"
_RUBRIC: Final = "ask for it in the step's rubric"
_INLINE: Final = "write the schema out where it is used"
_BRANCHES: Final = "use `anyOf` with one complete schema for each case"
_NAMES: Final = "list the names under `properties` and close the object with `additionalProperties: false`"
_ITEMS: Final = "use `items` with one schema for every element"
_DROP: Final = "remove it, nothing here reads it"

# Keywords of draft 3 to 2020-12 that are not enforced, with what to write instead.
UNSUPPORTED: Final[dict[str, str]] = {
    "$anchor": _INLINE,
    "$defs": _INLINE,
    "$dynamicAnchor": _INLINE,
    "$dynamicRef": _INLINE,
    "$recursiveAnchor": _INLINE,
    "$recursiveRef": _INLINE,
    "$ref": _INLINE,
    "$vocabulary": _DROP,
    "additionalItems": _ITEMS,
    "const": "use `enum` with that one value",
    "contains": "use `items`, or " + _RUBRIC,
    "contentEncoding": _RUBRIC,
    "contentMediaType": _RUBRIC,
    "contentSchema": _RUBRIC,
    "definitions": _INLINE,
    "dependencies": _BRANCHES,
    "dependentRequired": _BRANCHES,
    "dependentSchemas": _BRANCHES,
    "disallow": "use `not`",
    "divisibleBy": "use `type: integer` or `enum`, or " + _RUBRIC,
    "else": _BRANCHES,
    "exclusiveMaximum": "use `maximum`, which admits the limit itself",
    "exclusiveMinimum": "use `minimum`, which admits the limit itself",
    "extends": "use `allOf`",
    "format": _TEXT,
    "id": "use `$id`",
    "if": _BRANCHES,
    "maxContains": "use `maxItems`, or " + _RUBRIC,
    "maxProperties": _NAMES,
    "minContains": "use `minItems`, or " + _RUBRIC,
    "minProperties": "list the names under `required`",
    "multipleOf": "use `type: integer` or `enum`, or " + _RUBRIC,
    "pattern": _TEXT,
    "patternProperties": _NAMES,
    "prefixItems": _ITEMS,
    "propertyNames": _NAMES,
    "then": _BRANCHES,
    "unevaluatedItems": _ITEMS,
    "unevaluatedProperties": _NAMES,
    "uniqueItems": _RUBRIC,
}

# Words of neighbouring dialects that no spelling of ours is near to.
FOREIGN: Final[dict[str, str]] = {
    "nullable": 'add "null" to the list in `type`',
    "discriminator": "use `oneOf` with a one-value `enum` in each branch",
    "example": "use `examples`, a list",
    "optional": "leave the name out of the object's `required`",
    "min": "use `minimum`, `minLength` or `minItems`",
    "max": "use `maximum`, `maxLength` or `maxItems`",
    "values": "use `enum`",
    "options": "use `enum`",
    "oneof": "use `oneOf`",
}


def is_annotation(keyword: str) -> bool:
    """Whether ``keyword`` passes through without constraining anything (``x-*`` included)."""
    return keyword in ANNOTATIONS or keyword.startswith("x-")


def nearest(word: str, known: frozenset[str] | tuple[str, ...]) -> str | None:
    """The one of ``known`` that ``word`` probably means; ties go to the alphabetically first."""
    lowered = {name.lower(): name for name in sorted(known, reverse=True)}
    close = spelling.nearest(word.lower(), lowered)
    return lowered[close] if close else None
