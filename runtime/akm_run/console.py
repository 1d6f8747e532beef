"""Writing to people and to pipes: colour, control characters, closed pipes."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, TextIO, TypeAlias

from akm_run.faults import OutputFault
from akm_schemas.visible import visible, visible_json, visible_rows
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
# the colours that ``paint`` writes
_OWN: Final = re.compile(f"(\x1b\\[(?:0|{'|'.join(sorted(set(_CODES.values())))})m)")
# What CI takes for a command in a log: ``::error::`` after blanks, and ``##[error]``, ``##vso[...]`` anywhere in a line.
_CI_COLONS: Final = r"(?m)^([^\S\n]*):(?=:)"
_CI_BRACKET: Final = r"(##[A-Za-z]*)\["


def wants_color(choice: Color, stream: TextIO | None, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour: what was asked for, else a terminal without ``NO_COLOR`` and ``TERM=dumb``."""
    if choice != "auto":
        return choice == "always"
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb" and is_terminal(stream)


def one_line(text: str) -> str:
    """``visible``, except that the colours of ``paint`` stay: for a line that is put together already."""
    if text.isprintable():
        return text
    pieces = _OWN.split(text)
    pieces[::2] = map(visible, pieces[::2])  # every second one is a colour
    return "".join(pieces)


def joined(lines: Iterable[str]) -> str:
    """``lines`` as text; a line break that something of others has brought into one of them is escaped."""
    return "".join(f"{one_line(line)}\n" for line in lines)


def barred(text: str, indent: str) -> list[str]:
    """The lines of a text of others, each behind a bar, so that none of them can look like a line of ours."""
    return [f"{indent}| {row}".rstrip() for row in visible_rows(text.removesuffix("\n").removesuffix("\r"))]


def harmless(text: str) -> str:
    """``text`` of several lines with all escaped that would command a terminal, but the colours of ``paint``."""
    return "\n".join("\t".join(map(one_line, line.split("\t"))) for line in text.split("\n"))


def _no_ci_command(text: str) -> str:
    """``text`` without a line that CI, which reads the output of its jobs, would take for a command."""
    if "::" not in text and "##" not in text:
        return text
    return re.sub(_CI_BRACKET, r"\1\\x5b", re.sub(_CI_COLONS, r"\1\\x3a", text))


def escaped_json(data: bytes) -> bytes:
    """JSON text with the characters that ``visible`` escapes written as JSON escapes: the same document.

    The brackets of ``##[`` and the like are escaped too, for logs of CI."""
    if data.isascii() and b"\x7f" not in data and b"##" not in data:
        return data
    text = visible_json(data.decode("utf-8", "backslashreplace"))
    return re.sub(_CI_BRACKET, r"\1\\u005b", text).encode()  # no line of JSON begins with a colon


def paint(text: str, style: str, *, color: bool) -> str:
    """``text`` in the colour of a status or style, where colours are wanted."""
    code = _CODES.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if color and code else text


def out(data: bytes | str | Iterator[bytes]) -> None:
    """Write to stdout, whole; a reader that has gone ends the output quietly and lets the exit status stand.

    Pieces are written as they come; none ends within a character.

    Text is for people: what would command a terminal, or CI that reads a log, is escaped wherever it goes. Bytes are for
    programs and exact, except on a terminal, which nothing may command.

    Raises OutputFault where a full disk, or another failure of the system, keeps the output from being written.
    """
    if isinstance(data, Iterator):
        for piece in data:
            out(piece)
        return
    if isinstance(data, str):
        data = _no_ci_command(harmless(data)).encode("utf-8", "backslashreplace")
    elif is_terminal(sys.stdout):
        data = harmless(data.decode("utf-8", "backslashreplace")).encode()
    write(sys.stdout, data)


def flush_out() -> None:
    """Write what others have left in stdout's buffer; as ``out``."""
    write(sys.stdout, b"")


def say(*lines: str) -> None:
    """Write lines for people to stderr; where they cannot be written, nobody is there to be told."""
    try:
        write(sys.stderr, _no_ci_command(joined(lines)).encode("utf-8", "backslashreplace"))
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
    with open(name, "rb", buffering=0) as file:  # noqa: PTH123 - pathlib takes 5 ms to import, and --help needs none
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
            raise OutputFault(f"cannot write to standard output: {error.strerror or error}") from error


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
