"""Counts in words, for the messages of both programs."""

from __future__ import annotations


def counted(count: int, noun: str, many: str | None = None) -> str:
    """``1 step``, ``0 steps``, ``2 steps``; ``many`` is the plural that is not ``noun`` with an ``s``."""
    return f"{count} {worded(count, noun, many)}"


def worded(count: int, noun: str, many: str | None = None) -> str:
    """The noun alone, as it stands behind ``count``."""
    return noun if count == 1 else many or f"{noun}s"
