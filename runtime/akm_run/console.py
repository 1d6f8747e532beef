"""Writing to people and to pipes: colour, control characters, closed pipes."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, TextIO, TypeAlias

from akm_run.faults import OutputFault
from akm_schemas.whole_streams import pieces, read_stdin

Color: TypeAlias = Literal["auto", "always", "never"]
_READER_GONE: Final = (errno.EPIPE, errno.EINVAL, errno.ESHUTDOWN)  # Windows says EINVAL for a closed pipe
_CODES: Final = {
    "completed": "32",
    "failed": "31",
    "blocked": "33",
    "skipped": "2",
    "pending": "2",
    "active": "36",
    "running": "36",
    "bold": "1",
}
# control characters (tab and newline aside), and those that reorder what is shown around them
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

# colours of our own, which ``paint`` writes, and all that is unsafe
_OWN_OR_UNSAFE: Final = re.compile(f"\x1b\\[(?:0|{'|'.join(sorted(set(_CODES.values())))})m|{_UNSAFE.pattern}")


def wants_color(choice: Color, stream: TextIO | None, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour: what was asked for, else a terminal without ``NO_COLOR`` and ``TERM=dumb``."""
    if choice != "auto":
        return choice == "always"
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb" and is_terminal(stream)


def visible(text: str) -> str:
    """``text`` with control and direction characters escaped, so that a program's output cannot command a terminal."""
    return _UNSAFE.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", text)


def harmless(text: str) -> str:
    """``visible``, except that the colours of ``paint`` stay: for text that is put together already."""
    if text.isascii() and text.isprintable():
        return text
    return _OWN_OR_UNSAFE.sub(lambda match: match[0] if len(match[0]) > 1 else visible(match[0]), text)


def escaped_json(data: bytes) -> bytes:
    """JSON text with the characters that ``visible`` escapes written as JSON escapes: the same document."""
    if data.isascii() and b"\x7f" not in data:
        return data
    text = data.decode("utf-8", "backslashreplace")
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def paint(text: str, style: str, *, color: bool) -> str:
    """``text`` in the colour of a status or style, where colours are wanted."""
    code = _CODES.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if color and code else text


def out(data: bytes | str | Iterator[bytes]) -> None:
    """Write to stdout, whole; a reader that has gone ends the output quietly and lets the exit status stand.

    Pieces are written as they come; none ends within a character.

    Text is for people: what would command a terminal is escaped wherever it goes. Bytes are for programs and exact,
    except on a terminal, which nothing may command.

    Raises OutputFault where a full disk, or another failure of the system, keeps the output from being written.
    """
    if isinstance(data, Iterator):
        for piece in data:
            out(piece)
        return
    if isinstance(data, str):
        data = harmless(data).encode("utf-8", "backslashreplace")
    elif is_terminal(sys.stdout):
        data = harmless(data.decode("utf-8", "backslashreplace")).encode()
    write(sys.stdout, data)


def flush_out() -> None:
    """Write what others have left in stdout's buffer; as ``out``."""
    write(sys.stdout, b"")


def say(text: str) -> None:
    """Write a line for people to stderr; where it cannot be written, nobody is there to be told."""
    try:
        write(sys.stderr, harmless(text).encode("utf-8", "backslashreplace") + b"\n")
    except OutputFault:
        return


def explain(message: str, help: str | None) -> None:
    """Say what is wrong to stderr, and what can be done about it."""
    say(f"akm-run: {visible(message)}")
    if help:
        say(f"  help: {visible(help)}")


def read_input(name: str, most: int) -> bytes:
    """The file ``name``, ``-`` for stdin, or its first ``most`` bytes. Raises OSError."""
    if name == "-":
        return read_stdin(most)
    with Path(name).open("rb", buffering=0) as file:
        return b"".join(pieces(file, most))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether ``stream`` is open and a terminal; it is ``None`` in a process that was started without it."""
    return stream is not None and not stream.closed and stream.isatty()


def write(stream: TextIO | None, data: bytes) -> None:
    """Write ``data`` after what ``stream`` has buffered; nothing where the stream is closed."""
    if stream is None or stream.closed:
        return
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except OSError as error:
        gone = error.errno in _READER_GONE or (error.errno == errno.EIO and _is_device(stream))
        mute(stream)
        if not gone:
            raise OutputFault(f"cannot write to standard output: {error.strerror}") from error


def _is_device(stream: TextIO) -> bool:
    """Whether ``stream`` is a character device: a terminal that was closed is no terminal any more, and says EIO."""
    return stat.S_ISCHR(os.fstat(stream.fileno()).st_mode)


def mute(stream: TextIO | None) -> None:
    """Send what is still buffered nowhere, so that the interpreter's shutdown does not report the failure again."""
    if stream is None or stream.closed:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def listed(names: Iterable[str]) -> str:
    """Alternatives, sorted and separated by commas; ``(none)`` for an empty list."""
    return ", ".join(sorted(names)) or "(none)"
