"""The key tables of tasks (``tasks/x.yml``) and of the frontmatter of commands (``commands/x.md``)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from akm_schemas import bounds
from akm_schemas.keys import (
    ENGINE_NAME,
    ENVELOPE,
    LLM,
    MODEL,
    Anything,
    Integer,
    Key,
    ListOf,
    Named,
    Record,
    Schema,
    Text,
)
from akm_schemas.yaml_keys import DIRECTORY_LENGTH, ENV_NAME, SHELLS

TASK_VERSION: Final = 4

INFERENCE = Record("inference", LLM.keys)
TASK = Record(
    "task",
    (
        Key("version", Integer(), "the version of this format, 4", required=True),
        Key("name", Text(), "a name for people"),
        Key("description", Text(), "one line for people"),
        Key("when_to_use", Text(), "advice for people and agents"),
        Key("tags", ListOf(Text()), "search words"),
        Key("uses", Text(), "an asset ref, or akm/command"),
        Key("run", Text(), "one line of plain command words"),
        Key("shell", Text(choices=SHELLS, rule="unsupported-shell"), "the host shell that reads run"),
        Key("working-directory", Text(size=DIRECTORY_LENGTH), "where run starts, relative and contained"),
        Key("with", Anything(), "the prompt of akm/command"),
        Key("inputs", Named(Schema(), bounds.PARAMS), "what a composing step can bind, with schemas"),
        Key("output", Schema(), "schema of the result of a command"),
        Key("env", Anything(), "environment variables"),
        Key("schedule", Anything(), "a cron text, or a list of {cron, inputs}"),
        Key("timeout", Integer(bounds.TIMEOUT_MS), "time limit in milliseconds"),
        Key("engine", ENGINE_NAME, "engine that reads the prompt"),
        Key("model", MODEL, "model or alias"),
        Key("inference", INFERENCE, "llm tuning"),
        Key("tools", ListOf(Text()), "tools that an agent engine may use"),
        Key(
            "redact",
            ListOf(
                Text(pattern=rf"(?!AKM_){ENV_NAME}", hint="a variable name; AKM_* belongs to the interpreter"),
                replace(bounds.PASS_ENV, name="redact"),
                unique=True,
            ),
            "environment variables whose values are scrubbed",
        ),
        Key("agent", Text(), "the agent profile of an agent engine"),
        Key(
            "maxSteps",
            Integer(replace(bounds.STEPS, name="maxSteps", unit="")),
            "most finished steps of a run of its own",
        ),
        Key(
            "maxRetries",
            Integer(replace(bounds.RETRY_MAX, name="maxRetries")),
            "most extra attempts of a run of its own",
        ),
    ),
)
SCHEDULE_ENTRY = Record(
    "schedule",
    (
        Key("cron", Anything(), "five fields", required=True),
        Key("inputs", Anything(), "values of the task's inputs"),
    ),
)
COMMAND = Record(
    "command",
    (
        Key("type", Text(choices=("command",)), "asset type"),
        *(key for key in ENVELOPE if key.name != "type"),
        Key("model", MODEL, "model or alias"),
        Key("agent", Text(), "the agent profile of an agent engine"),
    ),
)
