"""The key table: every frontmatter key with its shape, bound and hint.

One declarative table drives the checking walk, the published schemas and completion in editors. A shape says what a
value may be; which rule a miss is reported under is part of the shape where it is not the general one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from akm_schemas import bounds
from akm_schemas.bounds import Bound

NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
STEP_ID: Final = r"[A-Za-z_][A-Za-z0-9_-]*"
ENGINE: Final = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
# Names of extra request members that the engine owns at the top level, and names that would carry a secret anywhere,
# lower-cased and without anything but letters and digits.
OWNED_TOP_LEVEL: Final = (
    "model",
    "messages",
    "temperature",
    "maxtokens",
    "responseformat",
    "stream",
    "streamoptions",
    "enablethinking",
    "chattemplatekwargs",
)
OWNED_ANYWHERE: Final = ("authorization", "headers", "apikey", "token", "password", "secret", "cookie", "setcookie")


class Text(Struct, frozen=True):
    """A string. ``choices`` closes the vocabulary, ``pattern`` is matched in full; a miss is ``rule``."""

    choices: tuple[str, ...] = ()
    pattern: str | None = None
    rule: str = "invalid-value"
    size: Bound | None = None
    in_bytes: bool = False
    hint: str | None = None


class Integer(Struct, frozen=True):
    """A JSON integer within ``bound``."""

    bound: Bound | None = None


class Number(Struct, frozen=True):
    """A JSON number."""


class Boolean(Struct, frozen=True):
    """A boolean."""


class Timeout(Struct, frozen=True):
    """A duration text, a positive integer of milliseconds, or ``none``."""


class MatchValue(Struct, frozen=True):
    """What a branch compares with: string, number or boolean."""


class ReferenceText(Struct, frozen=True):
    """Reference text (its grammar is the business of the ``references`` pass)."""


class Schema(Struct, frozen=True):
    """A JSON Schema of the enforced subset (checked by the ``schema_subset`` pass)."""


class AnyMapping(Struct, frozen=True):
    """A mapping of any JSON values; ``size`` limits its canonical JSON in bytes."""

    size: Bound | None = None


class Anything(Struct, frozen=True):
    """A value that rules of its own look at."""


class ListOf(Struct, frozen=True):
    """A list of one shape. ``single``: a lone mapping stands for a list of one; ``text_rule``: the rule of a lone string."""

    item: Shape
    bound: Bound | None = None
    unique: bool = False
    single: bool = False
    text_rule: str = "wrong-type"


class Named(Struct, frozen=True):
    """A mapping from author-chosen names to one shape."""

    value: Shape
    bound: Bound
    pattern: str = NAME
    rule: str = "invalid-param-name"


class Key(Struct, frozen=True):
    """One key of a record."""

    name: str
    shape: Shape
    doc: str
    required: bool = False


class Record(Struct, frozen=True, dict=True):
    """A closed mapping. ``removed`` maps keys of older formats to where they went."""

    name: str
    keys: tuple[Key, ...]
    removed: tuple[tuple[str, str], ...] = ()

    def key(self, name: str) -> Key | None:
        """The key called ``name``."""
        return self._by_name.get(name)

    @cached_property
    def required(self) -> tuple[Key, ...]:
        """The keys that have to be there."""
        return tuple(key for key in self.keys if key.required)

    @cached_property
    def _by_name(self) -> dict[str, Key]:
        return {key.name: key for key in self.keys}


Shape: TypeAlias = (
    Text
    | Integer
    | Number
    | Boolean
    | Timeout
    | MatchValue
    | ReferenceText
    | Schema
    | AnyMapping
    | Anything
    | ListOf
    | Named
    | Record
)

ON_ERROR = Text(choices=("fail", "continue"))
ENGINE_NAME = Text(
    pattern=ENGINE,
    rule="invalid-engine-name",
    size=bounds.ENGINE_NAME,
    hint='lower-case words joined by single dashes, not starting with "akm-"',
)
MODEL = Text(size=bounds.MODEL_LENGTH)
STAMP = Record(
    "stamp", (Key("by", Text(), "who or what stamped", required=True), Key("at", Text(), "when, as ISO 8601"))
)

LLM = Record(
    "llm",
    (
        Key("temperature", Number(), "sampling temperature"),
        Key("max_tokens", Integer(replace(bounds.MAX_TOKENS, name="max_tokens")), "most tokens of one answer"),
        Key("supports_json_schema", Boolean(), "whether the endpoint takes response_format json_schema"),
        Key("extra_params", AnyMapping(bounds.EXTRA_PARAMS_BYTES), "further top-level request members"),
        Key("context_length", Integer(replace(bounds.MAX_TOKENS, name="context_length")), "context window in tokens"),
        Key("enable_thinking", Boolean(), "ask for or forbid thinking"),
    ),
)
DEFAULTS = Record(
    "defaults",
    (
        Key("engine", ENGINE_NAME, "engine of units that name none"),
        Key("model", MODEL, "model or alias of units that name none"),
        Key("llm", LLM, "llm tuning of every step"),
        Key("timeout", Timeout(), "timeout of units that name none"),
        Key("on_error", ON_ERROR, "failure policy of units that name none"),
    ),
)
BUDGET = Record(
    "budget",
    (
        Key("max_units", Integer(bounds.MAX_UNITS), "most dispatches over the run's life"),
        Key("max_tokens", Integer(bounds.MAX_TOKENS), "most reported tokens over the run's life"),
    ),
)
EXEC = Record(
    "exec",
    (
        Key(
            "command",
            ListOf(Text(size=bounds.ARGV_WORD_BYTES, in_bytes=True), bounds.ARGV_WORDS, text_rule="exec-shell-string"),
            "argv, spawned without a shell",
            required=True,
        ),
        Key("cwd", Text(size=bounds.CWD_LENGTH), "working directory, relative and contained"),
        Key(
            "pass_env",
            ListOf(
                Text(pattern=rf"(?!AKM_){NAME}", hint="a variable name; AKM_* belongs to the interpreter"),
                bounds.PASS_ENV,
                unique=True,
            ),
            "environment variables handed on by name",
        ),
    ),
)
RETRY = Record(
    "retry",
    (
        Key("max", Integer(bounds.RETRY_MAX), "extra attempts", required=True),
        Key(
            "on",
            ListOf(
                Text(choices=bounds.RETRY_REASONS, rule="unknown-retry-reason"), Bound("retry.on", 1, 14, "reasons")
            ),
            "failure reasons that are tried again",
            required=True,
        ),
    ),
)
INSTRUCTIONS_WENT = 'prose lives in the body: write it under "## <step id>"'
UNIT = Record(
    "unit",
    (
        Key("exec", EXEC, "run a command line"),
        Key("engine", ENGINE_NAME, "engine that reads the prose"),
        Key("model", MODEL, "model or alias"),
        Key("llm", LLM, "llm tuning"),
        Key("timeout", Timeout(), "time limit of one dispatch"),
        Key("retry", RETRY, "extra attempts"),
        Key("on_error", ON_ERROR, "what a failed unit does to its step"),
        Key("output", Schema(), "schema of one unit's result"),
        Key("env", ListOf(Text(), bounds.ENV_REFS), "env asset refs"),
        Key("isolation", Text(choices=("none", "worktree")), "a git worktree of its own"),
    ),
    removed=(("instructions", INSTRUCTIONS_WENT),),
)
MAP = Record(
    "map",
    (
        Key("over", ReferenceText(), "the list", required=True),
        Key("concurrency", Integer(bounds.CONCURRENCY), "most units at once"),
        Key("reducer", Text(choices=("collect", "vote")), "how results become the artifact"),
        Key("unit", UNIT, "dispatch settings of each item"),
    ),
)
BRANCH = Record(
    "route.when",
    (
        Key("match", MatchValue(), "compared as text", required=True),
        Key("step", Text(), "a later step", required=True),
    ),
)
ROUTE = Record(
    "route",
    (
        Key("input", ReferenceText(), "the value to route on", required=True),
        Key("when", ListOf(BRANCH, bounds.BRANCHES), "branches in order", required=True),
        Key("default", Text(), "the step for any other value"),
    ),
)
GATE = Record(
    "gate",
    (Key("max_loops", Integer(bounds.MAX_LOOPS), "rounds in all"),),
    removed=(
        ("criteria", 'rubrics live in the body: write them under "### gate" in the step\'s section'),
        ("required", "a rubric is always required now: drop the key"),
    ),
)
TITLE_WENT = 'steps have no titles: the step is its "id"'
STEP = Record(
    "step",
    (
        Key(
            "id",
            Text(
                pattern=STEP_ID,
                rule="invalid-step-id",
                hint="an ASCII letter or underscore, then letters, digits, underscores and dashes",
            ),
            "the step's name and heading",
            required=True,
        ),
        Key("unit", UNIT, "dispatch settings"),
        Key("map", MAP, "fan out over a list"),
        Key("route", ROUTE, "select later steps"),
        Key("inputs", ListOf(ReferenceText(), bounds.INPUTS), "artifacts and params attached to the unit"),
        Key("output", Schema(), "schema of the promoted artifact"),
        Key("gate", GATE, "verification rounds"),
    ),
    removed=(("title", TITLE_WENT), ("name", TITLE_WENT), ("instructions", INSTRUCTIONS_WENT)),
)
OUTPUT = Record(
    "output",
    (
        Key("from", ReferenceText(), "a step's artifact or a part of it", required=True),
        Key("schema", Schema(), "schema of the exported value"),
    ),
)
ENVELOPE: Final = (
    Key("type", Text(choices=("workflow",)), "asset type"),
    Key("description", Text(), "one line for people"),
    Key("tags", ListOf(Text()), "search words"),
    Key("when_to_use", Text(), "advice for people and agents"),
    Key("xrefs", ListOf(Text()), "related assets"),
    Key("updated", Text(), "date of the last change"),
    Key("timestamp", Text(), "time of the last change"),
    Key("generated", STAMP, "who generated the file"),
    Key("verified", ListOf(STAMP, single=True), "who verified it"),
    Key("provenance", AnyMapping(), "machine-stamped origin"),
    Key("status", Text(choices=("draft", "stable", "deprecated")), "lifecycle"),
    Key("stale_after", Text(), "when to look again"),
)
ORCHESTRATION: Final = (
    Key("params", Named(Schema(), bounds.PARAMS), "run parameters with their schemas"),
    Key("defaults", DEFAULTS, "document-level dispatch defaults"),
    Key("budget", BUDGET, "run-lifetime ceilings"),
    Key("outputs", Named(OUTPUT, bounds.OUTPUTS), "run-level exports"),
    Key("steps", ListOf(STEP, bounds.STEPS), "the ordered spine", required=True),
)
WORKFLOW = Record(
    "frontmatter",
    ENVELOPE + ORCHESTRATION,
    removed=(
        ("version", "the plan carries versions now: drop the key"),
        ("name", "identity is the file's place, titles are the body's H1: drop the key"),
        ("title", 'the title is the body\'s H1, or "description"'),
        ("instructions", INSTRUCTIONS_WENT),
    ),
)


def homes_of(name: str) -> list[str]:
    """The records that have a key called ``name`` (for messages about misplaced keys), sorted."""
    records = (WORKFLOW, DEFAULTS, BUDGET, STEP, UNIT, EXEC, RETRY, MAP, ROUTE, GATE, LLM)
    return sorted(record.name for record in records if record.key(name))
