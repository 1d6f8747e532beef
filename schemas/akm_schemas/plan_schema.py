"""The schema of frozen plans, from the Structs, the bounds table and the rules over several members.

It says what a plan looks like; hashes, the order of steps and what references name are the decoder's business
(``akm_schemas.decode``), so a plan that satisfies it may still be refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from akm_schemas import bounds
from akm_schemas.bounds import Bound
from akm_schemas.config_keys import ENDPOINT, ENGINE_NAME
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.key_schema import limits, number_limits, pattern_members, reference_to
from akm_schemas.keys import NAME, STEP_ID
from akm_schemas.plan import IR_VERSION, Plan
from akm_schemas.schema_patterns import CWD, ENV_NAME, PLAIN_WORD, Pattern, asset_ref
from akm_schemas.schema_rules import SUBSET, excludes

_DIGEST: Final = pattern_members(Pattern("[0-9a-f]{64}"))
_PARAM: Final = {**pattern_members(Pattern(NAME)), **limits(bounds.PARAM_NAME, "Length")}
_VARIABLE: Final = pattern_members(ENV_NAME)
_PROGRAM: Final = pattern_members(Pattern("[^\\u0000]+"))
_ENGINE: Final = {**pattern_members(ENGINE_NAME), **limits(bounds.ENGINE_NAME, "Length")}
_WORDS: Final[JsonObject] = {
    **limits(bounds.ARGV_WORDS, "Items"),
    "items": {"type": "string", **limits(bounds.ARGV_WORD_BYTES, "Length")},
}
_SCHEMA: Final = reference_to("schema")
_NON_EMPTY: Final[JsonObject] = {"allOf": [_SCHEMA], "minProperties": 1}
_INDEX: Final[JsonObject] = {
    "anyOf": [
        {"type": "string", **pattern_members(Pattern(STEP_ID))},
        {"type": "integer", "minimum": 0, "maximum": 9_999_999_999},
    ]
}


def _whole(bound: Bound) -> JsonObject:
    """Null, or an integer within a bound."""
    return {"anyOf": [{"type": "integer", **number_limits(bound)}, {"type": "null"}]}


def _ref(family: str) -> JsonObject:
    return pattern_members(Pattern(asset_ref((family,)), f"a ref such as {family}/NAME"))


def _named(value: JsonObject, bound: Bound) -> JsonObject:
    return {"propertyNames": _PARAM, "additionalProperties": value, **limits(bound, "Properties")}


# What the Structs cannot say, by Struct and member; a schema here is laid over the generated one.
_MEMBERS: Final[Mapping[str, Mapping[str, JsonObject]]] = {
    "Plan": {
        "irVersion": {"enum": [IR_VERSION]},
        "params": _named(_SCHEMA, bounds.PARAMS),
        "steps": limits(bounds.STEPS, "Items"),
        "outputs": _named(reference_to("Output"), bounds.OUTPUTS),
        "contentHash": _DIGEST,
        "planHash": _DIGEST,
    },
    "Budget": {"maxUnits": number_limits(bounds.MAX_UNITS), "maxTokens": number_limits(bounds.MAX_TOKENS)},
    "Execution": {"maxConcurrency": _whole(bounds.CONCURRENCY)},
    "Step": {
        "id": pattern_members(Pattern(STEP_ID)),
        "index": {"minimum": 0, "maximum": bounds.STEPS.high - 1},
        "inputs": {"maxItems": bounds.INPUTS.high},
        "output": _NON_EMPTY,
    },
    "Unit": {
        "instructions": limits(bounds.INSTRUCTION_BYTES, "Length"),
        "output": _NON_EMPTY,
        "timeoutMs": _whole(bounds.TIMEOUT_MS),
    },
    "Retry": {
        "max": number_limits(bounds.RETRY_MAX),
        "on": {"items": {"enum": list(bounds.RETRY_REASONS)}, "uniqueItems": True},
    },
    "Map": {"concurrency": number_limits(bounds.CONCURRENCY)},
    "Route": {"when": limits(bounds.BRANCHES, "Items")},
    "Gate": {
        "rubric": {"minLength": 1, "maxLength": bounds.RUBRIC_BYTES.high},
        "maxLoops": number_limits(bounds.MAX_LOOPS),
    },
    "Output": {"schema": _NON_EMPTY},
    "ReferenceInput": {"name": _PARAM, "schema": _SCHEMA},
    "LiteralInput": {"name": _PARAM},
    "LiteralBinding": {"name": _VARIABLE, "value": pattern_members(Pattern("[^\\u0000]*"))},
    "PassThroughBinding": {"name": _VARIABLE},
    "EnvRefBinding": {
        "ref": _ref("env"),
        "path": {"minLength": 1},
        "keys": {"uniqueItems": True, "items": {"type": "string", **pattern_members(Pattern(NAME))}},
        "secretNames": {
            "uniqueItems": True,
            "items": {"type": "string", **pattern_members(Pattern("[A-Za-z0-9_][A-Za-z0-9_.-]*"))},
        },
    },
    "LlmEngine": {"name": _ENGINE, "endpoint": pattern_members(ENDPOINT), "apiKey": pattern_members(Pattern(NAME))},
    "AgentEngine": {
        "name": _ENGINE,
        "bin": _PROGRAM,
        "args": {"minItems": 1, "items": {"type": "string", **pattern_members(PLAIN_WORD)}},
        "workspace": {**pattern_members(CWD), **limits(bounds.CWD_LENGTH, "Length")},
    },
    "CommandTarget": {
        "ref": _ref("commands"),
        "contentHash": _DIGEST,
        "prompt": limits(bounds.INSTRUCTION_BYTES, "Length"),
        "options": {"minProperties": 1},
        "model": {"minLength": 1},
        "concurrency": number_limits(bounds.CONCURRENCY),
    },
    "ExecTarget": {
        "contentHash": _DIGEST,
        "command": _WORDS,
        "cwd": {**pattern_members(CWD), **limits(bounds.CWD_LENGTH, "Length")},
        "passEnv": {
            "maxItems": bounds.PASS_ENV.high,
            "uniqueItems": True,
            "items": {"type": "string", **_VARIABLE},
        },
    },
    "ScriptTarget": {
        "ref": _ref("scripts"),
        "contentHash": _DIGEST,
        "interpreter": _WORDS,
        "extension": {"minLength": 1},
        "bytesBase64": pattern_members(
            Pattern("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", "padded Base64")
        ),
        "byteLength": number_limits(bounds.SCRIPT_BYTES),
    },
    "ChildTarget": {
        "ref": _ref("workflows"),
        "taskRef": _ref("tasks"),
        "contentHash": _DIGEST,
        "planHash": _DIGEST,
    },
    "Provenance": {"sourceHash": _DIGEST, "schedule": limits(bounds.SCHEDULES, "Items")},
    "SourceFile": {"sha256": _DIGEST, "size": {"minimum": 0}},
    "Toolchain": {"lowering": {"minimum": 1}},
    "Reference": {"path": {"items": _INDEX}},
}


def _needs(kind: str, *members: str) -> JsonObject:
    absent = [name for name in ("unit", "map", "route") if name not in members]
    if kind == "route":
        absent.append("output")
    return {
        "if": {"properties": {"kind": {"enum": [kind]}}},
        "then": {"required": list[Json](members), **excludes(*absent)},
    }


_RULES: Final[Mapping[str, JsonObject]] = {
    "Step": {"allOf": [_needs("unit", "unit"), _needs("map", "map", "unit"), _needs("route", "route")]},
    "LlmTuning": {"minProperties": 1},
    "ChildTarget": {
        "if": {"properties": {"via": {"enum": ["task"]}}},
        "then": {"required": ["taskRef"]},
        "else": excludes("taskRef"),
    },
    "CommandTarget": {
        "if": {"properties": {"engine": {"properties": {"kind": {"enum": ["agent"]}}}}},
        "then": excludes("llm"),
        "else": {"required": ["model", "concurrency"], **excludes("options")},
    },
    "AgentEngine": {
        "if": {"required": ["llmEngine"]},
        "then": {"properties": {"platform": {"enum": ["opencode-sdk"]}}},
    },
}


def plan() -> JsonObject:
    """The whole schema; each Struct is a definition."""
    (root,), structs = msgspec.json.schema_components([Plan], ref_template="#/definitions/{name}")
    definitions: dict[str, Json] = {name: _definition(name, part) for name, part in structs.items()}
    return {
        "title": "AKM frozen plan",
        "description": "What akmc compile writes and akm-run runs, irVersion 5; hashes are checked by the programs.",
        **root,
        "definitions": {**definitions, "schema": SUBSET},
    }


def _definition(name: str, part: Any) -> JsonObject:
    """A Struct's schema with its bounds; members with a default are always written, so they are required."""
    properties: dict[str, Any] = {}
    for member, value in part["properties"].items():
        plain = {key: inner for key, inner in value.items() if key not in ("default", "discriminator")}
        properties[member] = _without_discriminators({**plain, **_MEMBERS.get(name, {}).get(member, {})})
    written = [member for member, value in part["properties"].items() if value.get("default", UNSET) is not UNSET]
    required: list[Json] = [member for member in properties if member in {*part.get("required", ()), *written}]
    description = " ".join(part.get("description", "").replace("``", "").split())
    return {
        "description": description,
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
        **_RULES.get(name, {}),
    }


def _without_discriminators(value: Any) -> Any:
    """OpenAPI's keyword is none of JSON Schema's."""
    if isinstance(value, dict):
        return {key: _without_discriminators(inner) for key, inner in value.items() if key != "discriminator"}
    return [_without_discriminators(inner) for inner in value] if isinstance(value, list) else value
