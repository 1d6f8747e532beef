"""Ctrl-C, SIGTERM and a closed terminal, at every moment of ``akm-run PLAN``.

Until a run is published a signal ends the command by KeyboardInterrupt, wherever it waits. From then on it is noted and
handed to the driver as soon as there is one, so that the document of the run is printed whatever happens.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_ends_here = False


def process_ends_here() -> None:
    """This process does one command and ends: once there is a run, its document and status stand whatever comes later."""
    global _ends_here
    _ends_here = True


class Interrupts:
    """The handlers for the time of a ``with`` block; main thread only."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._holding = False
        self._noted: int | None = None
        self._driver: Callable[[int], None] | None = None

    def __enter__(self) -> Interrupts:
        """Take the signals. A hangup that was ignored (``nohup``) stays so."""
        hangup = (signal.SIGHUP,) if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL else ()
        for number in (*SIGNALS, *hangup):
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the signals back, unless there is a run and nobody who would want them."""
        if self._holding and _ends_here:
            return
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def hold(self) -> None:
        """Raise nothing from now on: there is a run, or there will be in a moment."""
        self._holding = True

    def hand_to(self, interrupt: Callable[[int], None]) -> None:
        """Tell the driver about signals from now on, and about one that was noted."""
        self._driver = interrupt
        if self._noted is not None:
            interrupt(self._noted)

    def take_back(self) -> None:
        """The driver has ended, and nothing of it is kept; signals are noted again."""
        self._driver = None

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self._driver is not None:
            self._driver(number)
        elif self._holding:
            self._noted = number
        else:
            raise KeyboardInterrupt
