"""httpx clients whose connections wait in ``Guard``, so that a deadline or a cancellation ends them at whatever they do.

httpcore speaks HTTP; the sockets under it (its ``NetworkBackend``) and who may use them when are ours. A request is
never repeated in silence, so one that meets a connection which the server is just closing is lost. Servers close idle
connections after two seconds at the earliest (of those that are known), so none is used after half of that, and httpcore
notices one that has been closed already.
"""

# ruff: noqa: ARG002 - httpcore names the arguments of what it calls

from __future__ import annotations

import atexit
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any, Final

import h11
import httpcore
import httpx

from akm_run.dispatch.llm_connection import Line, connect
from akm_run.dispatch.llm_guard import Guard

KEPT_S: Final = 1.0

_here = threading.local()


def client(*, secure: bool, guard: Guard) -> httpx.Client:
    """The process's client for https or http; what the calling thread does with it from now on is bounded by ``guard``.

    Nothing around us changes where a request goes: no proxy variables, no ``.netrc``, no redirects.
    """
    _here.guard = guard
    return _client(secure)


@cache
def _client(secure: bool) -> httpx.Client:
    transport = _Transport(_tls() if secure else None)
    made = httpx.Client(transport=transport, trust_env=False, follow_redirects=False, timeout=None)
    made.headers = httpx.Headers()
    atexit.register(made.close)
    return made


@cache
def _tls() -> ssl.SSLContext:
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def close_idle() -> None:
    """Close the clients and the connections that they keep; the next call makes new ones, with certificates read anew."""
    for secure in (False, True):
        _client(secure).close()
    _client.cache_clear()
    _tls.cache_clear()


class _Stream(httpcore.NetworkStream):
    """A Line as httpcore wants it. httpcore's own timeouts are not used."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._line.guard = _here.guard
        return self._line.read(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._line.guard = _here.guard
        try:
            self._line.write(buffer)
        except OSError as error:
            # A server may answer, and hang up, before it has read all of a request that it refuses: httpcore reads on.
            raise httpcore.WriteError(str(error)) from error

    def close(self) -> None:
        self._line.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._line.secured(ssl_context, server_hostname or ""))

    def get_extra_info(self, info: str) -> Any:
        return self._line.has_input() if info == "is_readable" else None


class _Backend(httpcore.NetworkBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(connect(host, port, _here.guard))


class _Pool:
    """Connections that are idle. One that is taken is nobody else's until it is given back.

    httpcore's own pool closes what has just been given to a request that has not begun yet, when its time runs out
    meanwhile.
    """

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._idle: dict[str, deque[httpcore.HTTPConnection]] = {}  # by origin, the last that was used last
        self._closed = False

    def take(self, origin: httpcore.Origin) -> httpcore.HTTPConnection:
        """An idle connection, or a new one, which connects when it is used."""
        late: list[httpcore.HTTPConnection] = []
        try:
            with self._lock:
                idle = self._idle.get(str(origin), deque())
                while idle and idle[0].has_expired():
                    late.append(idle.popleft())
                while idle:
                    last = idle.pop()
                    if not last.has_expired():  # the server has not hung up either
                        return last
                    late.append(last)
        finally:
            for connection in late:
                connection.close()
        return httpcore.HTTPConnection(
            origin, ssl_context=self._context, keepalive_expiry=KEPT_S, network_backend=_Backend()
        )

    def give_back(self, origin: httpcore.Origin, connection: httpcore.HTTPConnection) -> None:
        """Keep the connection if it has a whole answer behind it and nothing more, else close it."""
        with self._lock:
            if connection.is_idle() and _has_used_all(connection) and not self._closed:
                self._idle.setdefault(str(origin), deque()).append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close what is idle, and whatever is given back from now on."""
        with self._lock:
            self._closed = True
            idle = [connection for kept in self._idle.values() for connection in kept]
            self._idle.clear()
        for connection in idle:
            connection.close()


def _has_used_all(connection: httpcore.HTTPConnection) -> bool:
    """Whether nothing waits in the parser: what a server sent behind an answer would be the answer to the next request.

    httpcore does not tell, so its parser is asked; a version that has it somewhere else keeps no connection.
    """
    parser = getattr(getattr(connection, "_connection", None), "_h11_state", None)
    return isinstance(parser, h11.Connection) and not parser.trailing_data[0]


class _Body(httpx.SyncByteStream):
    """The body of an answer; ``done`` is called once, when nobody reads on."""

    def __init__(self, stream: Any, done: Callable[[], None]) -> None:
        self._stream = stream
        self._done = done

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            done, self._done = self._done, _nothing
            done()


def _nothing() -> None:
    """What is left to do for a body that was closed before."""


class _Transport(httpx.BaseTransport):
    """httpcore's connections under httpx; the faults of both, OSError and Ended go through as they are."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self._pool = _Pool(context)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        if url.scheme not in ("http", "https"):
            raise httpcore.UnsupportedProtocol('an endpoint begins with "http://" or "https://"')
        place = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        asked = httpcore.Request(
            method=request.method,
            url=place,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        connection = self._pool.take(place.origin)
        try:
            found = connection.handle_request(asked)
        except BaseException:  # an interruption included: nobody else knows of the connection
            connection.close()
            raise
        body = _Body(found.stream, partial(self._pool.give_back, place.origin, connection))
        return httpx.Response(found.status, headers=found.headers, stream=body, extensions=found.extensions)

    def close(self) -> None:
        self._pool.close()
