"""Where large JSON text can be cut between its members, found without a value being made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from akm_run.windowed import Windowed
from akm_schemas.bounds import KIB

PIECE_BYTES: Final = 64 * KIB
CLOSING: Final = {ord("["): b"]", ord("{"): b"}"}
_COMMA: Final = ord(",")
_QUOTE: Final = ord('"')

# What needs no thought, at C speed: possessive, so that nothing is remembered for a way back. Other texts and containers,
# and those at the end of a window, are gone through bracket by bracket; ``text_end`` is faster for long texts.
_SHORT_TEXT: Final = rb'"(?:[^"\\]{1,64}+|\\[^\n]){0,16}+"'
_NESTING: Final = 6


def _small(nesting: int) -> bytes:
    """A container of few and small members, ``nesting`` deep at the most."""
    inner = rb"|" + _small(nesting - 1) if nesting else b""
    return rb'[\[{](?:[^"\[\]{}]{1,64}+|' + _SHORT_TEXT + inner + rb"){0,16}+[\]}]"


class _Patterns(NamedTuple):
    """What is skipped: small members with their commas, and what comes before a comma, or else before a bracket."""

    small_members: re.Pattern[bytes]
    to_comma: re.Pattern[bytes]
    to_bracket: re.Pattern[bytes]


@cache
def _patterns() -> _Patterns:
    """Made on use, which takes some milliseconds: most results are small."""
    skipped = _SHORT_TEXT + rb"|" + _small(_NESTING)
    return _Patterns(
        re.compile(rb'(?:(?:[^"\[\]{},]++|' + skipped + rb")++,){1,64}+"),
        re.compile(rb'(?:[^"\[\]{},]++|' + skipped + rb")*+"),
        re.compile(rb'(?:[^"\[\]{}]++|' + skipped + rb")*+"),
    )


def runs(data: Windowed, at: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Where members stand between ``at`` and ``end``: about as many as make a piece, or (then it is alone) a larger one.

    What is no JSON is left in a run that is none, for whoever decodes it to find.
    """
    first = at
    for comma, single in _commas(data, at, end):
        if comma - at > PIECE_BYTES and at > first:  # a large member after others
            yield first, at - 1, False
            first = at
        alone, at = single and at == first, comma + 1
        if at - first > PIECE_BYTES:
            yield first, comma, alone
            first = at
    if end - at > PIECE_BYTES and at > first:
        yield first, at - 1, False
        first = at
    yield first, end, at == first


def text_end(data: Windowed, at: int, end: int) -> int:
    """Where the text whose quote stands at ``at`` is over; ``end`` where it never is."""
    while (at := data.find(b'"', at + 1, end)) >= 0:
        if _backslashes(data, at) % 2 == 0:
            return at + 1
    return end


def _backslashes(data: Windowed, at: int) -> int:
    """How many backslashes stand before ``at``."""
    count, step = 0, 16
    while True:
        before = data[max(0, at - count - step) : at - count]
        here = len(before) - len(before.rstrip(b"\\"))
        count += here
        if here < step:
            return count
        step *= 2


def _commas(data: Windowed, at: int, end: int) -> Iterator[tuple[int, bool]]:
    """Commas between the members that stand between ``at`` and ``end``, and whether a single member is before it.

    Several small ones are taken at once, with a window's length at the most.
    """
    patterns = _patterns()
    depth = 0
    while at < end:
        if depth == 0 and (small := data.match(patterns.small_members, at, end)) is not None:
            at = small
            yield at - 1, False
            continue
        skipped = data.match(patterns.to_bracket if depth else patterns.to_comma, at, end)
        if skipped is not None and skipped > at:
            at = skipped
            continue
        mark = data[at]
        if mark == _QUOTE:
            at = text_end(data, at, end)
            continue
        if mark == _COMMA:
            yield at, True
        else:
            depth += 1 if mark in CLOSING else -1
        if depth < 0:
            return
        at += 1
