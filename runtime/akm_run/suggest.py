"""The nearest spelling, for messages."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one known spelling that is close to ``word``, or ``None``; ties go to the alphabetically first."""
    import difflib

    candidates = sorted(known)
    lowered = {name.lower(): name for name in reversed(candidates)}
    if word.lower() in lowered:
        return lowered[word.lower()]
    found = difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)
    return found[0] if found else None


def listed(names: Iterable[str]) -> str:
    """Alternatives, sorted and separated by commas; ``(none)`` for an empty list."""
    return ", ".join(sorted(names)) or "(none)"
