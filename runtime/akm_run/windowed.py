"""Bytes too many to hold, of which a window is in memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, overload

from akm_schemas.bounds import KIB

WINDOW_BYTES: Final = 256 * KIB


class Windowed:
    """``len`` bytes that ``read(start, stop)`` gives, in the way of ``bytes``: for going through them once, forward.

    One window of ``WINDOW_BYTES`` is kept; what lies outside it is read when it is asked for. Offsets are never negative.
    A byte beyond the end raises IndexError.
    """

    def __init__(self, size: int, read: Callable[[int, int], bytes]) -> None:
        self._size = size
        self._read = read
        self._window = b""
        self._start = 0

    @classmethod
    def of(cls, data: bytes) -> Windowed:
        """``data``, which are in memory as it is."""
        return cls(len(data), lambda start, stop: data[start:stop])

    def part(self, start: int, stop: int) -> Windowed:
        """The bytes from ``start`` to ``stop``, counted from 0."""
        return Windowed(stop - start, lambda at, end: self._read(start + at, start + end))

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> bytes: ...
    def __getitem__(self, at: int | slice) -> int | bytes:
        if isinstance(at, slice):
            start, stop, _ = at.indices(self._size)
            if start >= self._start and stop <= self._start + len(self._window):
                return self._window[start - self._start : stop - self._start]
            return self._read(start, stop) if start < stop else b""
        inside = self._at(at)
        return self._window[inside]

    def find(self, mark: bytes, at: int, end: int) -> int:
        """Where the byte ``mark`` comes next, -1 where it does not before ``end``."""
        while at < end:
            inside = self._at(at)
            found = self._window.find(mark, inside, end - self._start)
            if found >= 0:
                return self._start + found
            at = self._start + len(self._window)
        return -1

    def match(self, pattern: re.Pattern[bytes], at: int, end: int) -> int | None:
        """Where the match of ``pattern`` that begins at ``at`` ends, no later than ``end`` or the end of a window.

        So ``pattern`` has to be one that can go on from where it was cut off.
        """
        inside = self._at(at)
        matched = pattern.match(self._window, inside, end - self._start)
        return None if matched is None else self._start + matched.end()

    def _at(self, at: int) -> int:
        """The index of ``at`` in the window, which is moved there first when it lies outside.

        A step back moves it by half its length, for more may follow.
        """
        if not self._start <= at < self._start + len(self._window):
            self._start = at if at >= self._start else max(0, at - WINDOW_BYTES // 2)
            self._window = self._read(self._start, min(self._start + WINDOW_BYTES, self._size))
        return at - self._start
