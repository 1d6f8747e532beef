"""The real programs, where they are installed, against a local server that speaks their providers' protocols."""

from __future__ import annotations

import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from akm_run.cancel import Cancellation
from akm_run.dispatch.command_agent import perform
from akm_run.dispatch.contract import UnitContext, UnitRequest, UnitResult
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import AgentEngine, CommandTarget, LlmEngine

N: Final[JsonObject] = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
KEY: Final = "key-0123456789abcdef"
PROSE: Final = "Say {{ it }} for $HOME.\n\n    four  blanks"
ANSWER: Final = '```json\n{"n": 7}\n```'
BAD_REQUEST: Final = {"type": "error", "error": {"type": "invalid_request_error", "message": "no such thing"}}


def messages_events() -> list[dict[str, Any]]:
    """Anthropic's Messages API, streamed."""
    usage = {"input_tokens": 7, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "x",
        "content": [],
        "stop_reason": None,
    }
    return [
        {"type": "message_start", "message": {**message, "stop_sequence": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 3},
        },
        {"type": "message_stop"},
    ]


def responses_events() -> list[dict[str, Any]]:
    """OpenAI's Responses API, streamed."""
    content = [{"type": "output_text", "text": ANSWER, "annotations": []}]
    item = {"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": content}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": {"id": "r", "usage": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}},
        },
    ]


def chat_events() -> list[dict[str, Any]]:
    """The chat completions API, streamed."""
    head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "x"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return [
        {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ANSWER}, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage},
    ]


def gemini_events() -> list[dict[str, Any]]:
    """Google's streamGenerateContent."""
    candidate = {"content": {"role": "model", "parts": [{"text": ANSWER}]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}
    return [{"candidates": [candidate], "usageMetadata": usage, "modelVersion": "x"}]


@dataclass
class Provider:
    """Every provider at once; ``failing`` answers 400. ``bodies`` are the requests."""

    url: str = ""
    failing: bool = False
    bodies: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Status, media type and body for a request to ``path``."""
        table = {"/messages": messages_events, "/responses": responses_events, "/chat/completions": chat_events}
        events = next((make for end, make in table.items() if path.split("?")[0].endswith(end)), None)
        if "enerateContent" in path:
            events = gemini_events
        if events is None or self.failing:
            return 400, "application/json", json.dumps(BAD_REQUEST).encode()
        if "generateContent" in path:
            return 200, "application/json", json.dumps(gemini_events()[0]).encode()
        named = (f"event: {event['type']}\n" if "type" in event else "" for event in events())
        data = "".join(f"{name}data: {json.dumps(event)}\n\n" for name, event in zip(named, events(), strict=True))
        return 200, "text/event-stream", data.encode()


@pytest.fixture
def provider() -> Iterator[Provider]:
    here = Provider()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            here.bodies.append(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())
            names = ("Authorization", "x-api-key", "x-goog-api-key")
            here.keys |= {value.removeprefix("Bearer ") for name in names if (value := self.headers.get(name))}
            status, kind, data = here.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    here.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield here
    server.shutdown()
    thread.join()
    server.server_close()


def configured(platform: str, url: str, home: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """Variables, and fields of the engine, with which a program finds our server."""
    match platform:
        case "claude":
            return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url}, {}
        case "codex":
            spec = f'{{name="local",base_url="{url}/v1",wire_api="responses",env_key="CODEX_API_KEY"}}'
            args = ["-c", "model_provider=local", "-c", f"model_providers.local={spec}"]
            return {"CODEX_API_KEY": KEY, "CODEX_HOME": str(home)}, {"args": args}
        case "gemini":
            (home / ".gemini").mkdir()
            settings = '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
            (home / ".gemini" / "settings.json").write_text(settings)
            names = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
            return names, {}
        case _:
            llm = LlmEngine(name="local", endpoint=f"{url}/v1/chat/completions", api_key="LOCAL_KEY")
            return {"LOCAL_KEY": KEY}, {"llm_engine": llm}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("platform", ["claude", "codex", "gemini", "opencode-sdk"])
def test_a_unit_on_the_real_program(
    platform: Any, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = platform.removesuffix("-sdk")
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed (not on the PATH)")
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    monkeypatch.setenv("HOME", str(home))
    variables, more = configured(platform, provider.url, home)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    engine = AgentEngine(name="coder", platform=platform, **more)
    target = CommandTarget(engine=engine, model="model-a", content_hash="", input_bindings=[])
    request = UnitRequest(
        "r1", "ask", "ask:solo", 1, target, PROSE, (), N, 90.0, UnitContext({}), workspace=work, bundle=work
    )
    cancel = Cancellation()
    try:
        assert perform(request, cancel) == UnitResult({"n": 7}, tokens=10)
        assert any(json.dumps(PROSE)[1:-1] in body for body in provider.bodies), "the prompt arrived byte for byte"
        assert provider.keys == {KEY}
        provider.failing = True
        failure = perform(request, cancel)
    finally:
        cancel.close()
    assert failure.failure_reason == "non_zero_exit"
    assert "no such thing" in (failure.diagnostic or "")
    assert KEY not in (failure.diagnostic or "")
