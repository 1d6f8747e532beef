"""HTML comments within one line of prose.

Everything here takes time linear in the line, whatever stands in it.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

_BACKTICKS: Final = re.compile("`+")
_ALLOW_LINE: Final = (
    r"(?s)[ \t]*<!--[ \t]*akm:[ \t]*allow\[[^\]]*\](?:(?!-->).)*-->[ \t]*"  # compiled on use, for it is rare
)


class Comment(Struct, frozen=True):
    """A one-line HTML comment that is no code; line and columns from 0."""

    line: int
    start: int
    text: str


def is_allow_line(line: str) -> bool:
    """Whether the whole line is one ``<!-- akm: allow[...] -->`` comment."""
    return re.fullmatch(_ALLOW_LINE, line) is not None


def find_comments(number: int, line: str) -> list[Comment]:
    """The comments of ``line``, which is line ``number``, outside code spans."""
    visible = _without_code_spans(line) if "`" in line else line
    found = []
    start = visible.find("<!--")
    while start >= 0:
        end = visible.find("-->", start + 4)
        if end < 0:
            break
        found.append(Comment(number, start, line[start : end + 3]))
        start = visible.find("<!--", end + 3)
    return found


def _without_code_spans(line: str) -> str:
    """``line`` with its code spans blanked out, of the same length."""
    runs = list(_BACKTICKS.finditer(line))
    closers: dict[int, int] = {}
    closed_by: dict[int, int] = {}
    for position in range(len(runs) - 1, -1, -1):
        width = runs[position].end() - runs[position].start()
        if width in closers:
            closed_by[position] = closers[width]
        closers[width] = position
    parts: list[str] = []
    position = copied = 0
    while position < len(runs):
        closer = closed_by.get(position)
        if closer is None:
            position += 1
            continue
        start, end = runs[position].start(), runs[closer].end()
        parts += (line[copied:start], " " * (end - start))
        position, copied = closer + 1, end
    return "".join([*parts, line[copied:]])
