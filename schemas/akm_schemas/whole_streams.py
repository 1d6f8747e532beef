"""Standard streams that write all they are given and read to the end, for both programs."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


_PIECE_BYTES: Final = 1 << 20


class _Whole(io.FileIO):
    """A descriptor that waits until it takes something: a pipe may have been opened so that it takes nothing at times."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write some of ``data``, at least one byte; returns how many. Raises OSError."""
        taken: int | None = super().write(data)
        while taken is None:
            from select import select  # never needed where somebody reads in time

            select((), (self,), ())
            taken = super().write(data)
        return taken


def whole_streams() -> None:
    """Have all that this process prints, by whatever library, written whole or fail with an ``OSError``.

    With ``PYTHONUNBUFFERED`` the interpreter's own streams hand on what is left of a disk, and say nothing of the rest.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, io.TextIOWrapper):  # closed when the process was started
            continue
        if type(getattr(stream.buffer, "raw", stream.buffer)) is io.FileIO:  # Windows' consoles are none
            stream.flush()
            buffer = io.BufferedWriter(_Whole(stream.fileno(), "wb", closefd=False))
            lines = stream.line_buffering
            setattr(sys, name, io.TextIOWrapper(buffer, stream.encoding, stream.errors, line_buffering=lines))


def read_stdin(most: int) -> bytes:
    """Standard input to its end, or its first ``most`` bytes; nothing where it is closed. Raises OSError."""
    return b"".join(stdin_pieces(most))


def stdin_pieces(most: int = sys.maxsize) -> Iterator[bytes]:
    """As ``read_stdin``, as it comes."""
    stream = sys.stdin
    if stream is not None and not stream.closed:
        buffer: Any = stream.buffer
        yield from pieces(getattr(buffer, "raw", buffer), most)


def pieces(raw: io.RawIOBase, most: int) -> Iterator[bytes]:
    """What is left in ``raw``, or the first ``most`` bytes of that. Raises OSError.

    A pipe may have been opened so that it has nothing at times, which is not its end: it is waited for.
    """
    while most > 0:
        piece = raw.read(min(most, _PIECE_BYTES))
        if piece is None:
            from select import select  # never needed where somebody writes in time

            select((raw,), (), ())
        elif piece:
            most -= len(piece)
            yield piece
        else:
            return
