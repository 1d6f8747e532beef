"""A source line with carets under a span, aligned whatever the line holds.

Tabs become blanks up to the next stop, wide characters count two columns, combining marks none, and hidden characters
are shown escaped; the carets follow. A line longer than the window is cut around the carets.
"""

from __future__ import annotations

import unicodedata

from msgspec import Struct

from akmc.render.escape import shown
from akmc_grammar.places import Span

TAB = 4
WINDOW = 120
ELLIPSIS = "..."


class Snippet(Struct, frozen=True):
    """``text`` as shown, and the carets' ``start`` and ``width`` in terminal columns (from 0, at least one wide)."""

    text: str
    start: int
    width: int


def snippet(line: str, span: Span) -> Snippet:
    """The first line of ``span`` as shown; a span over several lines is marked to the line's end."""
    first = min(span.column - 1, len(line))
    last = len(line) if span.end_line > span.line else min(max(span.end_column - 1, first), len(line))
    lead, marked, tail = line[:first], line[first:last], line[last:]
    if len(line) > WINDOW:
        lead, marked, tail = _cut(lead, marked, tail)
    before, start = _expand(lead, 0)
    middle, end = _expand(marked, start)
    after, _ = _expand(tail, end)
    return Snippet(before + middle + after, start, max(end - start, 1))


def _cut(lead: str, marked: str, tail: str) -> tuple[str, str, str]:
    marked_kept = marked if len(marked) <= WINDOW else marked[:WINDOW]
    cut_short = len(marked_kept) < len(marked)
    room = max(WINDOW - len(marked_kept), 20) // 2
    lead = lead if len(lead) <= room else ELLIPSIS + lead[-room:]
    tail = ELLIPSIS if cut_short else tail if len(tail) <= room else tail[:room] + ELLIPSIS
    return lead, marked_kept, tail


def _expand(text: str, column: int) -> tuple[str, int]:
    """``text`` as shown from terminal ``column`` on, and the column after it."""
    if text.isascii() and text.isprintable():
        return text, column + len(text)
    parts: list[str] = []
    for char in text:
        piece = " " * (TAB - column % TAB) if char == "\t" else shown(char)
        parts.append(piece)
        column += len(piece) if len(piece) > 1 else char_width(piece)
    return "".join(parts), column


def char_width(char: str) -> int:
    """Terminal columns of one shown character: 0, 1 or 2 (Unicode East Asian Width, UAX 11)."""
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
