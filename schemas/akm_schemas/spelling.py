"""The nearest spelling, for messages of both programs."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one known spelling that is close to ``word``, or ``None``; ties go to the alphabetically first."""
    candidates = sorted(known)
    lowered = {name.lower(): name for name in reversed(candidates)}
    if word.lower() in lowered:
        return lowered[word.lower()]
    import difflib  # on use: most commands compare no spellings

    found = difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)
    return found[0] if found else None
