"""Standard streams that write all they are given, for both programs."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


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
