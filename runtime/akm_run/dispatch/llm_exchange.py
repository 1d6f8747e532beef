"""One HTTP exchange with a model's endpoint, bounded in time and size, and really broken off by a cancellation.

It runs in the calling thread, by an httpx client whose sockets end with the deadline or the cancellation.

Nothing around us changes where a prompt and a key go: redirects are not followed, and neither proxy variables nor
``.netrc`` are read, for the plan has frozen the endpoint. Certificates are checked against the system's store (with
``SSL_CERT_FILE`` and ``SSL_CERT_DIR``, as OpenSSL reads them) and that of certifi.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import httpcore
import httpx
from msgspec import Struct

from akm_run.dispatch.contract import Cancel
from akm_run.dispatch.llm_guard import Ended, Guard
from akm_run.dispatch.llm_retry_after import retry_after_s
from akm_run.dispatch.llm_transport import client
from akm_schemas.bounds import STDOUT_BYTES


class Ask(Struct, frozen=True):
    """What to send: a POST of ``body`` (JSON). ``timeout_s`` is for the whole exchange, ``None`` for no limit."""

    url: str
    body: bytes
    headers: Mapping[str, str]
    timeout_s: float | None = None


class Reply(Struct, frozen=True):
    """An answer of any status. ``body`` is at most ``STDOUT_BYTES`` of it, all of it when it is ``whole``.
    ``retry_after_s``: seconds that the server asks to wait for."""

    status: int
    phrase: str
    body: bytes
    whole: bool = True
    retry_after_s: float | None = None


class Broken(Struct, frozen=True):
    """No answer: a failure reason of units, and what happened, not redacted."""

    reason: Literal["timeout", "aborted", "llm_unreachable"]
    message: str


Outcome: TypeAlias = Reply | Broken

_REASONS: Final[Mapping[type[OSError], str]] = {
    ConnectionRefusedError: "connection refused",
    ConnectionResetError: "the connection was reset",
    ssl.SSLCertVerificationError: "its certificate cannot be verified",
}
_FAULTS: Final = (
    *(OSError, httpx.HTTPError, httpx.InvalidURL),
    *(httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol),
)
_HEADERS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "akm-run",
}


def exchange(ask: Ask, cancel: Cancel) -> Outcome:
    """Send ``ask`` and wait for the answer; blocks the calling thread, and raises nothing for what a network can do."""
    try:
        return _post(ask, Guard(ask.timeout_s, cancel))
    except Ended as ended:
        if ended.reason == "timeout":
            return Broken("timeout", f"no whole answer from {ask.url} within {ask.timeout_s:g} s")
        return Broken("aborted", f"the request to {ask.url} was ended because the run was interrupted")
    except _FAULTS as error:
        return Broken("llm_unreachable", f"{ask.url}: {_why(error)}")


def _post(ask: Ask, guard: Guard) -> Reply:
    secure = ask.url.lower().startswith("https:")
    headers = _HEADERS | dict(ask.headers)
    chunks: list[bytes] = []
    size = 0
    with client(secure=secure, guard=guard).stream("POST", ask.url, content=ask.body, headers=headers) as response:
        for chunk in response.iter_bytes():
            size += len(chunk)
            chunks.append(chunk)
            if not STDOUT_BYTES.holds(size):
                break
        return Reply(
            status=response.status_code,
            phrase=response.reason_phrase,
            body=b"".join(chunks)[: STDOUT_BYTES.high],
            whole=STDOUT_BYTES.holds(size),
            retry_after_s=retry_after_s(response.headers.get("Retry-After"), response.headers.get("Date")),
        )


def _why(error: Exception) -> str:
    """The system's word for a fault of the network where there is one, else the library's."""
    for cause in _causes(error):
        for kind, words in _REASONS.items():
            if isinstance(cause, kind):
                return words
    return str(error) or type(error).__name__


def _causes(error: BaseException) -> list[BaseException]:
    """The error, what caused it, and the members of groups: attempts at several addresses fail as a group."""
    found: list[BaseException] = []
    pending: list[BaseException] = [error]
    while pending:
        one = pending.pop()
        if one in found:
            continue
        found.append(one)
        if isinstance(one, BaseExceptionGroup):
            pending.extend(one.exceptions)
        pending.extend(cause for cause in (one.__cause__, one.__context__) if cause is not None)
    return found
