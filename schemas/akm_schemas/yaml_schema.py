"""Schemas of the YAML sources: workflows (``workflows/x.yml``) and tasks (``tasks/x.yml``), spec 1, sections 3 and 4.

Their key tables leave values that depend on several keys to the front ends; those are written here.
"""

from __future__ import annotations

from typing import Final

from akm_schemas import bounds
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.key_schema import SchemaWriter, limits, pattern_members, reference_to
from akm_schemas.schema_patterns import (
    CRON,
    ENV_NAME,
    EXPRESSION,
    PLAIN_WORD,
    RUN_LINE,
    STEP_REFERENCE,
    WORKING_DIRECTORY,
    Pattern,
    asset_ref,
)
from akm_schemas.schema_rules import SUBSET, excludes
from akm_schemas.task_keys import SCHEDULE_ENTRY, TASK, TASK_VERSION
from akm_schemas.yaml_keys import BUILTIN, EVENTS, RUNNER, YAML_JOB, YAML_ROOT, YAML_STEP

# What an engine is asked with; nothing else reads these keys.
_ASKING: Final = ("output", "engine", "model", "inference", "agent", "tools")
_FIVE_FIELDS: Final[JsonObject] = {
    "type": "string",
    **pattern_members(CRON),
    "description": "Minute, hour, day, month, weekday.",
}
_ENV: Final[JsonObject] = {
    "type": "object",
    "propertyNames": pattern_members(ENV_NAME),
    "additionalProperties": {"type": ["string", "number", "boolean", "null"], **pattern_members(PLAIN_WORD)},
}
_BUILTIN_WITH: Final[JsonObject] = {
    "type": "object",
    "description": "The prompt of akm/command: a stored one or the text itself.",
    "properties": {
        "ref": {
            "type": "string",
            **pattern_members(Pattern(asset_ref(("commands",)), "a commands/ ref")),
            "description": "The command asset whose body is the prompt.",
        },
        "content": {
            "type": "string",
            **limits(bounds.INSTRUCTION_BYTES, "Length"),
            "description": "The prompt itself.",
        },
        "arguments": {"type": "string", "description": "What replaces $ARGUMENTS in the prompt."},
    },
    "oneOf": [{"required": ["ref"]}, {"required": ["content"]}],
    "additionalProperties": False,
}
_BINDING: Final[JsonObject] = {
    "description": "A value, or {from: reference} for what an earlier step made.",
    "if": {"type": "object", "required": ["from"]},
    "then": {
        "properties": {"from": {"type": "string", **pattern_members(STEP_REFERENCE)}},
        "additionalProperties": False,
    },
}
# A document without GitHub expressions, in any key or scalar.
_PLAIN: Final[JsonObject] = {
    "not": {"type": "string", "pattern": EXPRESSION},
    "propertyNames": {"not": {"pattern": EXPRESSION}},
    "additionalProperties": reference_to("plain"),
    "items": reference_to("plain"),
}


def uses(*families: str) -> JsonObject:
    """A condition: ``uses`` names an asset of one of the families."""
    pattern = Pattern(asset_ref(families)).anchored
    return {"required": ["uses"], "properties": {"uses": {"type": "string", "pattern": pattern}}}


USES_BUILTIN: Final[JsonObject] = {"required": ["uses"], "properties": {"uses": {"enum": [BUILTIN]}}}


def target(*families: str) -> JsonObject:
    """The value of ``uses``: the built-in command, or a ref of one of the families."""
    some = ", ".join(f"{family}/…" for family in families)
    return {"type": "string", **pattern_members(Pattern(f"{BUILTIN}|{asset_ref(families)}", f"{BUILTIN}, {some}"))}


def _run_line() -> JsonObject:
    return {"type": "string", **pattern_members(RUN_LINE)}


def _working_directory() -> JsonObject:
    return {"type": "string", **pattern_members(WORKING_DIRECTORY), **limits(bounds.CWD_LENGTH, "Length")}


