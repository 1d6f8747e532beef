"""The frozen plan as msgspec Structs (``irVersion`` 5).

Field names are camelCase in JSON. Optional fields are ``UNSET`` when absent and are never written as
``null``, ``{}`` or ``[]``; ``timeoutMs`` and ``maxConcurrency`` are always written, ``null`` having a meaning there.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.references import Reference

IR_VERSION = 5
LOWERING = 1  # rises only when lowering writes other bytes for the same source


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Shared options of every plan part."""


# ---- environment and input bindings ---------------------------------------------------------------------------


class LiteralBinding(_Part, tag="literal", tag_field="kind", frozen=True, kw_only=True):
    """An environment variable with a fixed value."""

    name: str
    value: str


class PassThroughBinding(_Part, tag="pass-through", tag_field="kind", frozen=True, kw_only=True):
    """An environment variable taken from the interpreter's own environment."""

    name: str


class EnvRefBinding(_Part, tag="env-ref", tag_field="kind", frozen=True, kw_only=True):
    """A dotenv file: its key names and the secrets it mentions are frozen, values never are.

    ``path`` is relative to the bundle root, with forward slashes.
    """

    ref: str
    path: str
    keys: list[str]
    secret_names: list[str]


Binding: TypeAlias = LiteralBinding | PassThroughBinding | EnvRefBinding


class LiteralInput(_Part, tag="literal", tag_field="kind", frozen=True, kw_only=True):
    """A task input or child param bound to a JSON value at freeze."""

    name: str
    value: Json


class ReferenceInput(_Part, tag="reference", tag_field="kind", frozen=True, kw_only=True):
    """A task input or child param that is read from an artifact at dispatch and checked against ``schema``."""

    name: str
    from_: Reference = msgspec.field(name="from")
    schema: JsonObject


InputBinding: TypeAlias = LiteralInput | ReferenceInput


# ---- engines --------------------------------------------------------------------------------------------------


class LlmTuning(_Part, frozen=True, kw_only=True):
    """Merged llm tuning of a command target (unit over document over engine); absent keys are not sent."""

    temperature: float | int | UnsetType = UNSET
    max_tokens: int | UnsetType = UNSET
    supports_json_schema: bool | UnsetType = UNSET
    extra_params: JsonObject | UnsetType = UNSET
    context_length: int | UnsetType = UNSET
    enable_thinking: bool | UnsetType = UNSET


class LlmEngine(_Part, tag="llm", tag_field="kind", frozen=True, kw_only=True):
    """A chat-completions endpoint. ``api_key`` is the NAME of an environment variable, never a value."""

    name: str
    endpoint: str
    api_key: str | UnsetType = UNSET


class AgentEngine(_Part, tag="agent", tag_field="kind", frozen=True, kw_only=True):
    """A coding agent's own command line."""

    name: str
    platform: Literal["claude", "opencode", "codex", "gemini", "opencode-sdk", "command"]
    bin: str | UnsetType = UNSET
    args: list[str] | UnsetType = UNSET
    workspace: str | UnsetType = UNSET
    llm_engine: LlmEngine | UnsetType = UNSET


Engine: TypeAlias = LlmEngine | AgentEngine


# ---- targets --------------------------------------------------------------------------------------------------


class CommandTarget(_Part, tag="command", tag_field="kind", frozen=True, kw_only=True):
    """A prompt for an engine. ``prompt`` is absent for Markdown: the unit's instructions are the prompt.

    A judge is a command target without ``ref``, ``prompt`` and ``options``. ``concurrency`` is the engine's width.
    """

    ref: str | UnsetType = UNSET
    template: Literal["none", "arguments"] = "none"
    prompt: str | UnsetType = UNSET
    options: JsonObject | UnsetType = UNSET
    engine: Engine
    model: str | UnsetType = UNSET
    llm: LlmTuning | UnsetType = UNSET
    concurrency: int | UnsetType = UNSET
    content_hash: str
    input_bindings: list[InputBinding]


class ExecTarget(_Part, tag="exec", tag_field="kind", frozen=True, kw_only=True):
    """A command line, spawned directly from ``command`` (no shell)."""

    command: list[str]
    cwd: str | UnsetType = UNSET
    pass_env: list[str]
    content_hash: str
    input_bindings: list[InputBinding]


