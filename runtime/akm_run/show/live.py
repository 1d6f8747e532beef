"""The live view on a terminal: the lines of ``Progress`` scroll by, and below them stands where the runs are."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TextIO, cast

from akm_run.clock import monotonic
from akm_run.console import is_terminal, mute, one_line
from akm_run.events import Event
from akm_run.show.board import Board
from akm_run.show.progress import Progress
from akm_run.underway import UnderWay

_PER_SECOND = 4


def can_show(stream: TextIO | None, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether ``stream`` is a terminal that can redraw lines, and the library for it is there."""
    return is_terminal(stream) and environment.get("TERM", "dumb") != "dumb" and find_spec("rich") is not None


class _Screen:
    """The terminal as ``rich`` writes to it; nothing is written any more once it was closed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """As the stream's."""
        try:
            return self._stream.write(text)
        except OSError:
            mute(self._stream)
            return len(text)

    def flush(self) -> None:
        """As the stream's."""
        try:
            self._stream.flush()
        except OSError:
            mute(self._stream)


class View:
    """What is drawn; ``rich`` asks for it several times a second, from a thread of its own."""

    def __init__(self) -> None:
        self._board = Board()
        self._begun = monotonic()
        self._lock = threading.Lock()

    def __call__(self, run: UnderWay, batch: Sequence[Event]) -> None:
        """Tell about a committed decision."""
        with self._lock:
            self._board.apply(run, batch)

    def __rich__(self) -> object:
        """The lines as they are now."""
        from rich.text import Text

        with self._lock:
            lines = list(self._board.lines(monotonic() - self._begun))
        return Text("\n".join(lines), overflow="ellipsis", no_wrap=True)


@contextmanager
def shown(progress: Progress, *, color: bool) -> Iterator[View]:
    """A view for the time of the block; the lines of ``progress`` are printed above it."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(file=cast(TextIO, _Screen(sys.stderr)), no_color=not color, highlight=False)
    view = View()
    with Live(
        view,  # type: ignore[arg-type]  # rich asks for __rich__, its types for its own union
        console=console,
        refresh_per_second=_PER_SECOND,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        progress.say = lambda text: console.print(Text.from_ansi(one_line(text)), soft_wrap=True)
        yield view