def yaml_workflow() -> JsonObject:
    """``workflows/x.yml``: root, triggers, the one job, its steps."""
    writer = SchemaWriter()
    schedule: JsonObject = {
        "type": "array",
        "description": "Cron texts, checked and kept; nothing here installs them.",
        "items": {
            "type": "object",
            "properties": {"cron": _FIVE_FIELDS},
            "required": ["cron"],
            "additionalProperties": False,
        },
        **limits(bounds.SCHEDULES, "Items"),
    }
    dispatch: JsonObject = {
        "type": ["object", "null"],
        "maxProperties": 0,
        "description": "Started by hand; takes no inputs.",
    }
    triggers: JsonObject = {
        "type": "object",
        "properties": dict(zip(EVENTS, (schedule, dispatch), strict=True)),
        "minProperties": 1,
        "additionalProperties": False,
    }
    runs_on: JsonObject = {"type": "array", "items": {"enum": [RUNNER]}, "minItems": 1, "maxItems": 1}
    steps: JsonObject = {"type": "array", "items": reference_to("step"), **limits(bounds.STEPS, "Items")}
    job = writer.record(YAML_JOB, {"needs": {"type": "array", "maxItems": 0}, "runs-on": runs_on, "steps": steps})
    jobs: JsonObject = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": reference_to("job"),
    }
    root = writer.record(YAML_ROOT, {"on": triggers, "jobs": jobs})
    definitions: dict[str, Json] = {"job": job, "step": _yaml_step(writer), "binding": _BINDING, "plain": _PLAIN}
    return {
        "title": "AKM workflow in YAML",
        "description": "A workflow in GitHub's manner (workflows/*.yml), which akm-run executes on its own.",
        **root,
        "allOf": [reference_to("plain")],
        "definitions": {**writer.definitions, **definitions},
    }


def _yaml_step(writer: SchemaWriter) -> JsonObject:
    """One step: a command line or a composed asset, with the keys that go with it."""
    bindings: JsonObject = {"type": "object", "additionalProperties": reference_to("binding")}
    values: dict[str, JsonObject] = {
        "uses": target("commands", "scripts", "tasks", "workflows"),
        "run": _run_line(),
        "with": {"type": "object"},
        "env": _ENV,
        "working-directory": _working_directory(),
    }
    conditions: list[Json] = [
        {"if": USES_BUILTIN, "then": {"required": ["with"], "properties": {"with": _BUILTIN_WITH}}},
        {"if": uses("tasks", "workflows"), "then": {"properties": {"with": bindings}}},
        {"if": uses("commands", "scripts"), "then": excludes("with")},
        {"if": uses("workflows"), "then": {"properties": {"env": {"maxProperties": 0}}}},
    ]
    return {
        **writer.record(YAML_STEP, values),
        "oneOf": [{"required": ["run"]}, {"required": ["uses"]}],
        "dependencies": {"run": excludes("with"), "uses": excludes("shell", "working-directory")},
        "allOf": conditions,
    }


def task() -> JsonObject:
    """``tasks/x.yml``, version 4."""
    writer = SchemaWriter()
    inputs: JsonObject = {"type": "object", "description": "Values of the task's inputs."}
    entry = writer.record(SCHEDULE_ENTRY, {"cron": _FIVE_FIELDS, "inputs": inputs})
    listed: JsonObject = {"type": "array", "items": entry, **limits(bounds.SCHEDULES, "Items")}
    schedule: JsonObject = {"anyOf": [_FIVE_FIELDS, listed]}
    named = next(key.shape for key in TASK.keys if key.name == "inputs")
    values: dict[str, JsonObject] = {
        "version": {"enum": [TASK_VERSION]},
        "uses": target("commands", "scripts", "workflows"),
        "run": _run_line(),
        "working-directory": _working_directory(),
        "with": {"type": "object"},
        "inputs": {**writer.value(named, ("task", "inputs")), "additionalProperties": reference_to("input")},
        "env": _ENV,
        "schedule": schedule,
    }
    conditions: list[Json] = [
        reference_to("plain"),
        {"if": USES_BUILTIN, "then": {"required": ["with"], "properties": {"with": _BUILTIN_WITH}}},
        {"if": uses("commands"), "then": excludes("with")},
        {"if": uses("scripts"), "then": excludes("with", *_ASKING)},
        {"if": uses("workflows"), "then": excludes("with", "env", "redact", *_ASKING)},
    ]
    return {
        "title": "AKM task",
        "description": "A task (tasks/*.yml), version 4: one command line, prompt, script or workflow.",
        **writer.record(TASK, values),
        "oneOf": [{"required": ["run"]}, {"required": ["uses"]}],
        "dependencies": {"run": excludes("with", *_ASKING), "uses": excludes("shell", "working-directory")},
        "allOf": conditions,
        "definitions": {**writer.definitions, "input": _task_input(), "plain": _PLAIN},
    }


def _task_input() -> JsonObject:
    """The schema of an input: that of its value, with ``required: true`` or a default beside it."""
    properties = SUBSET["properties"]
    assert isinstance(properties, dict)
    flag: JsonObject = {"description": "Whether a step has to bind it; a list names properties of an object."}
    required: JsonObject = {**flag, "anyOf": [{"type": "boolean"}, properties["required"]]}
    return {
        **SUBSET,
        "description": "The schema of the input, with required: true or a default.",
        "properties": {**properties, "required": required},
        "not": {"required": ["required", "default"], "properties": {"required": {"enum": [True]}}},
    }
