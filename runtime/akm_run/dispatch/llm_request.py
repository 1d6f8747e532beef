"""The body of a chat-completions request (spec 3, section 4)."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET

from akm_run.dispatch.contract import UnitRequest
from akm_run.dispatch.prompt import system_text, user_text
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import CommandTarget, LlmTuning

SCHEMA_NAME: Final = "result"


def chat_body(request: UnitRequest, target: CommandTarget) -> bytes:
    """The request's JSON: extra parameters first, so that none of them can replace what the engine owns."""
    tuning = target.llm if target.llm is not UNSET else LlmTuning()
    body: JsonObject = dict(tuning.extra_params) if tuning.extra_params is not UNSET else {}
    if target.model is not UNSET:
        body["model"] = target.model
    body["messages"] = [
        {"role": "system", "content": system_text(request)},
        {"role": "user", "content": user_text(request)},
    ]
    if tuning.temperature is not UNSET:
        body["temperature"] = tuning.temperature
    if tuning.max_tokens is not UNSET:
        body["max_tokens"] = tuning.max_tokens
    if tuning.enable_thinking is not UNSET:
        # where vLLM and SGLang take it from; there is no common field for it
        body["chat_template_kwargs"] = {"enable_thinking": tuning.enable_thinking}
    if request.schema is not None and tuning.supports_json_schema is True:
        body["response_format"] = _format(request.schema)
    return msgspec.json.encode(body)


def _format(schema: JsonObject) -> Json:
    """Without ``strict``, which refuses most schemas of the subset; the answer is validated here all the same."""
    return {"type": "json_schema", "json_schema": {"name": SCHEMA_NAME, "schema": schema}}
