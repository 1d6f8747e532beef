"""Where large JSON text can be cut between its members, found without a value being made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from akm_run.windowed import Windowed
from akm_schemas.bounds import KIB

PIECE_BYTES: Final = 64 * KIB
CLOSING: Final = {ord("["): b"]", ord("{"): b"}"}
_COMMA: Final = ord(",")
_QUOTE: Final = ord('"')

# What needs no thought, at C speed: possessive, so that nothing is remembered for a way back. Other texts, and those at
# the end of a window, are skipped by ``text_end``, which is faster for long ones.
_SHORT_TEXT: Final = rb'"(?:[^"\\]{1,64}+|\\[^\n]){0,16}+"'
_SMALL_MEMBERS: Final = re.compile(rb'(?:(?:[^"\[\]{},]++|' + _SHORT_TEXT + rb")++,){1,64}+")
_TO_COMMA: Final = re.compile(rb'(?:[^"\[\]{},]++|' + _SHORT_TEXT + rb")*+")
_TO_BRACKET: Final = re.compile(rb'(?:[^"\[\]{}]++|' + _SHORT_TEXT + rb")*+")


def runs(data: Windowed, at: int, end: int) -> Iterator[tuple[int, int, bool]]:
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


def _commas(data: Windowed, at: int, end: int) -> Iterator[int]:
    """Commas between the members that stand between ``at`` and ``end``: all but some of those after small ones."""
    depth = 0
    while at < end:
        if depth == 0 and (small := data.match(_SMALL_MEMBERS, at, end)) is not None:
            at = small
            yield at - 1
            continue
        skipped = data.match(_TO_BRACKET if depth else _TO_COMMA, at, end)
        if skipped is not None and skipped > at:
            at = skipped
            continue
        mark = data[at]
        if mark == _QUOTE:
            at = text_end(data, at, end)
            continue
        if mark == _COMMA:
            yield at
        else:
            depth += 1 if mark in CLOSING else -1
        if depth < 0:
            return
        at += 1
