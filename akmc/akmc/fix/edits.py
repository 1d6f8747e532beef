"""Edits given in lines and columns of the normalised text, applied to the bytes of the file.

What no edit names stays as it is: byte order mark, line ends, comments, odd blanks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from akmc.render.finding import FoundFix
from akmc_grammar.places import Span
from akmc_grammar.source import SourceText

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Replacement:
    """Replace bytes ``start`` to ``end`` (exclusive) by ``data``."""

    start: int
    end: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Mended:
    """The new bytes, and how many fixes went into them."""

    raw: bytes
    applied: int


class RawLines:
    """Maps lines and columns of ``SourceText.text`` to byte offsets of ``SourceText.raw``."""

    def __init__(self, source: SourceText) -> None:
        self.raw = source.raw
        self.lines = source.lines
        self.starts = [len(_BOM) if source.raw.startswith(_BOM) else 0]
        position = source.raw.find(b"\n")
        while position >= 0:
            self.starts.append(position + 1)
            position = source.raw.find(b"\n", position + 1)

    def offset(self, line: int, column: int) -> int | None:
        """The byte offset of a place (both from 1), ``None`` where the text has no such place.

        A column just after the line's last character is before its CR LF.
        """
        if not 1 <= line <= len(self.lines):
            return None
        text = self.lines[line - 1]
        if not 1 <= column <= len(text) + 1:
            return None
        return self.starts[line - 1] + len(text[: column - 1].encode())

    def newline(self, line: int) -> bytes:
        """The line end that new lines written at ``line`` get: that of the line itself."""
        end = self.starts[line] if line < len(self.starts) else self.starts[-1]
        return b"\r\n" if self.raw[:end].endswith(b"\r\n") else b"\n"


def mend(source: SourceText, fixes: Iterable[FoundFix]) -> Mended:
    """Apply the safe fixes that do not overlap; one that overlaps an earlier one is left for the next round.

    A fix is applied whole or not at all. Fixes that would change nothing are skipped.
    """
    lines = RawLines(source)
    chosen: list[Replacement] = []
    applied = 0
    for fix in fixes:
        replacements = _replacements(lines, fix)
        if not fix.safe or not replacements or _collide([*chosen, *replacements]):
            continue
        chosen += replacements
        applied += 1
    raw = source.raw
    for item in sorted(chosen, key=lambda item: item.start, reverse=True):
        raw = raw[: item.start] + item.data + raw[item.end :]
    return Mended(raw, applied)


def _replacements(lines: RawLines, fix: FoundFix) -> list[Replacement]:
    found: list[Replacement] = []
    for edit in fix.edits:
        replacement = _replacement(lines, edit.span, edit.text)
        if replacement is None:
            return []
        found.append(replacement)
    return found if any(lines.raw[item.start : item.end] != item.data for item in found) else []


def _replacement(lines: RawLines, span: Span, text: str) -> Replacement | None:
    start = lines.offset(span.line, span.column)
    end = lines.offset(span.end_line, span.end_column)
    if start is None or end is None or end < start:
        return None
    return Replacement(start, end, text.encode().replace(b"\n", lines.newline(span.line)))


def _collide(replacements: list[Replacement]) -> bool:
    """Whether two of them share a byte, or insert at the same place."""
    ordered = sorted(replacements, key=lambda item: (item.start, item.end))
    return any(later.start < earlier.end or later.start == earlier.start for earlier, later in pairwise(ordered))
