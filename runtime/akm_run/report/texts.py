"""Texts of strangers for a page: scrubbed, made visible, cut to a room, escaped.

A program's output may hold anything: markup, terminal commands, characters that reorder what stands around them. What
leaves this module shows such characters by their codes, and is markup nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

import msgspec
from msgspec import Struct

from akm_run.journal.excerpts import Excerpt
from akm_run.redaction import MARK, Redactor
from akm_run.show.secrets_warning import is_count_of_tokens, looks_secret, token_words
from akm_run.values import encoded
from akm_schemas.bounds import REPORT_VALUE_BYTES
from akm_schemas.drawing.text import xml
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.visible import visible_rows

_SCRIPT_ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_LONGEST_ESCAPE: Final = 12  # bytes of "\ud83d\ude00"
_LINE_CHARS: Final = 2000


class Piece(Struct, frozen=True):
    """A text for showing, of one or several lines. ``size`` are the bytes of what it was made from.

    ``cut``: it is only the beginning.
    """

    text: str
    size: int
    cut: bool


class Texts:
    """Makes texts ready; values of ``secrets`` are scrubbed from each."""

    def __init__(self, secrets: Iterator[str]) -> None:
        self._redactor = Redactor(secrets)

    @property
    def scrubs(self) -> bool:
        """Whether there is anything to scrub."""
        return self._redactor.longest > 0

    def plain(self, text: str) -> str:
        """``text`` without secrets, nothing else changed."""
        return self._redactor.text(text)

    def line(self, text: str) -> str:
        """``text`` on one line, as HTML."""
        scrubbed = self._redactor.text(text)
        return xml(scrubbed[:_LINE_CHARS]) + ("…" if len(scrubbed) > _LINE_CHARS else "")

    def piece(self, text: str, room: int = REPORT_VALUE_BYTES.high) -> Piece:
        """``text`` in its lines, within ``room`` bytes."""
        size = len(text.encode("utf-8", "surrogatepass"))
        return _fitted(self._redactor.text(text), size, room, cut=False)

    def value(self, value: Json, room: int = REPORT_VALUE_BYTES.high) -> Piece:
        """A value: a text as it is, anything else as JSON, indented where that fits."""
        if isinstance(value, str):
            return self.piece(value, room)
        data = encoded(value)
        return self.excerpt(Excerpt(data[: room + _LONGEST_ESCAPE], len(data)), room)

    def excerpt(self, excerpt: Excerpt, room: int = REPORT_VALUE_BYTES.high) -> Piece:
        """The beginning of a stored value, as ``value`` shows it."""
        text = _as_text(excerpt, room)
        scrubbed = self._redactor.text(text, cut_end=not excerpt.whole)
        return _fitted(scrubbed, excerpt.size, room, cut=not excerpt.whole)


def masked(params: JsonObject) -> JsonObject:
    """``params`` with the mark in place of every value, and every word of a text, that looks like a secret; counts of
    tokens are none."""
    return {name: _masked(name, value) for name, value in params.items()}


def secrets_of(name: str, value: Json, hidden: bool = False) -> Iterator[str]:
    """The texts in ``value``, and words of texts, that look like secrets, or stand below a name that does."""
    hidden = hidden or looks_secret(name, value)
    match value:
        case str() if hidden:
            yield value
        case str():
            yield from token_words(value)
        case dict():
            for key, member in value.items():
                yield from secrets_of(key, member, hidden)
        case list():
            for item in value:
                yield from secrets_of("", item, hidden)


def for_script(value: object) -> str:
    """``value`` as JSON inside a script element: no character of it can end the element or begin a comment."""
    text = msgspec.json.encode(value).decode()
    for char, escape in _SCRIPT_ESCAPES.items():
        text = text.replace(char, escape)
    return text


def _masked(name: str, value: Json) -> Json:
    if value is not None and looks_secret(name, value) and not is_count_of_tokens(name, value):
        return MARK
    if isinstance(value, str):
        return Redactor(token_words(value)).text(value)
    if isinstance(value, dict):
        return {key: _masked(key, member) for key, member in value.items()}
    return [_masked("", item) for item in value] if isinstance(value, list) else value


def _as_text(excerpt: Excerpt, room: int) -> str:
    if excerpt.head.startswith(b'"'):
        return _string(excerpt)
    data = excerpt.head
    if excerpt.whole:
        indented = msgspec.json.format(data, indent=2)
        data = indented if len(indented) <= room else data
    return data.decode("utf-8", "ignore")


def _string(excerpt: Excerpt) -> str:
    """The string that the head is, or begins with: an escape or a character that was cut through is left out."""
    if excerpt.whole:
        return cast(str, msgspec.json.decode(excerpt.head))
    for shorter in range(_LONGEST_ESCAPE):
        head = excerpt.head[: len(excerpt.head) - shorter].decode("utf-8", "ignore")
        try:
            return cast(str, msgspec.json.decode(f'{head}"'))
        except msgspec.DecodeError:
            continue
    return ""


def _fitted(text: str, size: int, room: int, *, cut: bool) -> Piece:
    """``text`` made visible, and shortened until its JSON takes ``room`` bytes."""
    most = room
    while True:
        shown = "\n".join(visible_rows(text[:most]))
        taken = len(for_script(shown).encode()) - 2
        if taken <= room:
            return Piece(shown, size, cut or most < len(text))
        most = max(0, min(most, len(text)) * room // taken - 1)
