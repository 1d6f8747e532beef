"""Engines and llm tuning of a plan: what the config's reader promises of them, held again (spec 2, section 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import UNSET, UnsetType

from akm_schemas.bounds import CONCURRENCY, CWD_LENGTH, ENGINE_NAME, EXTRA_PARAMS_BYTES, MAX_TOKENS
from akm_schemas.canonical import canonical_bytes
from akm_schemas.json_paths import quoted
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import AgentEngine, CommandTarget, Engine, LlmEngine, LlmTuning
from akm_schemas.plan_error import PlanPath, plan_error
from akm_schemas.plan_references import is_variable_name
from akm_schemas.plan_values import not_empty, relative_path, require, sized, within

AGENT_OPTIONS: Final[Mapping[str, frozenset[str]]] = {
    "claude": frozenset({"agent", "tools"}),
    "gemini": frozenset({"tools"}),
    "opencode": frozenset({"agent"}),
    "opencode-sdk": frozenset({"agent", "tools"}),
}
"""What the command lines of agent platforms have options for, besides prompt and model."""

_ENGINE: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
_RESERVED: Final = "akm-"


def check_runner(target: CommandTarget, path: PlanPath) -> None:
    """The engine of a command target or judge, with its model, tuning, options and width; raises PlanError."""
    engine = target.engine
    _check_engine(engine, (*path, "engine"))
    if isinstance(target.model, str):
        require(bool(target.model), (*path, "model"), "an empty model is written by leaving it out")
    elif isinstance(engine, LlmEngine):
        require(False, (*path, "model"), f"the llm engine {quoted(engine.name)} needs a model")
    if isinstance(target.llm, LlmTuning):
        is_llm = isinstance(engine, LlmEngine)
        require(is_llm, (*path, "llm"), f"llm tuning on {quoted(engine.name)}, which is no llm engine")
        _check_tuning(target.llm, (*path, "llm"))
    _check_options(target, path)
    within(CONCURRENCY, target.concurrency, (*path, "concurrency"))
    has_width = isinstance(engine, LlmEngine) or isinstance(engine.llm_engine, LlmEngine)
    if target.concurrency is UNSET:
        if has_width:
            raise plan_error("bounds", (*path, "concurrency"), f"the engine {quoted(engine.name)} needs a width")
    elif not has_width:
        message = f"the agent engine {quoted(engine.name)} has no width of its own"
        raise plan_error("bounds", (*path, "concurrency"), message)


def _check_engine(engine: Engine, path: PlanPath) -> None:
    name = engine.name
    usable = ENGINE_NAME.holds(len(name)) and _ENGINE.fullmatch(name) and not name.startswith(_RESERVED)
    if not usable:
        raise plan_error("bounds", (*path, "name"), f"{quoted(name)} is no name of an engine")
    if isinstance(engine, AgentEngine):
        _check_agent(engine, path)
        return
    from akm_schemas.endpoints import endpoint_fault  # on use: most plans have no llm engine

    fault = endpoint_fault(engine.endpoint)
    require(fault is None, (*path, "endpoint"), fault or "")
    named = isinstance(engine.api_key, UnsetType) or is_variable_name(engine.api_key)
    require(named, (*path, "apiKey"), "expected the name of an environment variable")


def _check_agent(engine: AgentEngine, path: PlanPath) -> None:
    needs_bin = engine.platform == "command" and engine.bin is UNSET
    require(not needs_bin, (*path, "bin"), "an engine of platform command needs the program that it runs")
    if isinstance(engine.bin, str):
        require(bool(engine.bin), (*path, "bin"), "expected the name of a program")
        require("\0" not in engine.bin, (*path, "bin"), "the name of a program cannot hold a NUL character")
    not_empty(engine.args, (*path, "args"))
    for index, word in enumerate([] if isinstance(engine.args, UnsetType) else engine.args):
        require("\0" not in word, (*path, "args", index), "a word of a command line cannot hold a NUL character")
    if isinstance(engine.workspace, str):
        sized(CWD_LENGTH, len(engine.workspace), (*path, "workspace"))
        relative_path(engine.workspace, (*path, "workspace"))
    if isinstance(engine.llm_engine, LlmEngine):
        allowed = engine.platform == "opencode-sdk"
        require(allowed, (*path, "llmEngine"), f"llmEngine belongs to opencode-sdk, found on {engine.platform}")
        _check_engine(engine.llm_engine, (*path, "llmEngine"))


def _check_options(target: CommandTarget, path: PlanPath) -> None:
    place = (*path, "options")
    not_empty(target.options, place)
    if isinstance(target.options, UnsetType):
        return
    platform = target.engine.platform if isinstance(target.engine, AgentEngine) else "llm"
    for name, value in target.options.items():
        taken = name in AGENT_OPTIONS.get(platform, frozenset())
        require(taken, (*place, name), f"an engine of {quoted(platform)} takes no option {quoted(name)}")
        texts = value if name == "tools" and isinstance(value, list) else [value] if name == "agent" else []
        usable = bool(texts) and all(isinstance(text, str) and text and "\0" not in text for text in texts)
        require(usable, (*place, name), "expected a text" if name == "agent" else "expected a list of texts")


def _check_tuning(tuning: LlmTuning, path: PlanPath) -> None:
    said = any(getattr(tuning, field) is not UNSET for field in LlmTuning.__struct_fields__)
    require(said, path, "empty tuning is written by leaving it out")
    within(MAX_TOKENS, tuning.max_tokens, (*path, "maxTokens"))
    within(MAX_TOKENS, tuning.context_length, (*path, "contextLength"))
    if not isinstance(tuning.extra_params, UnsetType):
        _check_extra_params(tuning.extra_params, (*path, "extraParams"))


def _check_extra_params(given: JsonObject, path: PlanPath) -> None:
    from akm_schemas.keys import OWNED_ANYWHERE, OWNED_TOP_LEVEL  # on use: few engines have extra members

    sized(EXTRA_PARAMS_BYTES, len(canonical_bytes(given)), path)
    for place, name in _member_names(given, path):
        bare = re.sub(r"[^a-z0-9]", "", name.lower())
        owned = bare in OWNED_ANYWHERE or (len(place) == len(path) + 1 and bare in OWNED_TOP_LEVEL)
        require(not owned, place, "belongs to the engine, or would carry a secret or a header")


def _member_names(value: Json, path: PlanPath) -> Iterator[tuple[PlanPath, str]]:
    """The name of every member below ``value`` with its place."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*path, name), name
            yield from _member_names(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _member_names(inner, (*path, index))
