"""Connections to a model's endpoint that a deadline or a cancellation ends at whatever they are doing.

The socket never blocks: name lookup, connecting, the TLS handshake, writing and reading all wait in ``Guard``. Addresses
are tried as RFC 8305 advises: the next one after a quarter of a second.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import ssl
import threading
from collections import deque
from typing import Any, Final, TypeAlias

from akm_run.dispatch.llm_guard import READABLE, WRITABLE, Guard, is_readable

_NEXT_ADDRESS_S: Final = 0.25
_Address: TypeAlias = tuple[int, int, int, Any]  # family, type, protocol, and what ``connect`` takes


class Line:
    """A connected socket. ``guard`` is that of the exchange that has it at the moment.

    Its methods raise OSError (TLS faults are such) and Ended.
    """

    def __init__(self, connected: socket.socket, guard: Guard) -> None:
        self._socket = connected
        self.guard = guard

    def read(self, most: int) -> bytes:
        """What has come, ``most`` bytes of it, waiting for some; empty at the end."""
        while True:
            try:
                return self._socket.recv(most)
            except (BlockingIOError, ssl.SSLWantReadError):
                self._wait(READABLE)
            except ssl.SSLWantWriteError:
                self._wait(WRITABLE)

    def write(self, data: bytes) -> None:
        """Send all of ``data``."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except (BlockingIOError, ssl.SSLWantWriteError):
                self._wait(WRITABLE)
            except ssl.SSLWantReadError:
                self._wait(READABLE)

    def secured(self, context: ssl.SSLContext, host: str) -> Line:
        """The line with TLS over it; it is closed when that fails."""
        try:
            over = context.wrap_socket(self._socket, server_hostname=host, do_handshake_on_connect=False)
        except ValueError as error:  # a name that no certificate can bear
            self.close()
            raise OSError(str(error)) from error
        except BaseException:  # an interruption included: nobody else knows of the socket
            self.close()
            raise
        line = Line(over, self.guard)
        try:
            line._handshake(over)
        except BaseException:  # likewise
            line.close()
            raise
        return line

    def _handshake(self, over: ssl.SSLSocket) -> None:
        while True:
            try:
                over.do_handshake()
                return
            except ssl.SSLWantReadError:
                self._wait(READABLE)
            except ssl.SSLWantWriteError:
                self._wait(WRITABLE)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def has_input(self) -> bool:
        """Whether something has come, the end included."""
        return is_readable(self._socket.fileno())

    def _wait(self, events: int) -> None:
        self.guard.wait((self._socket.fileno(),), events)


def connect(host: str, port: int, guard: Guard) -> Line:
    """A connection to ``host``; raises OSError and Ended."""
    try:
        connected = _first(_addresses(host, port, guard), guard)
    except (UnicodeError, OverflowError) as error:  # names and ports that there cannot be
        raise OSError(str(error)) from error
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Line(connected, guard)


def _addresses(host: str, port: int, guard: Guard) -> list[_Address]:
    """The addresses of a host, the best first; raises OSError."""
    with contextlib.suppress(socket.gaierror):  # a name and no address
        return _looked_up(host, port, socket.AI_NUMERICHOST)
    found: list[list[_Address] | BaseException] = []
    reader, writer = os.pipe()

    def ask() -> None:
        try:
            found.append(_looked_up(host, port, 0))
        except (OSError, UnicodeError) as error:
            found.append(error)
        finally:
            os.close(writer)  # which the other end notices

    # A thread, for a name server cannot be interrupted: one that is still being asked is left behind.
    threading.Thread(target=ask, name="akm-name", daemon=True).start()
    try:
        guard.wait((reader,), READABLE)
    finally:
        os.close(reader)
    outcome = found[0]
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _looked_up(host: str, port: int, flags: int) -> list[_Address]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return [(family, kind, protocol, address) for family, kind, protocol, _, address in found]


def _first(addresses: list[_Address], guard: Guard) -> socket.socket:
    """The first socket that connects; raises OSError, or a group of them, when none does."""
    waiting, trying, errors = deque(addresses), dict[int, socket.socket](), list[OSError]()
    try:
        while waiting or trying:
            if waiting:
                _begin(waiting.popleft(), trying, errors)
            for descriptor in guard.wait(trying, WRITABLE, _NEXT_ADDRESS_S if waiting else None) if trying else ():
                one = trying.pop(descriptor)
                code = one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if code == 0:
                    return one
                one.close()
                errors.append(OSError(code, os.strerror(code)))
    finally:
        for other in trying.values():
            other.close()
    raise errors[0] if errors else OSError(errno.EADDRNOTAVAIL, "the name has no address")


def _begin(address: _Address, trying: dict[int, socket.socket], errors: list[OSError]) -> None:
    family, kind, protocol, where = address
    try:
        one = socket.socket(family, kind, protocol)
    except OSError as error:  # a family that this machine has not
        errors.append(error)
        return
    one.setblocking(False)
    code = one.connect_ex(where)
    if code in (0, errno.EINPROGRESS):
        trying[one.fileno()] = one
    else:
        one.close()
        errors.append(OSError(code, os.strerror(code)))
