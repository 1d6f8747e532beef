"""Old prose with the place of each of its lines, and where in it code stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from akmc_grammar.places import Span
from akmc_grammar.yaml_tree import Scalar

_FENCE = re.compile(
    r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)", re.DOTALL
)
_BACKTICKS = re.compile("`+")
_QUOTES = {"plain": 0, "single": 1, "double": 1}


@dataclass(frozen=True, slots=True)
class LineOrigin:
    """Where a line of prose stood: its old line and the column of its first character; ``exact`` when they are sure."""

    line: int
    column: int
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Prose:
    """``text`` with one origin per line."""

    text: str
    origins: tuple[LineOrigin, ...]

    def span(self, offset: int) -> Span:
        """The old place of the character at ``offset``."""
        number = self.text.count("\n", 0, offset)
        column = offset - (self.text.rfind("\n", 0, offset) + 1)
        origin = self.origins[number]
        column = origin.column + (column if origin.exact else 0)
        return Span(origin.line, column, origin.line, column)

    def line_span(self, number: int) -> Span:
        """The old place of line ``number`` (from 0); lines beyond the end count as the last one."""
        origin = self.origins[min(number, len(self.origins) - 1)]
        return Span(origin.line, origin.column, origin.line, origin.column)

    def replaced(self, pattern: re.Pattern[str], words: Callable[[re.Match[str], bool], str | None]) -> Prose:
        """Every match replaced by ``words(match, stands_in_code)``; ``None`` leaves it. No match spans a line end."""
        ranges = code_ranges(self.text)
        starts = [start for start, _ in ranges]

        def replace(match: re.Match[str]) -> str:
            at = bisect_right(starts, match.start()) - 1
            found = words(match, at >= 0 and match.start() < ranges[at][1])
            return match[0] if found is None else found

        return Prose(pattern.sub(replace, self.text), self.origins)


def prose_of_lines(lines: Iterable[tuple[str, int]]) -> Prose:
    """Prose from (line, old line number) pairs."""
    pairs = tuple(lines) or (("", 1),)
    return Prose("\n".join(text for text, _ in pairs), tuple(LineOrigin(number, 1) for _, number in pairs))


def prose_of_scalar(scalar: Scalar, source: Sequence[str]) -> Prose:
    """Prose of a YAML text. Lines of a literal block are found again in ``source``, the lines of the old file."""
    text = scalar.text.replace("\r\n", "\n")
    lines, span = text.split("\n"), scalar.span
    if scalar.style == "literal" and span.end_line > span.line:  # else an alias stands there
        origins = []
        for number, line in enumerate(lines, span.line + 1):
            written = source[number - 1] if number <= len(source) else ""
            exact = bool(line) and written.endswith(line)
            origins.append(LineOrigin(number, len(written) - len(line) + 1 if exact else 1, exact))
        return Prose(text, tuple(origins))
    quote = _QUOTES.get(scalar.style, 0)
    exact = span.line == span.end_line and span.end_column - span.column == len(text) + 2 * quote
    return Prose(text, (LineOrigin(span.line, span.column + (quote if exact else 0), exact),) * len(lines))


def code_ranges(text: str) -> list[tuple[int, int]]:
    """Where code stands: fenced blocks and code spans, as sorted (start, end) offsets.

    Only the form of a mention hangs on it, so a scan of lines is enough: containers are not tracked.
    """
    ranges: list[tuple[int, int]] = []
    fence, begun, paragraph, position = "", 0, 0, 0
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line)
        if fence:
            closes = match is not None and match["fence"].startswith(fence) and not match["info"].strip()
            if closes:
                ranges.append((begun, position))
                fence, paragraph = "", position + len(line)
        elif match is not None or not line.strip():
            ranges += _code_spans(text, paragraph, position)
            paragraph = position + len(line)
            if match is not None:
                fence, begun = match["fence"], position
        position += len(line) + 1
    ranges += [(begun, len(text))] if fence else _code_spans(text, paragraph, len(text))
    return ranges


def _code_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Code spans of one paragraph: a run of backticks to the next run of the same length."""
    runs = list(_BACKTICKS.finditer(text, start, end))
    next_of_length: dict[int, int] = {}
    closer: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = len(runs[index][0])
        if length in next_of_length:
            closer[index] = next_of_length[length]
        next_of_length[length] = index
    found: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        if index in closer:
            found.append((runs[index].end(), runs[closer[index]].start()))
            index = closer[index]
        index += 1
    return found
