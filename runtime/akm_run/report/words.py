"""Statuses in words, signs and tones; times and sizes as a person reads them. No meaning rests on colour alone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from html import escape
from typing import Final

from msgspec import Struct

from akm_run.journal.excerpts import Attempt
from akm_schemas.counting import worded
from akm_schemas.drawing import Tone

_TONES: Final[dict[str, Tone]] = {
    "completed": "good",
    "reused": "good",
    "failed": "bad",
    "blocked": "warn",
    "retried": "warn",
    "cancelled": "warn",
    "rejected": "warn",
    "stopped": "warn",
    "interrupted": "warn",
    "active": "busy",
    "running": "busy",
    "pending": "quiet",
    "skipped": "quiet",
}
_SIGNS: Final = {
    "completed": "✓",
    "reused": "⟲",
    "failed": "✕",
    "blocked": "■",
    "retried": "↻",
    "cancelled": "⊘",
    "rejected": "↩",
    "stopped": "‖",
    "interrupted": "⊘",
    "active": "▶",
    "running": "▶",
    "pending": "○",
    "skipped": "–",
}
ATTEMPT_WORDS: Final = ("completed", "reused", "failed", "retried", "cancelled", "interrupted", "running")


class Span(Struct, frozen=True):
    """When an attempt ran, in seconds since 1970; ``end`` is ``None`` while it runs."""

    start: float
    end: float | None


def tone(word: str) -> Tone:
    """The tone of a status."""
    return _TONES.get(word, "quiet")


def sign(word: str) -> str:
    """The sign of a status, one character."""
    return _SIGNS.get(word, "?")


def pill(word: str, more: str = "") -> str:
    """A status as HTML, with what follows it in the same frame (HTML too)."""
    return f'<span class="pill {tone(word)}"><span aria-hidden="true">{sign(word)}</span> {escape(word)}{more}</span>'


def attempt_word(attempt: Attempt, *, last: bool, alive: bool) -> str:
    """What became of an attempt. ``last``: no other follows at the same unit; ``alive``: the run is driven."""
    if attempt.status == "completed":
        return "completed" if attempt.reused_run is None else "reused"
    if attempt.status == "running":
        return "running" if alive else "interrupted"
    if attempt.reason == "aborted":
        return "cancelled"
    return "failed" if last else "retried"


def last_attempts(attempts: Iterable[Attempt]) -> frozenset[str]:
    """The ids of the attempts that no other follows at the same unit."""
    return frozenset({attempt.key: attempt.unit_id for attempt in attempts}.values())


def seconds_of(moment: str) -> float:
    """A moment of the journal in seconds since 1970."""
    return datetime.fromisoformat(moment).timestamp()


def span_of(attempt: Attempt) -> Span:
    """When an attempt ran; the wall clock may have been put back meanwhile, but no time is negative."""
    start = seconds_of(attempt.started_at)
    return Span(start, None if attempt.finished_at is None else max(start, seconds_of(attempt.finished_at)))


def when(moment: str) -> str:
    """``2026-03-01 12:00:00 UTC``."""
    return f"{moment[:19].replace('T', ' ')} UTC"


def lasting(seconds: float) -> str:
    """``850 ms``, ``4.2 s``, ``3 min 20 s``, ``2 h 5 min``, ``3 d 4 h``."""
    if seconds < 0.9995:
        return f"{round(1000 * seconds)} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for size, word, less, small in ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // less
            return f"{whole // size} {word}" + (f" {rest} {small}" if rest else "")
    return f"{whole} s"


def counted(number: int, word: str) -> str:
    """``1 unit``, ``12 345 units``, the thousands apart by a narrow space."""
    return f"{digits(number)} {worded(number, word)}"


def digits(number: int) -> str:
    """``12 345``, the thousands apart by a narrow space."""
    return f"{number:,}".replace(",", "\u202f")
