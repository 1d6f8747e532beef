"""The key tables of the config and of ``models.json`` (spec 2, section 3).

The reader takes names and bounds from here, the published schemas are written from here, and ``akmc config set`` reads
a value by its shape. Where a value depends on several keys the reader has rules of its own, which
``akm_schemas.config_schema`` says again in JSON Schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from akm_schemas import bounds
from akm_schemas.keys import (
    ENGINE,
    AnyMapping,
    Anything,
    Boolean,
    Integer,
    Key,
    ListOf,
    Named,
    Number,
    Record,
    Shape,
    Text,
)
from akm_schemas.schema_patterns import Pattern

PLATFORMS: Final = ("claude", "opencode", "codex", "gemini", "opencode-sdk", "command")
KINDS: Final = ("agent", "llm")
MODELS_VERSION: Final = 1
ANY_NAME: Final = r"[\s\S]*"
BUNDLE_NAME: Final = Pattern(
    r"[A-Za-z0-9_][A-Za-z0-9._-]*", 'ASCII letters, digits, ".", "_" and "-", a letter, digit or "_" first'
)

ENGINE_NAME: Final = Pattern(
    rf"(?!akm-){ENGINE}", 'lower-case words joined by single dashes, at most 63 characters, not starting with "akm-"'
)
API_KEY: Final = Pattern(
    r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})", "the name of an environment variable, as $VAR or ${VAR}"
)
# Blanks, controls, and the format characters that turn text around or hide: in no URL.
UNSEEN: Final = r"\u0000-\u0020\u007f-\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
ENDPOINT: Final = Pattern(
    rf"[hH][tT][tT][pP][sS]?://(?!:)[^/?#@\\{UNSEEN}]+/(?:[^?#{UNSEEN}]*/)?chat/completions",
    "an http or https URL that ends in /chat/completions, without user name, query or fragment",
)

_ANY_NUMBER: Final = bounds.Bound("names", 0, bounds.SAFE_INTEGER, "names")
_SCHEMA: Final = Key("$schema", Text(), "the schema that an editor checks this file with; nothing else reads it")
ALIASES: Final = Named(Anything(), _ANY_NUMBER, ANY_NAME)
"""Alias to ``{column: model}``; an engine's own table may write the model alone."""

LLM_ENGINE: Final = Record(
    "llmEngine",
    (
        Key("kind", Text(choices=("llm",)), "a chat-completions endpoint", required=True),
        Key("endpoint", Text(), "http or https URL that ends in /chat/completions", required=True),
        Key("model", Text(), "model or alias", required=True),
        Key("apiKey", Text(), "the variable that holds the key, as $VAR or ${VAR}; never the key itself"),
        Key("timeoutMs", Integer(bounds.TIMEOUT_MS), "time limit of one unit in milliseconds"),
        Key("concurrency", Integer(bounds.CONCURRENCY), "most requests at once"),
        Key("modelAliases", ALIASES, "model aliases that hold on this engine"),
        Key("temperature", Number(), "sampling temperature"),
        Key("maxTokens", Integer(bounds.MAX_TOKENS), "most tokens of one answer"),
        Key("supportsJsonSchema", Boolean(), "whether the endpoint takes response_format json_schema"),
        Key("extraParams", AnyMapping(bounds.EXTRA_PARAMS_BYTES), "further top-level request members"),
        Key("contextLength", Integer(bounds.MAX_TOKENS), "context window in tokens"),
        Key("enableThinking", Boolean(), "ask for or forbid thinking"),
    ),
)
AGENT_ENGINE: Final = Record(
    "agentEngine",
    (
        Key("kind", Text(choices=("agent",)), "a coding agent's command line", required=True),
        Key("platform", Text(choices=PLATFORMS), "which agent", required=True),
        Key("bin", Text(), "the program, where it is not the platform's own"),
        Key("args", ListOf(Text()), "further arguments, after those that the platform needs"),
        Key("workspace", Text(size=bounds.CWD_LENGTH), "where the agent works, relative and contained"),
        Key("model", Text(), "model or alias"),
        Key("timeoutMs", Integer(bounds.TIMEOUT_MS), "time limit of one unit in milliseconds"),
        Key("modelAliases", ALIASES, "model aliases that hold on this engine"),
        Key("llmEngine", Text(), "the llm engine behind opencode-sdk"),
    ),
)
DEFAULTS: Final = Record(
    "configDefaults",
    (
        Key("engine", Text(), "engine of units that name none"),
        Key("llmEngine", Text(), "llm engine of opencode-sdk engines that name none"),
    ),
)
WORKFLOW: Final = Record(
    "workflowSettings",
    (
        Key("maxConcurrency", Integer(bounds.CONCURRENCY), "most units of a run at once"),
        Key("defaultMapConcurrency", Integer(bounds.CONCURRENCY), "width of maps that name none"),
        Key("judgeEngine", Text(), "engine that judges rubrics"),
    ),
)
CONFIG: Final = Record(
    "config",
    (
        _SCHEMA,
        Key("engines", Named(Anything(), _ANY_NUMBER, ANY_NAME), "engines by name"),
        Key("defaults", DEFAULTS, "what counts where a workflow is silent"),
        Key("workflow", WORKFLOW, "widths and the judge"),
        Key("bundles", Named(Text(), _ANY_NUMBER, ANY_NAME), "folders of other bundles by name"),
        Key("modelAliases", ALIASES, "model aliases of every engine"),
    ),
)
MODELS: Final = Record(
    "models",
    (
        _SCHEMA,
        Key("version", Integer(), "the version of this format, 1", required=True),
        Key("aliases", ALIASES, "model aliases of every engine"),
    ),
)


def names(record: Record) -> tuple[str, ...]:
    """The keys of a record, in its order."""
    return tuple(key.name for key in record.keys)


def shape_at(path: Sequence[str], kind: str | None) -> Shape | None:
    """What the config holds at ``path``; ``kind`` is that of the engine that the path leads into.

    ``None`` where no key of that name exists. An engine of a kind that is not known yet has the keys of both.
    """
    here: Shape = CONFIG
    for depth, name in enumerate(path):
        if isinstance(here, Record):
            key = here.key(name)
            if key is None:
                return None
            here = key.shape
        elif isinstance(here, Named):
            here = _engine(kind, path[depth + 1 :]) if tuple(path[:depth]) == ("engines",) else here.value
        elif not isinstance(here, Anything | AnyMapping):
            return None
    return here


def _engine(kind: str | None, rest: Sequence[str]) -> Record:
    if kind in KINDS:
        return LLM_ENGINE if kind == "llm" else AGENT_ENGINE
    return LLM_ENGINE if rest and LLM_ENGINE.key(rest[0]) is not None else AGENT_ENGINE
