"""OpenCode with an llm engine of our own config as its provider (``llmEngine``); without one it is plain OpenCode.

The provider goes into OpenCode's inline configuration, which ranks above its files, on the AI SDK package for
endpoints of this kind that OpenCode brings along (opencode.ai/docs: providers, config; checked against 1.18.33). The
key is named there, not written: OpenCode reads it from its environment. The engine's ``model`` is the endpoint's own
name for it.
"""

from __future__ import annotations

import json
from typing import Final

from msgspec import UNSET

from akm_run.dispatch.platforms import opencode
from akm_run.dispatch.platforms.contract import CannotRun, CommandLine, Reader
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import AgentEngine, LlmEngine

PROGRAM: Final[str | None] = opencode.PROGRAM
READ: Final[Reader | None] = opencode.READ
PROVIDER: Final = "akm"
_PACKAGE: Final = "@ai-sdk/openai-compatible"
_ENDING: Final = "/chat/completions"


def command_line(engine: AgentEngine, model: str | None) -> CommandLine:
    """As OpenCode's, with the provider of ``llmEngine``; raises CannotRun when no model is named for it."""
    if engine.llm_engine is UNSET:
        return opencode.command_line(engine, model)
    llm = engine.llm_engine
    if model is None:
        raise CannotRun(f"engine {engine.name!r} has an `llmEngine` but names no model; set its `model`")
    credentials = () if llm.api_key is UNSET else (llm.api_key,)
    return CommandLine(
        opencode.arguments(engine, f"{PROVIDER}/{model}"),
        credentials,
        tuple(name for name in opencode.SETTINGS if name != opencode.INLINE_CONFIG),
        {opencode.INLINE_CONFIG: json.dumps(inline_config(llm, model))},
    )


def inline_config(llm: LlmEngine, model: str) -> JsonObject:
    """OpenCode's configuration for one provider and one model, used for its small tasks (titles) too."""
    options: JsonObject = {"baseURL": llm.endpoint.removesuffix(_ENDING)}
    if llm.api_key is not UNSET:
        options["apiKey"] = f"{{env:{llm.api_key}}}"
    provider: JsonObject = {"npm": _PACKAGE, "name": llm.name, "options": options, "models": {model: {}}}
    return {
        "provider": {PROVIDER: provider},
        "model": f"{PROVIDER}/{model}",
        "small_model": f"{PROVIDER}/{model}",
        "autoupdate": False,
    }
