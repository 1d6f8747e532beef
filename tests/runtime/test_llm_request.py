"""The body of a chat-completions request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from akm_run.dispatch.contract import UnitContext, UnitRequest
from akm_run.dispatch.llm_request import chat_body
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import CommandTarget, LlmEngine, LlmTuning

PROSE = "Summarise {{ topic }} for $HOME; then $(date).\n\n    four  blanks\n"
N: JsonObject = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
ENGINE = LlmEngine(name="gpt", endpoint="http://h/v1/chat/completions")


def body(schema: JsonObject | None = None, **target: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"engine": ENGINE, "model": "m", "content_hash": "", "input_bindings": []} | target
    command = CommandTarget(**fields)
    context = UnitContext({"topic": "rust <&> go"})
    here = Path("/work")
    request = UnitRequest("r1", "ask", "ask:solo", 1, command, PROSE, (), schema, 30.0, context, here, here)
    value: dict[str, Any] = json.loads(chat_body(request, command))
    return value


def test_two_messages_and_a_model() -> None:
    found = body()
    system, user = found.pop("messages")
    assert found == {"model": "m"}
    assert system["role"] == "system"
    assert "run: r1\nstep: ask\nunit: ask:solo\n" in system["content"]
    assert user["role"] == "user"
    assert user["content"].startswith(PROSE + "\n\n=== attached")
    assert user["content"].endswith('{"topic":"rust <&> go"}')


def test_a_command_templates_prompt_takes_the_place_of_the_instructions() -> None:
    (_, user) = body(prompt="Review $ARGUMENTS twice.", template="arguments")["messages"]
    assert user["content"].startswith("Review $ARGUMENTS twice.\n\n=== attached")
    assert PROSE not in user["content"]


def test_tuning_is_sent_where_it_is_set() -> None:
    tuning = LlmTuning(temperature=0.25, max_tokens=55, enable_thinking=False, context_length=4096)
    found = body(llm=tuning)
    del found["messages"]
    assert found == {
        "model": "m",
        "temperature": 0.25,
        "max_tokens": 55,
        "chat_template_kwargs": {"enable_thinking": False},
    }


def test_extra_parameters_are_at_the_top_level_and_replace_nothing() -> None:
    extra: JsonObject = {"top_k": 3, "nested": {"a": [1, None]}, "model": "other", "messages": [], "temperature": 2}
    found = body(llm=LlmTuning(temperature=0, extra_params=extra))
    assert (found["top_k"], found["nested"], found["model"], found["temperature"]) == (3, {"a": [1, None]}, "m", 0)
    assert len(found["messages"]) == 2


def test_response_format_needs_a_schema_and_an_engine_that_knows_it() -> None:
    knows = LlmTuning(supports_json_schema=True)
    assert body(N, llm=knows)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "result", "schema": N},
    }
    assert "response_format" not in body(None, llm=knows)
    assert "response_format" not in body(N, llm=LlmTuning(supports_json_schema=False))
    assert "response_format" not in body(N)
    assert '"required":["n"]' in body(N, llm=knows)["messages"][1]["content"], "the directive is there all the same"
