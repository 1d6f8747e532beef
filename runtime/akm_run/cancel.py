"""Cancellation that threads can poll and select on."""

from __future__ import annotations

import os


class Cancellation:
    """Set once, from any thread or a signal handler; ``fileno`` is readable from then on."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        self._set = False

    def set(self) -> None:
        """Ask everything that runs to stop."""
        if not self._set:
            self._set = True
            os.write(self._writer, b"x")  # never read: the descriptor stays readable for everyone

    def is_set(self) -> bool:
        """Whether ``set`` was called."""
        return self._set

    def fileno(self) -> int:
        """The descriptor to select on."""
        return self._reader

    def close(self) -> None:
        """Give the descriptors back; nothing may use them any more."""
        os.close(self._reader)
        os.close(self._writer)
