"""The nearest spelling, and lists for messages."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one known spelling that is close to ``word``, or ``None``; ties go to the alphabetically first."""
    candidates = sorted(known)
    lowered = {name.lower(): name for name in reversed(candidates)}
    if word.lower() in lowered:
        return lowered[word.lower()]
    import difflib  # on use: most checks compare no spellings

    found = difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A help line for a misspelt ``word``, or ``None``."""
    found = nearest(word, known)
    return None if found is None else f'did you mean "{found}"?'


def listed(names: Iterable[str]) -> str:
    """Alternatives, sorted and quoted: ``"a", "b"``; ``(none)`` for an empty list."""
    return ", ".join(f'"{name}"' for name in sorted(names)) or "(none)"
