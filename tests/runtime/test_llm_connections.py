"""Connections to an endpoint: kept for the next request, never used when they may be dead, ended at whatever they do."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Final

import httpcore
import pytest

from akm_run.cancel import Cancellation
from akm_run.dispatch import llm_connection, llm_transport
from akm_run.dispatch.llm_exchange import Ask, Broken, Outcome, Reply, exchange

OK: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


@pytest.fixture
def cancel() -> Iterator[Cancellation]:
    made = Cancellation()
    yield made
    llm_transport.close_idle()
    made.close()


class Server:
    """Answers each request with the next of ``answers``; ``connections`` are the requests of each connection."""

    def __init__(self, answers: list[bytes]) -> None:
        self._answers = answers
        self.connections: list[list[bytes]] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1/chat/completions"
        self.open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:  # closed
                return
            self.open.append(connection)
            self.connections.append([])
            threading.Thread(target=self._serve, args=(connection, self.connections[-1]), daemon=True).start()

    def _serve(self, connection: socket.socket, requests: list[bytes]) -> None:
        with contextlib.suppress(OSError):  # the other side has hung up
            self._answer(connection, requests)

    def _answer(self, connection: socket.socket, requests: list[bytes]) -> None:
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                more = connection.recv(65536)
                if not more:
                    return
                data += more
            head, _, data = data.partition(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            while len(data) < length:
                data += connection.recv(65536)
            requests.append(data[:length])
            data = data[length:]
            answer = self._answers.pop(0)
            connection.sendall(answer)
            if b"connection: close" in answer.lower():
                connection.close()
                return


@contextlib.contextmanager
def serving(*answers: bytes) -> Iterator[Server]:
    server = Server(list(answers))
    yield server
    server.listener.close()
    for connection in server.open:
        connection.close()


def ask(url: str, cancel: Cancellation, body: bytes = b"{}", timeout_s: float | None = 20.0) -> Outcome:
    return exchange(Ask(url, body, {}, timeout_s), cancel)


def bodies(*outcomes: Outcome) -> list[bytes]:
    assert all(isinstance(outcome, Reply) for outcome in outcomes), outcomes
    return [outcome.body for outcome in outcomes if isinstance(outcome, Reply)]


# ---- kept connections ----


def test_one_after_the_other_share_a_connection(cancel: Cancellation) -> None:
    with serving(OK, OK, OK) as server:
        assert bodies(*(ask(server.url, cancel, b"%d" % number) for number in range(3))) == [b"hi"] * 3
        assert server.connections == [[b"0", b"1", b"2"]]


@pytest.mark.parametrize(
    "answer",
    [
        OK.replace(b"Content-Length", b"Connection: close\r\nContent-Length"),
        b"HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nhi",
    ],
)
def test_a_connection_that_the_server_does_not_keep(cancel: Cancellation, answer: bytes) -> None:
    with serving(answer, OK) as server:
        assert bodies(ask(server.url, cancel), ask(server.url, cancel)) == [b"hi", b"hi"]
        assert len(server.connections) == 2


def test_a_connection_that_was_closed_while_idle_is_not_used(cancel: Cancellation) -> None:
    with serving(OK, OK) as server:
        first = ask(server.url, cancel)
        server.open[0].shutdown(socket.SHUT_RDWR)
        time.sleep(0.1)  # until the end of the stream has come; loopback takes microseconds
        assert bodies(first, ask(server.url, cancel)) == [b"hi", b"hi"]
        assert [len(requests) for requests in server.connections] == [1, 1]


def test_a_connection_is_not_kept_for_long(cancel: Cancellation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert llm_transport.KEPT_S <= 1.0, "half of what the most impatient servers wait"
    monkeypatch.setattr(llm_transport, "KEPT_S", 0.0)
    llm_transport.close_idle()
    with serving(OK, OK) as server:
        assert bodies(ask(server.url, cancel), ask(server.url, cancel)) == [b"hi", b"hi"]
        assert len(server.connections) == 2


def test_a_connection_that_was_taken_is_nobody_elses(cancel: Cancellation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time runs out before the request begins that it was taken for, and meanwhile another request looks for one."""
    monkeypatch.setattr(llm_transport, "KEPT_S", 0.5)
    llm_transport.close_idle()
    taken, go_on, late = threading.Event(), threading.Event(), list[Outcome]()
    handle = httpcore.HTTPConnection.handle_request

    def waits(connection: httpcore.HTTPConnection, request: httpcore.Request) -> httpcore.Response:
        if threading.current_thread() is waiting:
            taken.set()
            assert go_on.wait(20)
        return handle(connection, request)

    with serving(OK, OK, OK) as server:
        first = ask(server.url, cancel, b"1")
        monkeypatch.setattr(httpcore.HTTPConnection, "handle_request", waits)
        waiting = threading.Thread(target=lambda: late.append(ask(server.url, cancel, b"3")))
        waiting.start()
        assert taken.wait(20)
        time.sleep(0.6)
        second = ask(server.url, cancel, b"2")
        go_on.set()
        waiting.join()
        assert bodies(first, second, *late) == [b"hi"] * 3
        assert server.connections == [[b"1", b"3"], [b"2"]]


@pytest.mark.parametrize(
    "more",
    [
        OK.replace(b"hi", b"no"),
        b"\r\n",
        b"}}",
        b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        b"HTTP/1.1 200",
    ],
)
@pytest.mark.parametrize("chunked", [True, False])
def test_what_comes_behind_an_answer_answers_nobody(cancel: Cancellation, more: bytes, chunked: bool) -> None:
    """It came in one piece with the answer, so that it waits in the parser and not in the socket."""
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n" if chunked else OK
    with serving(answer + more, OK.replace(b"hi", b"me")) as server:
        assert bodies(ask(server.url, cancel, b"1"), ask(server.url, cancel, b"2")) == [b"hi", b"me"]
        assert server.connections == [[b"1"], [b"2"]]


