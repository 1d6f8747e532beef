"""The two output streams of a command.

Standard output carries what was asked for, standard error everything else. Both are written as UTF-8 whatever the
locale says, so that a machine format has the same bytes everywhere, and both go quiet when their reader has left:
a closed pipe changes no exit status and prints nothing, not even when the interpreter flushes at its end.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import Final, Literal, NoReturn, TextIO, TypeAlias

from akm_schemas import whole_streams
from akmc.faults import FOUND, CommandFault

ColorChoice: TypeAlias = Literal["auto", "always", "never"]

_choice: ColorChoice = "auto"
_reader_left = False
_LONGEST: Final = 4000


def choose_color(choice: ColorChoice) -> None:
    """Remember what ``--color`` said."""
    global _choice
    _choice = choice


def wants_color(stream: TextIO | None) -> bool:
    """Whether ``stream`` gets colours: ``--color``, then ``NO_COLOR`` (no-color.org), then whether it is a terminal."""
    if _choice != "auto":
        return _choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(stream)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether ``stream`` is open and a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def out(text: str) -> None:
    """Write ``text`` to standard output as it is (no newline is added)."""
    out_bytes(text.encode("utf-8", "backslashreplace"))


def reader_left() -> bool:
    """Whether somebody closed the other end of standard output."""
    return _reader_left


def out_bytes(data: bytes) -> None:
    """Write ``data`` to standard output."""
    _write(sys.stdout, data, "standard output")


def err(line: str) -> None:
    """Write one line, or a few, to standard error; a stream that cannot be written is no reason to fail.

    What is longer than any message of ours quotes a name of absurd length, and is cut.
    """
    if len(line) > _LONGEST:
        line = "\n".join(part if len(part) <= _LONGEST else f"{part[:_LONGEST]} ..." for part in line.split("\n"))
    try:
        _write(sys.stderr, (line + "\n").encode("utf-8", "backslashreplace"), "standard error")
    except CommandFault:
        _silence(sys.stderr)


def _write(stream: TextIO | None, data: bytes, name: str) -> None:
    if stream is None or stream.closed:
        return
    if is_terminal(stream):
        from akmc.render.terminal import harmless

        data = harmless(data)
    try:
        buffer = getattr(stream, "buffer", None)
        if buffer is None:
            stream.write(data.decode())
        else:
            stream.flush()
            buffer.write(data)
        stream.flush()
    except OSError as error:
        global _reader_left
        _reader_left = _reader_left or stream is sys.stdout
        _silence(stream)
        if error.errno not in (errno.EPIPE, errno.EINVAL, errno.ESHUTDOWN):  # Windows says EINVAL for a closed pipe
            raise CommandFault(f"cannot write to {name}: {error.strerror or error}", status=FOUND) from error


def _silence(stream: TextIO | None) -> None:
    """Point the stream's descriptor at the null device, so that neither we nor the interpreter's exit write again."""
    try:
        descriptor = stream.fileno() if stream is not None else -1
        null = os.open(os.devnull, os.O_WRONLY)
    except (OSError, ValueError):  # a stream without a descriptor (tests), or none left to open
        return
    os.dup2(null, descriptor)
    os.close(null)


def leave(status: int) -> NoReturn:
    """End the process with ``status`` at once, what was written before flushed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):  # the reader left, or the stream is closed: nobody is there to be told
            continue
    os._exit(status)


def read_stdin() -> bytes:
    """All of standard input (``b""`` when it is closed); raises CommandFault when it cannot be read, or has no end."""
    from akm_schemas.bounds import READ_BYTES

    try:
        data = whole_streams.read_stdin(READ_BYTES.high + 1)
    except OSError as error:
        raise CommandFault(f'cannot read "-": {error.strerror or error}', help="send it text through a pipe") from error
    if not READ_BYTES.holds(len(data)):
        raise CommandFault(
            f'cannot read "-": it is longer than {READ_BYTES.high} bytes', help="is it a workflow or a plan?"
        )
    return data
