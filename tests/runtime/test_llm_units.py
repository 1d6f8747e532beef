"""Llm units against real HTTP servers: answers, failures, keys, time, and connections that are really closed."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from akm_run.cancel import Cancellation
from akm_run.dispatch import llm_transport
from akm_run.dispatch.command_llm import perform
from akm_run.dispatch.contract import UnitContext, UnitRequest, UnitResult
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import CommandTarget, LiteralBinding, LlmEngine, LlmTuning

KEY: Final = "sk-live-0123456789abcdef"
N: Final[JsonObject] = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


@dataclass
class Desk:
    """Asks a server; ``requests`` are those that arrived."""

    folder: Path
    cancel: Cancellation
    stub: Any
    requests: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, *answers: dict[str, Any], url: str | None = None, **more: Any) -> UnitResult:
        """The result of one unit; ``answers`` are the stub's."""
        if url is not None:
            return perform(self.request(url, **more), self.cancel)
        with self.stub(list(answers)) as stub:
            result = perform(self.request(stub.url, **more), self.cancel)
            self.requests = stub.requests
        assert stub.unscripted == 0
        return result

    def request(self, url: str, *, key: str | None = None, llm: LlmTuning | None = None, **more: Any) -> UnitRequest:
        engine = LlmEngine(name="gpt", endpoint=url, **({} if key is None else {"api_key": key}))
        tuning: dict[str, Any] = {} if llm is None else {"llm": llm}
        target = CommandTarget(engine=engine, model="m", content_hash="", input_bindings=[], **tuning)
        fields: dict[str, Any] = {"env": (), "schema": None, "timeout_s": 20.0, "context": UnitContext({})} | more
        return UnitRequest(
            "r1", "ask", "ask:solo", 1, target, "The prose.", workspace=self.folder, bundle=self.folder, **fields
        )


@pytest.fixture
def desk(tmp_path: Path, stub_llm: Any) -> Iterator[Desk]:
    cancel = Cancellation()
    yield Desk(tmp_path, cancel, stub_llm)
    cancel.close()


@contextmanager
def raw_server(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server for one connection, which ``serve`` has to itself once the request's head was read."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(15)

    def run() -> None:
        connection, _ = listener.accept()
        connection.settimeout(15)
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(65536)
            serve(connection)

    thread = threading.Thread(target=run)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1/chat/completions"
    thread.join(20)
    listener.close()
    assert not thread.is_alive()


# ---- answers ----


def test_text_is_the_artifact(desk: Desk) -> None:
    assert desk.ask({"content": '\nWell: {"n": 1}\n\n'}) == UnitResult('\nWell: {"n": 1}', tokens=10)
    (request,) = desk.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["headers"]["content-type"] == "application/json"
    assert "authorization" not in request["headers"]
    assert request["body"]["messages"][1]["content"] == "The prose."


def test_empty_text_is_no_output_and_unreported_usage_is_none(desk: Desk) -> None:
    assert desk.ask({"content": "", "usage": None}) == UnitResult(None)


@pytest.mark.parametrize(
    "count", [2**53, 2**53 + 1, 2**63 - 1, 10**22, -5, True, "5", float("nan"), float("inf"), 1e300]
)
def test_a_count_that_cannot_be_kept_is_unreported(desk: Desk, count: Any) -> None:
    usage = {"total_tokens": count}
    assert desk.ask({"content": "x", "usage": usage}) == UnitResult("x", tokens=2**53 if count == 2**53 else None)
    parts = {"prompt_tokens": count, "completion_tokens": count}
    assert desk.ask({"content": "x", "usage": parts}) == UnitResult("x")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        *((text, None) for text in ('{"n": 7}', ' {"n": 7}\n', '```json\n{"n": 7}\n```\n')),
        *((text, "parse_error") for text in ('So: {"n": 7}', '{"n": 7', "", '{"n": 7, "n": 7}', '{"n": NaN}')),
        ('{"n": "seven"}', "validation_error"),
    ],
)
def test_answers_to_schema_units_are_read_strictly(desk: Desk, content: str, reason: str | None) -> None:
    result = desk.ask({"content": content}, schema=N)
    assert (result.failure_reason, result.tokens) == (reason, 10)
    assert result.value == ({"n": 7} if reason is None else None)
    assert bool(result.errors) == (reason is not None)


def test_attached_blocks_arrive_untouched(desk: Desk) -> None:
    item = "$& $1 {0} %s ${HOME} $(id) 😀"
    desk.ask({"content": "x"}, context=UnitContext({"p": 1}, item=item, item_index=0))
    assert desk.requests[0]["text"].endswith(f'\n"{item}"')


