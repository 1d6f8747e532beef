"""What each harness is started with, and how its output is read; outputs as the programs really printed them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from akm_run.dispatch.platforms import claude, codex, command, gemini, opencode, opencode_sdk, platform_of
from akm_run.dispatch.platforms.contract import CannotRun, Platform, Reading, UnreadableOutput
from akm_schemas.plan import AgentEngine, LlmEngine

PLATFORMS: dict[str, Platform] = {
    "claude": claude,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
    "opencode-sdk": opencode_sdk,
    "command": command,
}


def engine(platform: Any, **more: Any) -> AgentEngine:
    return AgentEngine(**{"name": "coder", "platform": platform, "args": ["--more", "x y"]} | more)


def lines(*events: dict[str, Any]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


def read(platform: Platform, stdout: str) -> Reading:
    reader = platform.READ
    assert reader is not None
    return reader(stdout)


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_platform_has_its_module(name: str) -> None:
    assert platform_of(engine(name)) is PLATFORMS[name]
    assert {"opencode-sdk": "opencode", "command": None}.get(name, name) == PLATFORMS[name].PROGRAM


@pytest.mark.parametrize(
    ("platform", "model", "words"),
    [
        (claude, None, "-p --output-format json --more|x y"),
        (claude, "m", "-p --output-format json --model m --more|x y"),
        (codex, None, "exec --json --skip-git-repo-check --more|x y"),
        (codex, "m", "exec --json --skip-git-repo-check --model m --more|x y"),
        (gemini, "m", "--output-format json --model m --more|x y"),
        (opencode, "p/m", "run --format json --model p/m --more|x y"),
        (opencode_sdk, "p/m", "run --format json --model p/m --more|x y"),
        (command, "m", "--more|x y"),
    ],
)
def test_command_lines(platform: Platform, model: str | None, words: str) -> None:
    found = platform.command_line(engine("command", bin="sh"), model).arguments
    assert " ".join(found).replace("--more x y", "--more|x y") == words
    assert "x y" in found


@pytest.mark.parametrize("platform", [claude, codex, gemini, opencode])
def test_pass_through_names(platform: Platform) -> None:
    line = platform.command_line(engine("claude"), None)
    names = [*line.credentials, *line.settings]
    assert line.credentials
    assert sorted(set(names)) == sorted(names), "each name once"
    assert not [name for name in names if name.startswith("AKM_")], "those names are the interpreter's own"
    assert all(word not in name for name in line.settings for word in ("TOKEN", "SECRET", "API_KEY"))
    assert not {"AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "GITHUB_TOKEN"} & set(names), "they open too much"
    assert line.variables == {}


def test_a_command_agent_passes_nothing_on_and_needs_a_program() -> None:
    line = command.command_line(engine("command", bin="sh"), None)
    assert (line.credentials, line.settings, line.variables) == ((), (), {})
    with pytest.raises(CannotRun, match="set its `bin`"):
        command.command_line(engine("command"), None)


def test_opencode_on_an_llm_engine() -> None:
    llm = LlmEngine(name="local", endpoint="http://127.0.0.1:8080/v1/chat/completions", api_key="LOCAL_KEY")
    line = opencode_sdk.command_line(engine("opencode-sdk", llm_engine=llm), "org/model-a")
    assert line.arguments[:5] == ("run", "--format", "json", "--model", "akm/org/model-a")
    assert line.credentials == ("LOCAL_KEY",), "no other provider's key goes to it"
    assert opencode.INLINE_CONFIG not in line.settings, "the surroundings must not replace it"
    config = json.loads(line.variables[opencode.INLINE_CONFIG])
    assert config["provider"]["akm"]["options"] == {
        "baseURL": "http://127.0.0.1:8080/v1",
        "apiKey": "{env:LOCAL_KEY}",
    }
    assert config["provider"]["akm"]["models"] == {"org/model-a": {}}
    assert config["model"] == config["small_model"] == "akm/org/model-a"
    with pytest.raises(CannotRun, match="set its `model`"):
        opencode_sdk.command_line(engine("opencode-sdk", llm_engine=llm), None)
    keyless = LlmEngine(name="local", endpoint="http://h/chat/completions")
    line = opencode_sdk.command_line(engine("opencode-sdk", llm_engine=keyless), "m")
    assert line.credentials == ()
    assert "apiKey" not in line.variables[opencode.INLINE_CONFIG]


# ---- claude ----

CLAUDE: dict[str, Any] = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "num_turns": 1,
    "result": "fake\nanswer",
    "usage": {
        "input_tokens": 7,
        "cache_creation_input_tokens": 2,
        "cache_read_input_tokens": 1,
        "output_tokens": 3,
        "server_tool_use": {"web_search_requests": 0},
    },
}


@pytest.mark.parametrize(
    ("change", "reading"),
    [
        ({}, Reading("fake\nanswer", tokens=13)),
        ({"usage": None}, Reading("fake\nanswer")),
        ({"result": None}, Reading("", tokens=13)),
        ({"is_error": True, "result": "API Error: 400 no"}, Reading(error="API Error: 400 no", tokens=13)),
        ({"subtype": "error_max_turns", "result": None}, Reading(error="error_max_turns", tokens=13)),
    ],
)
def test_claude(change: dict[str, Any], reading: Reading) -> None:
    assert read(claude, json.dumps(CLAUDE | change) + "\n") == reading


@pytest.mark.parametrize("stdout", ["", "answer", "[]", '{"type":"system"}', '{"type":"result"}{"type":"result"}'])
def test_what_claude_does_not_print(stdout: str) -> None:
    with pytest.raises(UnreadableOutput):
        read(claude, stdout)


# ---- codex ----

CODEX = (
    {"type": "thread.started", "thread_id": "01a2"},
    {"type": "item.completed", "item": {"id": "item_0", "type": "error", "message": "Model metadata not found."}},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": "let me see"}},
    {"type": "item.completed", "item": {"id": "item_2", "type": "command_execution", "aggregated_output": "{}"}},
    {"type": "item.completed", "item": {"id": "item_3", "type": "agent_message", "text": "fake answer"}},
)
CODEX_DONE = {"type": "turn.completed", "usage": {"input_tokens": 7, "cached_input_tokens": 5, "output_tokens": 3}}


def test_codex() -> None:
    assert read(codex, lines(*CODEX, CODEX_DONE)) == Reading("fake answer", tokens=10)
    reconnected = {"type": "error", "message": "Reconnecting... 1/5"}
    assert read(codex, lines(reconnected, *CODEX, CODEX_DONE)) == Reading("fake answer", tokens=10)
    failure = {"type": "turn.failed", "error": {"message": "no such thing"}}
    assert read(codex, lines(*CODEX[:3], reconnected, failure)) == Reading(error="no such thing")
    assert read(codex, "note\n" + lines(*CODEX, CODEX_DONE) + "{half").text == "fake answer"
    with pytest.raises(UnreadableOutput):
        read(codex, "fake answer\n")


# ---- gemini ----


def test_gemini() -> None:
    models = {"a": {"tokens": {"input": 7, "candidates": 3, "total": 10}}, "b": {"tokens": {"total": 4}}}
    whole = {"session_id": "x", "response": "fake answer", "stats": {"models": models, "tools": {"totalCalls": 0}}}
    assert read(gemini, json.dumps(whole, indent=2)) == Reading("fake answer", tokens=14)
    assert read(gemini, '{"response": "x"}') == Reading("x")
    failure = {"error": {"type": "Error", "message": "Invalid auth method selected.", "code": 41}}
    assert read(gemini, json.dumps(failure)) == Reading(error="Invalid auth method selected.")
    with pytest.raises(UnreadableOutput):
        read(gemini, "fake answer")


# ---- opencode ----


def part(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": 1, "sessionID": "ses_1", "part": {"id": "prt_1", **fields}}


def test_opencode() -> None:
    tokens = {"total": 10, "input": 7, "output": 3, "reasoning": 0, "cache": {"write": 0, "read": 0}}
    older = {"input": 1, "output": 2, "reasoning": 3, "cache": {"write": 4, "read": 5}}
    thinking = (part("step_start"), part("text", text="let me see"), part("tool_use", tool="bash"))
    first = (*thinking, part("step_finish", tokens=older))
    last = (
        part("step_start"),
        part("text", text="fake "),
        part("text", text="answer"),
        part("step_finish", tokens=tokens),
    )
    assert read(opencode, lines(*first, *last)) == Reading("fake answer", tokens=25)
    silent = (part("step_start"), part("step_finish", reason="stop"))
    assert read(opencode, lines(*last, *silent)) == Reading("fake answer", tokens=10)
    failure = {"type": "error", "error": {"name": "APIError", "data": {"message": "no", "statusCode": 404}}}
    assert read(opencode, lines(failure)) == Reading(error="no")
    assert read(opencode, lines({"type": "error", "error": {"name": "Unknown"}})) == Reading(error="Unknown")
    with pytest.raises(UnreadableOutput):
        read(opencode, "fake answer")


@pytest.mark.parametrize("platform", [claude, codex, gemini, opencode])
@pytest.mark.parametrize("value", [None, 5, "x", [], {}, {"tokens": {"total": True}}])
def test_fields_of_other_kinds_do_no_harm(platform: Platform, value: Any) -> None:
    event = {"item": value, "part": value, "usage": value, "stats": value, "error": None, "result": value}
    kinds = ("item.completed", "turn.completed", "text", "step_finish")
    for kind in kinds if platform is not claude else ("result",):
        found = read(platform, json.dumps({"type": kind, "subtype": "success", "response": value, **event}))
        assert isinstance(found.text, str)
        assert found.tokens is None
