"""Scrubbing of secret values from everything that is stored or shown.

Values are searched in the text as it stands, and in the text with its JSON escapes undone once and twice, so that any
encoder's way of escaping is covered, also for JSON inside JSON; and as the usual encoders write them. All hits are found in the original text, overlapping
ones merged, and each is replaced by one mark; what was put in is never searched again.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

from akm_schemas.canonical import canonical_text
from akm_schemas.json_types import Json

MARK: Final = "[redacted]"
SHORTEST: Final = 4  # characters: shorter values occur everywhere by accident
_UNESCAPING_ROUNDS: Final = 2
_CODES: Final = (
    r"\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})|\\u(?P<code>[0-9a-fA-F]{4})"
)
_CODE_ESCAPE: Final = re.compile(rf"{_CODES}|(?P<short>(?!))")
_ESCAPE: Final = re.compile(rf"{_CODES}|\\(?P<short>.)", re.S)
_SHORT_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "/": "/"}
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null', re.S)

Span = tuple[int, int]


def is_scrubbable(value: str) -> bool:
    """Whether a value is long enough to be searched for: ``SHORTEST`` characters that are not all blank."""
    return len(value) >= SHORTEST and not value.isspace()


class Redactor:
    """Replaces secret values by ``MARK``. Values that are not scrubbable are ignored."""

    def __init__(self, values: Iterable[str]) -> None:
        plain = {form for value in values if is_scrubbable(value) for form in _forms(value)}
        needles = plain.union(*map(_escaped, plain))
        self._needles = sorted(needles, key=lambda needle: (-len(needle), needle))
        self._longest = max(map(len, plain), default=0)

    @property
    def longest(self) -> int:
        """The length of the longest value that is searched for, in characters, as it is without escapes."""
        return self._longest

    def text(self, text: str, *, cut_front: bool = False, cut_end: bool = False) -> str:
        """``text`` without the values. Where it was cut, the part of a value that the cut left over is scrubbed too."""
        return _replaced(text, self.spans(text, cut_front=cut_front, cut_end=cut_end))

    def spans(self, text: str, *, cut_front: bool = False, cut_end: bool = False) -> list[Span]:
        """Where values stand in ``text``: disjoint, ascending ``(start, end)`` in characters."""
        if not self._needles or not text:
            return []
        found: list[Span] = []
        for layer in _layers(text):
            for needle in self._needles:
                found.extend(layer.original(start, end) for start, end in _occurrences(layer.text, needle))
                if cut_front and (length := _left_over(layer.text, needle, front=True)):
                    found.append(layer.original(0, length))
                if cut_end and (length := _left_over(layer.text, needle, front=False)):
                    found.append(layer.original(len(layer.text) - length, len(layer.text)))
        return _merged(found)

    def json(self, value: Json) -> Json:
        """``value`` with its texts, names and numbers scrubbed (a number becomes the mark).

        ``true``, ``false`` and ``null`` stay: they are structure, and a variable such as ``DEBUG=true`` must not
        make every verdict of a unit unreadable. Names that become equal are told apart by ``#2``, ``#3``.
        """
        return self._json(value) if self._needles else value

    def breaks_json(self, text: str) -> bool:
        """Whether a value covers more of a JSON text than the inside of one string or one number."""
        spans = self.spans(text)
        tokens = _TOKEN.finditer(text) if spans else iter(())
        token = next(tokens, None)
        for start, end in spans:
            while token is not None and token.end() <= start:
                token = next(tokens, None)
            if token is None:
                return True
            quote = 1 if token.group().startswith('"') else 0
            if start < token.start() + quote or end > token.end() - quote:
                return True
        return False

    def _json(self, value: Json) -> Json:
        # Loops, not comprehensions: before Python 3.12 those cost a second frame for each of up to 512 levels.
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            items: list[Json] = []
            for item in value:
                items.append(self._json(item))
            return items
        if isinstance(value, dict):
            members: dict[str, Json] = {}
            for name, item in value.items():
                members[_free_name(self.text(name), members)] = self._json(item)
            return members
        if isinstance(value, bool) or value is None:
            return value
        return MARK if self.spans(canonical_text(value)) else value


class _Layer:
    """A text with its JSON escapes undone once, and the way back to places of the original.

    Undoing them is a handful of passes at C speed; the way back costs a loop over all escapes and is only made for a
    text in which something was found.
    """

    def __init__(self, text: str, below: _Layer | None) -> None:
        self.text = text
        self._below = below
        self._ends: list[int] | None = None  # of each escape: where the text after it begins, here ...
        self._shifts: list[int] = []  # ... and how much further that is in the layer below

    def above(self) -> _Layer:
        """The layer with one round of escapes undone."""
        return _Layer(unescaped(self.text), self)

    def original(self, start: int, end: int) -> Span:
        """The place in the original text of ``text[start:end]``."""
        if self._below is None:
            return start, end
        if self._ends is None:
            self._ends = self._find_escapes(self._below.text)
        return self._below.original(self._down(start, self._ends), self._down(end, self._ends))

    def _find_escapes(self, text: str) -> list[int]:
        ends: list[int] = []
        shift = 0
        for match in _ESCAPE.finditer(text):
            shift += match.end() - match.start() - len(_one_unescaped(match))
            ends.append(match.end() - shift)
            self._shifts.append(shift)
        return ends

    def _down(self, index: int, ends: list[int]) -> int:
        escapes = bisect_right(ends, index)
        return index + (self._shifts[escapes - 1] if escapes else 0)


def unescaped(text: str) -> str:
    """``text`` with every JSON escape in it undone once; what is no escape stays as it is."""
    parts = text.split("\\\\")  # a run of backslashes begins an escape, so pairs can be taken from its left end
    for index, part in enumerate(parts):
        if "\\" in part:
            for letter, char in _SHORT_ESCAPES.items():
                part = part.replace("\\" + letter, char)
            parts[index] = _CODE_ESCAPE.sub(_one_unescaped, part) if "\\u" in part else part
    return "\\".join(parts)


def _one_unescaped(match: re.Match[str]) -> str:
    high, low, code, short = match.group("high", "low", "code", "short")
    if high is not None:
        return bytes.fromhex(high + low).decode("utf-16-be")
    if code is not None:
        return chr(int(code, 16))
    return "\\" if short == "\\" else _SHORT_ESCAPES.get(short, match.group())


def _layers(text: str) -> Iterator[_Layer]:
    layer = _Layer(text, None)
    yield layer
    for _ in range(_UNESCAPING_ROUNDS):
        if "\\" not in layer.text:
            return
        layer = layer.above()
        yield layer


def _forms(value: str) -> Iterator[str]:
    """The value; without blanks around it; as a lossy decoder shows it; and line by line, for indented or quoted text."""
    yield value
    lossy = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    lines = value.splitlines()
    for form in (value.strip(), lossy, *(line.strip() for line in lines if len(lines) > 1)):
        if is_scrubbable(form):
            yield form


def _escaped(form: str) -> Iterator[str]:
    """As JSON writes it, and JSON inside JSON. Undoing escapes misses those behind a stray backslash: of ``\\n00\\u00df``
    it leaves a line end and ``00ß``, where ``n00ß`` was written."""
    for ascii_only in (True, False):
        text = form
        for _ in range(_UNESCAPING_ROUNDS):
            text = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
            yield text


def _occurrences(text: str, needle: str) -> Iterator[Span]:
    """Overlapping ones too, as one span: of ``ababa`` in ``abababa`` nothing may stay."""
    start = end = -1
    at = text.find(needle)
    while at >= 0:
        if at >= end:
            if start >= 0:
                yield start, end
            start = at
        end = at + len(needle)
        at = text.find(needle, at + 1)
    if start >= 0:
        yield start, end


def _left_over(text: str, needle: str, *, front: bool) -> int:
    """How many characters at the cut end of ``text`` are part of a value that goes on beyond it."""
    for length in range(min(len(needle) - 1, len(text)), SHORTEST - 1, -1):
        if text.startswith(needle[-length:]) if front else text.endswith(needle[:length]):
            return length
    return 0


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _replaced(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    last = 0
    for start, end in spans:
        pieces += (text[last:start], MARK)
        last = end
    pieces.append(text[last:])
    return "".join(pieces)


def _free_name(name: str, taken: dict[str, Json]) -> str:
    free, count = name, 1
    while free in taken:
        count += 1
        free = f"{name}#{count}"
    return free