# ---- failures ----


@pytest.mark.parametrize(
    ("answer", "reason", "says"),
    [
        ({"status": 429, "body": "slow down"}, "llm_rate_limit", "HTTP 429 Too Many Requests"),
        ({"status": 503, "body": "busy"}, "llm_http_error", "HTTP 503 Service Unavailable"),
        ({"status": 500, "body": ""}, "llm_http_error", "HTTP 500"),
        ({"status": 401, "body": "{}"}, "llm_http_error", "none, for the engine has no `apiKey`"),
        ({"status": 302, "headers": {"Location": "/other"}}, "llm_http_error", "redirects are not followed"),
        ({"content": "I", "finish": "content_filter"}, "llm_content_filter", "filter"),
        ({"content": "half", "finish": "length"}, "llm_invalid_json", "cut at the limit"),
        ({"body": "<html>"}, "llm_invalid_json", "no chat completion"),
        ({"body": '{"choices": []}'}, "llm_invalid_json", "no choices"),
    ],
)
def test_failures_have_their_reasons(desk: Desk, answer: dict[str, Any], reason: str, says: str) -> None:
    result = desk.ask(answer)
    assert (result.failure_reason, result.value) == (reason, None)
    assert result.diagnostic is not None
    assert result.diagnostic.startswith(f"{reason}: ")
    assert says in result.diagnostic
    if answer.get("body") in ("slow down", "busy"):
        assert result.diagnostic.endswith(f": {answer['body']}")
    assert len(desk.requests) == 1, "nothing is retried silently"


def test_a_cut_answer_names_the_limit(desk: Desk) -> None:
    result = desk.ask({"content": '{"n": 1', "finish": "length"}, schema=N, llm=LlmTuning(max_tokens=55))
    assert (result.failure_reason, result.tokens) == ("llm_invalid_json", 10)
    assert "raise `max_tokens`, which is 55" in (result.diagnostic or "")


def test_a_long_error_page_is_clipped(desk: Desk) -> None:
    result = desk.ask({"status": 500, "body": "x" * 50_000})
    assert len(result.diagnostic or "") < 1200


@pytest.mark.parametrize("status", [429, 503])
def test_what_the_server_asks_to_wait_is_passed_on(desk: Desk, status: int) -> None:
    assert desk.ask({"status": status, "headers": {"Retry-After": "7"}}).retry_after_s == 7.0
    assert desk.ask({"status": status}).retry_after_s is None


