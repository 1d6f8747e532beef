"""Stored JSON as indented text, in pieces: never the whole of a large value, its members one after another.

The text is what ``msgspec.json.format`` makes of the decoded value. A large array or object is cut between its members;
a member that is large itself is cut again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from akm_schemas.bounds import KIB
from akm_schemas.json_types import Json

PIECE_BYTES: Final = 64 * KIB
_CLOSING: Final = {ord("["): b"]", ord("{"): b"}"}
_COMMA: Final = ord(",")
_QUOTE: Final = ord('"')

# What needs no thought, at C speed: possessive, so that nothing is remembered for a way back. Other texts are skipped by
# ``_text_end``, which is faster for long ones.
_SHORT_TEXT: Final = rb'"[^"\\]{0,256}+"'
_SMALL_MEMBERS: Final = re.compile(rb'(?:(?:[^"\[\]{},]++|' + _SHORT_TEXT + rb")++,){1,64}+")
_TO_COMMA: Final = re.compile(rb'(?:[^"\[\]{},]++|' + _SHORT_TEXT + rb")*+")
_TO_BRACKET: Final = re.compile(rb'(?:[^"\[\]{}]++|' + _SHORT_TEXT + rb")*+")


def formatted(value: object) -> bytes:
    """``value`` as indented JSON text."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2)


def indented(data: bytes, decode: Callable[[object], Json], pad: bytes = b"\n") -> Iterator[bytes]:
    """The value of the JSON text ``data``, indented; ``pad`` begins each line but the first: a newline, then blanks.

    ``decode`` is given all of the text in parts that are JSON each, and raises for those that are not.
    """
    return _indented(data, 0, len(data), decode, pad)


def _indented(data: bytes, start: int, end: int, decode: Callable[[object], Json], pad: bytes) -> Iterator[bytes]:
    closing = _CLOSING.get(data[start]) if end - start > PIECE_BYTES else None
    if closing is None or data[end - 1 : end] != closing:
        yield formatted(decode(data[start:end])).replace(b"\n", pad)
        return
    opening, inner = data[start : start + 1], pad + b"  "
    lead = opening + inner
    for first, last, alone in _runs(data, start + 1, end - 1):
        yield lead
        lead = b"," + inner
        value = _text_end(data, first, last) + 1 if closing == b"}" else first  # beyond the name and its colon
        colon = data[first:value][-1:]
        if alone and last - value > PIECE_BYTES and data[value] in _CLOSING and colon in (b"", b":"):
            if colon:
                yield formatted(decode(data[first : value - 1])) + b": "
            yield from _indented(data, value, last, decode, inner)
        else:  # an empty run is no JSON: "[1,]" must not be taken for "[1]"
            members = formatted(decode(opening + (data[first:last] or b",") + closing))
            yield members[4:-2].replace(b"\n  ", inner)
    yield pad + closing


def _runs(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Where members stand between ``at`` and ``end``: about as many as make a piece, or (then it is alone) a larger one.

    What is no JSON is left in a run that is none, for whoever decodes it to find.
    """
    first = at
    for comma in _commas(data, at, end):
        if comma - at > PIECE_BYTES and at > first:  # a large member after others
            yield first, at - 1, False
            first = at
        alone, at = at == first, comma + 1
        if at - first > PIECE_BYTES:
            yield first, comma, alone
            first = at
    if end - at > PIECE_BYTES and at > first:
        yield first, at - 1, False
        first = at
    yield first, end, at == first


def _commas(data: bytes, at: int, end: int) -> Iterator[int]:
    """Commas between the members that stand between ``at`` and ``end``: all but some of those after small ones."""
    depth = 0
    while at < end:
        if depth == 0 and (small := _SMALL_MEMBERS.match(data, at, end)) is not None:
            at = small.end()
            yield at - 1
            continue
        skipped = (_TO_BRACKET if depth else _TO_COMMA).match(data, at, end)
        at = end if skipped is None else skipped.end()
        if at == end:
            return
        mark = data[at]
        if mark == _QUOTE:
            at = _text_end(data, at, end)
            continue
        if mark == _COMMA:
            yield at
        else:
            depth += 1 if mark in _CLOSING else -1
        if depth < 0:
            return
        at += 1


def _text_end(data: bytes, at: int, end: int) -> int:
    """Where the text whose quote stands at ``at`` is over; ``end`` where it never is."""
    while (at := data.find(b'"', at + 1, end)) >= 0:
        escaped = at - 1
        while data[escaped] == ord("\\"):
            escaped -= 1
        if (at - escaped) % 2 == 1:
            return at + 1
    return end
