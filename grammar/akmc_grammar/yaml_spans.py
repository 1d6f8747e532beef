"""Marks of the YAML parser to spans of the file.

The parsers begin a node at its anchor or tag and end a block text where the next token begins; a span is what a
reader would underline: the value itself.
"""

from __future__ import annotations

import re
from typing import Final

from akmc_grammar.places import Span
from akmc_grammar.yaml_events import Event, Mark

_PROPERTIES: Final = r"(?:[&!][^\s,\[\]{}]*(?:\s+(?:#[^\n]*\n\s*)*)?)+"
_TAG: Final = r"!<[^>\s]*>?|![^\s,\[\]{}]*"
_ANCHOR: Final = r"&[^\s,\[\]{}]*"
_SHOWN: Final = 40


def shown(text: str) -> str:
    """``text`` short enough for a message."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def block_end(lines: list[str], first: int, last: int, column: int) -> tuple[int, int]:
    """Line and column behind the last line that is not blank of a block text, which a parser ends with the next token.

    ``first`` is the line on which it begins; everything counts from 0, columns in code points.
    """
    if last <= first:
        return last, column
    line = min(last if column else last - 1, len(lines) - 1)
    while line > first and not lines[line].strip():
        line -= 1
    return line, len(lines[line])


class Spans:
    """Spans of one text, whose first line is the file's line ``first_line``."""

    def __init__(self, text: str, first_line: int) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._first_line = first_line

    def span(self, start: Mark, end: Mark) -> Span:
        """From ``start`` to ``end``, both within the text (libyaml closes it with a line end of its own)."""
        first, count = self._first_line, len(self._lines)
        if end.line >= count:
            end = Mark(count - 1, len(self._lines[-1]), end.offset)
            start = start if start.line < count else end
        return Span(start.line + first, start.column + 1, end.line + first, end.column + 1)

    def scalar(self, event: Event, start: Mark) -> Span:
        """A scalar from ``start`` on; a block text ends with its last line that is not blank."""
        end = event.end
        if event.style in ("|", ">"):
            end = Mark(*block_end(self._lines, start.line, end.line, end.column), end.offset)
        return self.span(start, end)

    def cover(self, start: Mark, end: Mark, tail: Span | None) -> Span:
        """A collection from ``start`` on: to the end of ``tail``, its last node in block style, else to ``end``."""
        span = self.span(start, end)
        if tail is None or (tail.end_line, tail.end_column) < (span.line, span.column):
            return span
        return Span(span.line, span.column, tail.end_line, tail.end_column)

    @staticmethod
    def is_late(value: Span, key: Span) -> bool:
        """Whether an empty value stands on a later line than its key, as the parsers say at the end of the text."""
        return (value.line, value.column) == (value.end_line, value.end_column) and value.line != key.end_line

    def behind_colon(self, key: Span) -> Span:
        """The empty span behind the colon of ``key``."""
        width = len(self._lines[key.end_line - self._first_line])
        column = min(key.end_column + 1, width + 1)
        return Span(key.end_line, column, key.end_line, column)

    def content_start(self, event: Event) -> Mark:
        """Where the node begins behind its anchor and tag."""
        if event.anchor is None and event.tag is None:
            return event.start
        match = re.compile(_PROPERTIES).match(self._text, event.start.offset)
        if match is None or (event.kind == "scalar" and match.end() >= event.end.offset):
            return event.start
        return self._mark(match.end(), event.start)

    def anchor(self, event: Event) -> Span:
        """The anchor of ``event``."""
        return self._property(event, _ANCHOR)[0]

    def tag(self, event: Event) -> tuple[Span, str]:
        """The tag of ``event`` and how it is written."""
        return self._property(event, _TAG)

    def _property(self, event: Event, pattern: str) -> tuple[Span, str]:
        match = re.compile(pattern).search(self._text, event.start.offset)
        if match is None:
            return self.span(event.start, event.start), ""
        start, end = self._mark(match.start(), event.start), self._mark(match.end(), event.start)
        return self.span(start, end), match[0]

    def _mark(self, offset: int, near: Mark) -> Mark:
        """The mark of ``offset``, which is not before ``near``."""
        breaks = self._text.count("\n", near.offset, offset)
        if not breaks:
            return Mark(near.line, near.column + offset - near.offset, offset)
        return Mark(near.line + breaks, offset - self._text.rfind("\n", near.offset, offset) - 1, offset)