def test_nobody_listens(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    result = desk.ask(url=f"http://127.0.0.1:{port}/v1/chat/completions")
    assert result.diagnostic == f"llm_unreachable: http://127.0.0.1:{port}/v1/chat/completions: connection refused"


def test_a_broken_connection(desk: Desk) -> None:
    result = desk.ask({"drop": True})
    assert result.failure_reason == "llm_unreachable"
    assert "disconnected" in (result.diagnostic or "")


def test_an_answer_that_breaks_off(desk: Desk) -> None:
    with raw_server(lambda c: c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"choices"')) as url:
        assert desk.ask(url=url).failure_reason == "llm_unreachable"


@pytest.mark.parametrize("url", ["ftp://h/chat/completions", "http:///chat/completions", "http://h:99999/x", "nothing"])
def test_an_endpoint_that_no_compiler_wrote(desk: Desk, url: str) -> None:
    assert desk.ask(url=url).failure_reason == "llm_unreachable"


def test_an_endpoint_without_address_or_without_tls(desk: Desk) -> None:
    assert desk.ask(url="http://no-such-host.invalid/chat/completions").failure_reason == "llm_unreachable"
    with desk.stub([]) as stub:
        result = desk.ask(url=stub.url.replace("http:", "https:"))
    assert result.failure_reason == "llm_unreachable"
    assert "SSL" in (result.diagnostic or "")


def test_certificates_are_checked(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate]
    words += ["-days", "2", "-subj", "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(words, check=True, capture_output=True)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    with desk.stub([{"content": "safe"}]) as stub:
        stub.server.socket = server.wrap_socket(stub.server.socket, server_side=True)
        url = stub.url.replace("http:", "https:")
        llm_transport.close_idle()
        unknown = desk.ask(url=url)
        monkeypatch.setenv("SSL_CERT_FILE", certificate)
        llm_transport.close_idle()
        assert desk.ask(url=url).value == "safe"
        llm_transport.close_idle()
    assert unknown.diagnostic == f"llm_unreachable: {url}: its certificate cannot be verified"


def test_an_endless_answer_is_not_kept(desk: Desk) -> None:
    def serve(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        with pytest.raises(OSError):  # we hang up
            while True:
                connection.sendall(b" " * 65536)

    with raw_server(serve) as url:
        result = desk.ask(url=url)
    assert result.failure_reason == "llm_invalid_json"
    assert "longer than the 8388608 bytes" in (result.diagnostic or "")


def test_env_bindings_cannot_be_carried(desk: Desk) -> None:
    result = desk.ask(env=(LiteralBinding(name="TOK", value="x"),))
    assert result.failure_reason == "env_unsupported"
    assert desk.requests == []


def test_proxies_of_the_environment_are_not_used(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert desk.ask({"content": "direct"}).value == "direct"


# ---- the key ----


def test_the_key_goes_into_the_header_and_nowhere_else(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", f" {KEY}\n")
    result = desk.ask({"content": f"the key is {KEY}, honest"}, key="STUB_KEY")
    assert result == UnitResult("the key is [redacted], honest", tokens=10)
    (request,) = desk.requests
    assert request["headers"]["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(request["body"])


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 401, "body": f'{{"error": "no such key: {KEY}"}}'},
        {"status": 500, "body": "x" * 990 + KEY},
        {"json": {"n": f"{KEY}"}},
        {"content": f'{KEY} {{"n": 1}}'},
    ],
)
def test_failures_do_not_show_the_key(desk: Desk, monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any]) -> None:
    monkeypatch.setenv("STUB_KEY", KEY)
    result = desk.ask(answer, key="STUB_KEY", schema=N)
    assert not result.completed
    assert "sk-live" not in repr(result)
    if answer.get("status") == 401:
        assert "the value of STUB_KEY" in (result.diagnostic or "")


@pytest.mark.parametrize("value", [None, "", " \n", "schlüssel", "two\nlines"])
def test_a_key_that_is_none_is_never_sent(desk: Desk, monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("STUB_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("STUB_KEY", value)
    result = desk.ask(key="STUB_KEY")
    assert not result.completed
    assert desk.requests == []
    assert "STUB_KEY" in (result.diagnostic or "")
    assert not value or not value.strip() or value not in (result.diagnostic or "")


def test_a_short_key_is_used_with_a_warning(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", "abc")
    result = desk.ask({"content": "x"}, key="STUB_KEY")
    assert result.value == "x"
    assert result.notices == ("not redacted, having fewer than 4 characters: the value of STUB_KEY",)


# ---- time ----


def until_closed(closed: threading.Event, first: bytes = b"") -> Callable[[socket.socket], None]:
    def serve(connection: socket.socket) -> None:
        connection.sendall(first)
        while connection.recv(65536):  # the body; then nothing until the other side closes
            pass
        closed.set()

    return serve


@pytest.mark.parametrize("first", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"])
def test_a_hanging_request_ends_with_the_timeout(desk: Desk, first: bytes) -> None:
    closed = threading.Event()
    begun = time.monotonic()
    with raw_server(until_closed(closed, first)) as url:
        result = desk.ask(url=url, timeout_s=0.4)
        assert closed.wait(5), "the connection was closed"
    assert result.failure_reason == "timeout"
    assert "within 0.4 s" in (result.diagnostic or "")
    assert 0.4 <= time.monotonic() - begun < 5


@pytest.mark.parametrize("first", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"])
def test_cancellation_closes_the_connection(desk: Desk, first: bytes) -> None:
    closed = threading.Event()
    begun = time.monotonic()
    with raw_server(until_closed(closed, first)) as url:
        timer = threading.Timer(0.3, desk.cancel.set)
        timer.start()
        result = desk.ask(url=url, timeout_s=None)
        timer.join()
        assert closed.wait(5), "the connection was closed"
    assert result.failure_reason == "aborted"
    assert time.monotonic() - begun < 5
    assert desk.ask(url=url).failure_reason == "aborted", "and nothing is sent once cancelled"


def test_many_at_once_in_threads(desk: Desk) -> None:
    results: list[UnitResult] = []
    with desk.stub([{"content": "x", "times": 0, "delay_s": 0.2}]) as stub:
        threads = [
            threading.Thread(target=lambda: results.append(perform(desk.request(stub.url), desk.cancel)))
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [UnitResult("x", tokens=10)] * 6
    assert max(request["in_flight"] for request in stub.requests) == 6