class ScriptTarget(_Part, tag="script", tag_field="kind", frozen=True, kw_only=True):
    """A script whose bytes are embedded."""

    ref: str
    interpreter: list[str]
    extension: str
    bytes_base64: str
    byte_length: int
    content_hash: str
    input_bindings: list[InputBinding]


class ChildTarget(_Part, tag="child-workflow", tag_field="kind", frozen=True, kw_only=True):
    """A composed workflow with its whole frozen plan."""

    ref: str
    via: Literal["direct", "task"]
    task_ref: str | UnsetType = UNSET
    input_bindings: list[InputBinding]
    plan_hash: str
    content_hash: str
    frozen_plan: Plan


Target: TypeAlias = CommandTarget | ExecTarget | ScriptTarget | ChildTarget


# ---- steps ----------------------------------------------------------------------------------------------------


class Retry(_Part, frozen=True, kw_only=True):
    """``max`` extra attempts for the failure reasons in ``on``."""

    max: int
    on: list[str]


class Unit(_Part, frozen=True, kw_only=True):
    """One dispatch of work. ``timeout_ms`` is milliseconds, ``None`` an explicit "no timeout"."""

    target: Target
    instructions: str
    env: list[Binding]
    retry: Retry
    on_error: Literal["fail", "continue"]
    isolation: Literal["none", "worktree"]
    output: JsonObject | UnsetType = UNSET
    timeout_ms: int | None


class Map(_Part, frozen=True, kw_only=True):
    """Fan-out over a list; the step's ``unit`` is dispatched once per item."""

    over: Reference
    concurrency: int
    reducer: Literal["collect", "vote"]


class Branch(_Part, frozen=True, kw_only=True):
    """``match`` is compared as text with the routed value."""

    match: str | int | float | bool
    step: str


class Route(_Part, frozen=True, kw_only=True):
    """Forward-only selection of later steps."""

    input: Reference
    when: list[Branch]
    default: str | UnsetType = UNSET


class Gate(_Part, frozen=True, kw_only=True):
    """A rubric and the judge that reads it; ``max_loops`` rounds in all."""

    rubric: str
    max_loops: int
    judge: CommandTarget


class Step(_Part, frozen=True, kw_only=True):
    """One entry of the ordered spine."""

    id: str
    index: int
    kind: Literal["unit", "map", "route"]
    inputs: list[Reference]
    output: JsonObject | UnsetType = UNSET
    unit: Unit | UnsetType = UNSET
    map: Map | UnsetType = UNSET
    route: Route | UnsetType = UNSET
    gate: Gate | UnsetType = UNSET


# ---- the plan -------------------------------------------------------------------------------------------------


class Budget(_Part, frozen=True, kw_only=True):
    """Run-lifetime ceilings."""

    max_units: int | UnsetType = UNSET
    max_tokens: int | UnsetType = UNSET


class Execution(_Part, frozen=True, kw_only=True):
    """``max_concurrency`` is the run's width; ``None``: derive it when the run is published."""

    max_concurrency: int | None


class Output(_Part, frozen=True, kw_only=True):
    """A run-level export."""

    from_: Reference = msgspec.field(name="from")
    schema: JsonObject | UnsetType = UNSET


class SourceFile(_Part, frozen=True, kw_only=True):
    """One file that freezing read: raw bytes' SHA-256 (hex) and size in bytes; ``path`` is bundle-relative."""

    ref: str
    path: str
    sha256: str
    size: int


class Toolchain(_Part, frozen=True, kw_only=True):
    """Who lowered the plan."""

    name: str
    lowering: int


class Provenance(_Part, frozen=True, kw_only=True):
    """Where a plan came from; part of ``planHash`` only.

    ``spans`` maps a source path ("steps.0", "steps.0.section", "steps.0.gate") to
    ``[line, column, endLine, endColumn]``, counted from 1.
    """

    title: str
    ref: str
    source_format: Literal["markdown", "github-yaml"]
    source_hash: str
    source_read_set: list[SourceFile]
    schedule: list[str] | UnsetType = UNSET
    toolchain: Toolchain
    spans: dict[str, list[int]]


class Plan(_Part, frozen=True, kw_only=True):
    """A frozen plan; see ``akm_schemas.decode`` for reading one and ``akm_schemas.hashing`` for its hashes."""

    ir_version: int
    params: dict[str, JsonObject]
    budget: Budget
    execution: Execution
    steps: list[Step]
    outputs: dict[str, Output]
    provenance: Provenance
    content_hash: str
    plan_hash: str
