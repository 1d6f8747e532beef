"""The nearest spelling, for messages of both programs.

A comparison takes some ten microseconds, and one source may hold ten thousand words that nobody knows: so comparisons
have a budget, which is new for each source. A word beyond it is reported like one that nothing is close to.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_BUDGET: Final = 10_000
_spent = 0


def renew_budget() -> None:
    """Compare as much again; called where the analysis of a source begins."""
    global _spent
    _spent = 0


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one known spelling that is close to ``word``, or ``None``; ties go to the alphabetically first."""
    global _spent
    candidates = sorted(known)
    _spent += len(candidates)
    if _spent > _BUDGET:
        return None
    lowered = {name.lower(): name for name in reversed(candidates)}
    if word.lower() in lowered:
        return lowered[word.lower()]
    import difflib  # on use: most commands compare no spellings

    found = difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)
    return found[0] if found else None
