"""A line on the terminal while a check takes longer than a second."""

from __future__ import annotations

import sys
import time

from akmc.console import is_terminal

PATIENCE_S = 1.0
INTERVAL_S = 0.1


class Progress:
    """Writes ``checking 12/300 path`` to standard error, over itself; nothing where that is no terminal."""

    def __init__(self) -> None:
        self._next = time.monotonic() + PATIENCE_S
        self._width = 0
        self._active = is_terminal(sys.stderr)

    def __call__(self, done: int, total: int, path: str) -> None:
        """Say where the check is, at most ten times a second."""
        if not self._active or time.monotonic() < self._next:
            return
        from akmc.render.escape import visible

        self._next = time.monotonic() + INTERVAL_S
        self._show(f"checking {done + 1}/{total} {visible(path)}"[:79])

    def close(self) -> None:
        """Take the line away."""
        if self._width:
            self._show("")
            self._show("", end="\r")

    def _show(self, text: str, end: str = "") -> None:
        padded = text.ljust(self._width)
        self._width = len(text)
        try:
            sys.stderr.write("\r" + padded + end)
            sys.stderr.flush()
        except OSError:  # the terminal is gone; the check goes on without it
            self._active = False
