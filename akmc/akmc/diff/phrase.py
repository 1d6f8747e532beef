"""Messages that know which of their pieces are argument vectors: Markdown shows those as code, and nothing else."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

_CLIPPED: Final = 200

Piece: TypeAlias = "str | Phrase"


class Phrase(Struct, frozen=True):
    """``code`` holds the ``[start, end)`` code points of ``text`` that are argument vectors, backticks around them
    included; user text may have backticks of its own, so that they cannot be told by looking."""

    text: str
    code: tuple[tuple[int, int], ...] = ()


def phrase(*pieces: Piece) -> Phrase:
    """All pieces in a row."""
    text, code = "", list[tuple[int, int]]()
    for piece in pieces:
        part = Phrase(piece) if isinstance(piece, str) else piece
        code += [(start + len(text), end + len(text)) for start, end in part.code]
        text += part.text
    return Phrase(text, tuple(code))


def listed_phrases(pieces: Iterable[Piece]) -> Phrase:
    """All pieces, a comma between two."""
    return phrase(*[part for piece in pieces for part in (", ", piece)][1:])


def command_line(words: Sequence[str]) -> Phrase:
    """An argument vector for a message, clipped; between backticks, or between quotes when backticks are inside."""
    text = shlex.join(words)
    text = text if len(text) <= _CLIPPED else text[: _CLIPPED - 3] + "..."
    if "`" in text:
        return Phrase(f'"{text}"')
    return Phrase(f"`{text}`", ((0, len(text) + 2),))