def test_no_connection_is_kept_whose_parser_cannot_be_asked(
    cancel: Cancellation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm_transport, "h11", SimpleNamespace(Connection=Server))
    with serving(OK, OK) as server:
        assert bodies(ask(server.url, cancel), ask(server.url, cancel)) == [b"hi", b"hi"]
        assert len(server.connections) == 2


def test_an_answer_that_is_left_half_read_is_not_mistaken_for_the_next(cancel: Cancellation) -> None:
    late = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nhalf"
    with serving(late, OK) as server:
        assert isinstance(ask(server.url, cancel, timeout_s=0.3), Broken)
        assert bodies(ask(server.url, cancel)) == [b"hi"]
        assert len(server.connections) == 2


def test_large_bodies_go_both_ways(cancel: Cancellation) -> None:
    large = b"x" * 6_000_000
    with serving(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(large), large)) as server:
        assert bodies(ask(server.url, cancel, large)) == [large]
        assert server.connections == [[large]]


def test_an_encoding_that_nobody_asked_for_is_undone(cancel: Cancellation) -> None:
    packed = gzip.compress(json.dumps({"n": 1}).encode())
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    with serving(head % len(packed) + packed, head % 4 + b"junk") as server:
        assert bodies(ask(server.url, cancel)) == [b'{"n": 1}']
        spoilt = ask(server.url, cancel)
        assert isinstance(spoilt, Broken)
        assert spoilt.reason == "llm_unreachable"


# ---- ended at whatever it does ----


def ended(act: Callable[[float | None], Outcome], cancel: Cancellation, *, cancelled: bool) -> None:
    """``act`` ends at once when it is cancelled, or with its timeout, and says which."""
    timer = threading.Timer(0.3, cancel.set)
    begun = time.monotonic()
    if cancelled:
        timer.start()
    outcome = act(None if cancelled else 0.3)
    assert isinstance(outcome, Broken)
    assert outcome.reason == ("aborted" if cancelled else "timeout")
    assert 0.25 < time.monotonic() - begun < 10
    timer.cancel()


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_name_server_that_does_not_answer(
    cancel: Cancellation, monkeypatch: pytest.MonkeyPatch, cancelled: bool
) -> None:
    answered = threading.Event()

    def silent(*_: object) -> list[object]:
        answered.wait(20)
        return []

    real = llm_connection._looked_up
    monkeypatch.setattr(llm_connection, "_looked_up", lambda h, p, flags: real(h, p, flags) if flags else silent())
    ended(lambda seconds: ask("http://slow.invalid/x", cancel, timeout_s=seconds), cancel, cancelled=cancelled)
    answered.set()


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_tls_handshake_that_nobody_answers(cancel: Cancellation, cancelled: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"https://127.0.0.1:{deaf.getsockname()[1]}/x"
        ended(lambda seconds: ask(url, cancel, timeout_s=seconds), cancel, cancelled=cancelled)


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_body_that_nobody_reads(cancel: Cancellation, cancelled: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/x"
        ended(lambda seconds: ask(url, cancel, b"x" * 50_000_000, seconds), cancel, cancelled=cancelled)


def test_a_server_that_sends_a_little_all_the_time(cancel: Cancellation) -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):  # until the other side has hung up
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while True:
                connection.sendall(b" ")
                time.sleep(0.01)

    thread = threading.Thread(target=drip)
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/x"
    ended(lambda seconds: ask(url, cancel, timeout_s=seconds), cancel, cancelled=False)
    thread.join(10)
    listener.close()


# ---- addresses ----


def test_the_next_address_is_tried_when_one_refuses_or_is_silent(
    cancel: Cancellation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(OK) as server, socket.create_server(("127.0.0.1", 0)) as free, full() as silent:
        refuses = free.getsockname()
        free.close()
        addresses = [refuses, silent, server.listener.getsockname()]
        found = [(socket.AF_INET, socket.SOCK_STREAM, 0, address) for address in addresses]
        monkeypatch.setattr(llm_connection, "_looked_up", lambda *_: found)
        assert bodies(ask("http://three.example/x", cancel)) == [b"hi"]


@contextlib.contextmanager
def full() -> Iterator[tuple[str, int]]:
    """An address at which connections are neither taken nor refused."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    waiting = [socket.socket() for _ in range(4)]
    for one in waiting:
        one.setblocking(False)
        one.connect_ex(listener.getsockname())
    yield listener.getsockname()
    for one in (listener, *waiting):
        one.close()


def test_the_first_fault_is_told_when_no_address_answers(cancel: Cancellation, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        refuses = free.getsockname()
    found = [(socket.AF_INET, socket.SOCK_STREAM, 0, refuses)] * 2
    monkeypatch.setattr(llm_connection, "_looked_up", lambda *_: found)
    outcome = ask("http://two.example/x", cancel)
    assert outcome == Broken("llm_unreachable", "http://two.example/x: connection refused")


def test_a_user_in_the_url_is_sent_as_before(cancel: Cancellation) -> None:
    heads: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            heads.append(connection.recv(65536))
            connection.sendall(OK)

    thread = threading.Thread(target=serve)
    thread.start()
    port = listener.getsockname()[1]
    assert bodies(ask(f"http://me:s%20cret@127.0.0.1:{port}/a?b=c#d", cancel)) == [b"hi"]
    thread.join()
    listener.close()
    (head,) = heads
    assert head.startswith(b"POST /a?b=c HTTP/1.1\r\n")
    assert b"Host: 127.0.0.1:%d\r\n" % port in head
    assert b"Authorization: Basic bWU6cyBjcmV0\r\n" in head
