"""Text for drawings: made visible, measured in cells, wrapped, escaped for XML."""

from __future__ import annotations

import unicodedata
from html import escape
from typing import Final

from akm_schemas.visible import visible

ELLIPSIS: Final = "…"


def xml(text: str) -> str:
    """``text`` as XML or HTML character data, or as a quoted attribute's value."""
    return escape(visible(text))


def cells(text: str) -> int:
    """Columns that ``text`` takes in a fixed-width font (UAX 11: wide characters take two, combining ones none)."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clip(text: str, width: int) -> str:
    """The visible ``text``, cut to ``width`` cells with an ellipsis."""
    shown = visible(text[: 2 * width])
    if len(text) <= 2 * width and cells(shown) <= width:
        return shown
    return _fitting(shown, width - 1) + ELLIPSIS


def wrap(text: str, width: int, rows: int) -> tuple[str, ...]:
    """The visible ``text`` in at most ``rows`` rows of ``width`` cells, broken at blanks where that is possible."""
    most = 2 * width * rows
    rest, cut = visible(text[:most]), len(text) > most
    found: list[str] = []
    while rest and len(found) < rows:
        row = rest if cells(rest) <= width else _fitting(rest, width)
        if row != rest and not rest[len(row)].isspace() and " " in row[width // 2 :]:
            row = row[: row.rindex(" ")]
        found.append(row.rstrip())
        rest = rest[len(row) :].lstrip()
    if found and (rest or cut):
        found[-1] = _fitting(found[-1], width - 1) + ELLIPSIS
    return tuple(found)


def _fitting(text: str, width: int) -> str:
    """The longest start of ``text`` that fits; at least one character, so that wrapping ends."""
    if text.isascii():
        return text[: max(1, width)]
    total = 0
    for index, char in enumerate(text):
        total += _width(char)
        if total > width:
            return text[: max(1, index)]
    return text
