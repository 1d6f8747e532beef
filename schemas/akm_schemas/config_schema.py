"""The schemas of ``.akm/config.json`` and ``models.json``, from their key tables and the rules over several keys.

``tests/property/test_config_schema_agrees.py`` holds them and the reader together, and lists what JSON Schema cannot say.
"""

from __future__ import annotations

from typing import Final

from akm_schemas import bounds
from akm_schemas.config_keys import (
    AGENT_ENGINE,
    API_KEY,
    BUNDLE_NAME,
    CONFIG,
    ENDPOINT,
    ENGINE_NAME,
    KINDS,
    LLM_ENGINE,
    MODELS,
    MODELS_VERSION,
    PLATFORMS,
)
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.key_schema import SchemaWriter, limits, pattern_members, reference_to
from akm_schemas.keys import ListOf, Record, Text
from akm_schemas.schema_patterns import CWD
from akm_schemas.schema_rules import EXTRA_PARAMS

_TEXT: Final[JsonObject] = {"type": "string", "minLength": 1}


def config() -> JsonObject:
    """``.akm/config.json``."""
    writer = SchemaWriter()
    engines: JsonObject = {
        "type": "object",
        "propertyNames": {**pattern_members(ENGINE_NAME), **limits(bounds.ENGINE_NAME, "Length")},
        "additionalProperties": reference_to("engine"),
    }
    bundles: JsonObject = {
        "type": "object",
        "propertyNames": pattern_members(BUNDLE_NAME),
        "additionalProperties": _TEXT,
    }
    records = {shape.name: _record(writer, shape) for shape in (LLM_ENGINE, AGENT_ENGINE)}
    root = _record(writer, CONFIG, {"engines": engines, "bundles": bundles})
    return {
        "title": "AKM config",
        "description": "The config of akmc, .akm/config.json of a project or config.json of a user.",
        **root,
        "definitions": {**EXTRA_PARAMS, **_ALIASES, **records, "engine": _engine()},
    }


def models() -> JsonObject:
    """``models.json``."""
    return {
        "title": "AKM model aliases",
        "description": "Model aliases, models.json beside the config.",
        **_record(SchemaWriter(), MODELS, {"version": {"enum": [MODELS_VERSION]}}),
        "definitions": {name: _ALIASES[name] for name in ("aliases", "columns", "model")},
    }


_MODEL: Final[JsonObject] = {
    "description": 'A model, or {"engine": NAME} for the model of that engine.',
    "anyOf": [
        _TEXT,
        {"type": "object", "properties": {"engine": _TEXT}, "required": ["engine"], "additionalProperties": False},
    ],
}
_LONE_ENGINE: Final[JsonObject] = {"required": ["engine"], "maxProperties": 1}
_ALIASES: Final[dict[str, Json]] = {
    "aliases": {"type": "object", "additionalProperties": reference_to("columns")},
    "columns": {
        "type": "object",
        "description": "The model by column: an engine's name, a platform, llm, or *.",
        "additionalProperties": reference_to("model"),
    },
    "model": _MODEL,
    "ownAliases": {
        "type": "object",
        "additionalProperties": {
            "anyOf": [reference_to("model"), {"allOf": [reference_to("columns")], "not": _LONE_ENGINE}]
        },
    },
}


def _engine() -> JsonObject:
    """An engine by its kind; each kind is closed to the keys of the other."""
    return {
        "type": "object",
        "properties": {"kind": {"enum": list(KINDS)}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"enum": ["llm"]}}},
        "then": reference_to(LLM_ENGINE.name),
        "else": reference_to(AGENT_ENGINE.name),
    }


def _record(writer: SchemaWriter, shape: Record, values: dict[str, JsonObject] | None = None) -> JsonObject:
    """A closed record in which no text is empty."""
    own = {} if values is None else dict(values)
    for key in shape.keys:
        if key.name in _VALUES.get(shape.name, {}):
            own[key.name] = _VALUES[shape.name][key.name]
        elif isinstance(key.shape, Record):
            own[key.name] = _record(writer, key.shape)
        elif key.name not in own and isinstance(key.shape, Text) and not key.shape.choices:
            own[key.name] = {**_TEXT, **limits(key.shape.size, "Length")}
        elif isinstance(key.shape, ListOf):
            own[key.name] = {"type": "array", "items": {"type": "string"}}
    return {**writer.record(shape, own), **_RULES.get(shape.name, {})}


_VALUES: Final[dict[str, dict[str, JsonObject]]] = {
    LLM_ENGINE.name: {
        "endpoint": {"type": "string", **pattern_members(ENDPOINT)},
        "apiKey": {"type": "string", **pattern_members(API_KEY)},
        "modelAliases": reference_to("ownAliases"),
        "extraParams": reference_to("extra_params"),
    },
    AGENT_ENGINE.name: {
        "workspace": {"type": "string", **pattern_members(CWD), **limits(bounds.CWD_LENGTH, "Length")},
        "modelAliases": reference_to("ownAliases"),
    },
    CONFIG.name: {"modelAliases": reference_to("aliases")},
    MODELS.name: {"aliases": reference_to("aliases")},
}
_OTHERS: Final = [platform for platform in PLATFORMS if platform != "opencode-sdk"]
_RULES: Final[dict[str, JsonObject]] = {
    AGENT_ENGINE.name: {
        "allOf": [
            {"if": {"properties": {"platform": {"enum": ["command"]}}}, "then": {"required": ["bin"]}},
            {
                "if": {"properties": {"platform": {"enum": list(_OTHERS)}}},
                "then": {"properties": {"llmEngine": False}},
            },
        ]
    }
}
