"""Shapes of the key table as JSON Schema, draft 7 (the draft that YAML language servers know best).

A schema made here accepts what the checking walk and the rules over several keys accept, wherever JSON Schema can say
it; what it cannot say is listed, and the rest held together, by ``tests/property/test_schema_agrees.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from akm_schemas import bounds, keys
from akm_schemas.bounds import Bound
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.schema_patterns import CWD, PLAIN_WORD, REFERENCE, STEP_REFERENCE, TIMEOUT, Pattern
from akm_schemas.schema_rules import CROSS_KEY, EXTRA_PARAMS, SUBSET

# What rules of their own ask of single texts, by record and key.
_PATTERNS: Final[dict[tuple[str, str], Pattern]] = {
    ("exec", "command"): PLAIN_WORD,
    ("exec", "cwd"): CWD,
    ("output", "from"): STEP_REFERENCE,
}
NO_VALUES: Final[Mapping[str, JsonObject]] = {}


class SchemaWriter:
    """Writes shapes and keeps the definitions that they refer to.

    ``definitions`` is complete once every shape of the document was written; records and the schemas of embedded
    schemas become definitions, everything else stands where it is used.
    """

    def __init__(self) -> None:
        self.definitions: dict[str, Json] = {}

    def properties(self, record: keys.Record, values: Mapping[str, JsonObject] = NO_VALUES) -> JsonObject:
        """One property per key, with the key's doc as its description."""
        return {
            key.name: {
                **(values[key.name] if key.name in values else self.value(key.shape, (record.name, key.name))),
                "description": sentence(key.doc),
            }
            for key in record.keys
        }

    def record(self, shape: keys.Record, values: Mapping[str, JsonObject] = NO_VALUES) -> JsonObject:
        """A closed mapping, with the rules over several of its keys; ``values`` stand in for what the shapes say."""
        required: list[Json] = [key.name for key in shape.keys if key.required]
        return {
            "type": "object",
            "properties": self.properties(shape, values),
            **({"required": required} if required else {}),
            "additionalProperties": False,
            **CROSS_KEY.get(shape, {}),
        }

    def value(self, shape: keys.Shape, at: tuple[str, str]) -> JsonObject:
        """The schema of a value; ``at`` is the record and the key that it belongs to."""
        match shape:
            case keys.Record():
                if shape.name not in self.definitions:
                    self.definitions[shape.name] = {}
                    self.definitions[shape.name] = self.record(shape)
                return reference_to(shape.name)
            case keys.ListOf():
                return self.list_of(shape, at)
            case keys.Named():
                return self.named(shape, at)
            case keys.Schema():
                self.definitions["schema"] = SUBSET
                return reference_to("schema")
            case keys.AnyMapping():
                if at[1] != "extra_params":
                    return {"type": "object"}
                self.definitions |= EXTRA_PARAMS
                return reference_to("extra_params")
            case keys.Anything():
                return {}
            case _:
                return scalar(shape, _PATTERNS.get(at))

    def list_of(self, shape: keys.ListOf, at: tuple[str, str]) -> JsonObject:
        """A list; where one mapping may stand for a list of one, that too."""
        item = self.value(shape.item, at)
        found: JsonObject = {"type": "array", "items": item, **limits(shape.bound, "Items")}
        if shape.unique:
            found["uniqueItems"] = True
        return {"anyOf": [item, found]} if shape.single else found

    def named(self, shape: keys.Named, at: tuple[str, str]) -> JsonObject:
        """A mapping from author-chosen names."""
        name = Pattern(shape.pattern, "an ASCII letter or underscore, then letters, digits and underscores")
        return {
            "type": "object",
            "propertyNames": {**pattern_members(name), "maxLength": bounds.PARAM_NAME.high},
            "additionalProperties": self.value(shape.value, at),
            **limits(shape.bound, "Properties"),
        }


def scalar(shape: keys.Shape, extra: Pattern | None = None) -> JsonObject:
    """The schema of a scalar shape; ``extra`` is a pattern that a rule of its own asks for."""
    match shape:
        case keys.Text():
            return {"enum": list(shape.choices)} if shape.choices else {"type": "string", **text_members(shape, extra)}
        case keys.Integer():
            return {"type": "integer", **number_limits(shape.bound)}
        case keys.Number():
            return {"type": "number"}
        case keys.Boolean():
            return {"type": "boolean"}
        case keys.Timeout():
            return {"type": ["string", "integer"], **pattern_members(TIMEOUT), **number_limits(bounds.TIMEOUT_MS)}
        case keys.MatchValue():
            return {"type": ["string", "number", "boolean"]}
        case keys.ReferenceText():
            return {"type": "string", **pattern_members(extra or REFERENCE)}
        case _:
            raise TypeError(f"{type(shape).__name__} is no scalar shape")


def text_members(shape: keys.Text, extra: Pattern | None) -> JsonObject:
    """Pattern and length. A size in bytes becomes the same number of characters: never too strict."""
    found: JsonObject = {}
    if shape.pattern is not None:
        reserved = "(?!akm-)" if shape.rule == "invalid-engine-name" else ""
        found |= pattern_members(Pattern(reserved + shape.pattern, shape.hint))
    elif extra is not None:
        found |= pattern_members(extra)
    return found | limits(shape.size, "Length")


def pattern_members(pattern: Pattern) -> JsonObject:
    """``pattern``, and the words that VS Code and yaml-language-server show instead of it."""
    found: JsonObject = {"pattern": pattern.anchored}
    if pattern.hint:
        found["patternErrorMessage"] = f"Expected {pattern.hint}."
    return found


def limits(bound: Bound | None, what: str) -> JsonObject:
    """``minItems`` and ``maxItems`` and the like; a lower bound of 0 says nothing."""
    if bound is None:
        return {}
    return {**({f"min{what}": bound.low} if bound.low else {}), f"max{what}": bound.high}


def number_limits(bound: Bound | None) -> JsonObject:
    """``minimum`` and ``maximum``."""
    return {} if bound is None else {"minimum": bound.low, "maximum": bound.high}


def reference_to(name: str) -> JsonObject:
    """A ``$ref`` to a definition of the same document."""
    return {"$ref": f"#/definitions/{name}"}


def sentence(doc: str) -> str:
    """A doc of the key table as a sentence."""
    return f"{doc[:1].upper()}{doc[1:]}."
