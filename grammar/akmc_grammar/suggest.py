"""Help lines and lists for messages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from akm_schemas.spelling import nearest

_LONGEST: Final = 128  # characters of a name
_ROOM: Final = 1000  # characters of a list


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A help line for a misspelt ``word``, or ``None``."""
    found = nearest(word, known)
    return None if found is None else f'did you mean "{found}"?'


def listed(names: Iterable[str]) -> str:
    """Alternatives, sorted and quoted: ``"a", "b"``; ``(none)`` for an empty list.

    Long names are cut, and what no reader would go through is counted: a source may declare 256 names, and read ten
    thousand others.
    """
    return _listed(tuple(names))


@lru_cache(maxsize=64)
def _listed(names: tuple[str, ...]) -> str:
    words: list[str] = []
    room = _ROOM
    for name in sorted(names):
        words.append(f'"{name}"' if len(name) <= _LONGEST else f'"{name[: _LONGEST - 3]}..."')
        room -= len(words[-1])
        if room < 0 and len(words) < len(names):
            return f"{', '.join(words)} and {len(names) - len(words)} more"
    return ", ".join(words) or "(none)"
