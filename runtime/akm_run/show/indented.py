"""Stored JSON as indented text, in pieces: never the whole of a large value, its members one after another.

The text is what ``msgspec.json.format`` makes of the decoded value. A large array or object is cut between its members;
a member that is large itself is cut again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from akm_run import cuts
from akm_run.windowed import Windowed
from akm_schemas.json_types import Json


def formatted(value: object) -> bytes:
    """``value`` as indented JSON text."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2)


def indented(data: Windowed, decode: Callable[[object], Json], pad: bytes = b"\n") -> Iterator[bytes]:
    """The value of the JSON text ``data``, indented; ``pad`` begins each line but the first: a newline, then blanks.

    ``decode`` is given all of the text in parts that are JSON each, and raises for those that are not.
    """
    return _indented(data, 0, len(data), decode, pad)


def _indented(data: Windowed, start: int, end: int, decode: Callable[[object], Json], pad: bytes) -> Iterator[bytes]:
    closing = cuts.CLOSING.get(data[start]) if end - start > cuts.PIECE_BYTES else None
    if closing is None or data[end - 1 : end] != closing:
        yield formatted(decode(data[start:end])).replace(b"\n", pad)
        return
    opening, inner = data[start : start + 1], pad + b"  "
    lead = opening + inner
    for first, last, alone in cuts.runs(data, start + 1, end - 1):
        yield lead
        lead = b"," + inner
        value = cuts.text_end(data, first, last) + 1 if closing == b"}" else first  # beyond the name and its colon
        colon = data[first:value][-1:]
        if alone and last - value > cuts.PIECE_BYTES and data[value] in cuts.CLOSING and colon in (b"", b":"):
            if colon:
                yield formatted(decode(data[first : value - 1])) + b": "
            yield from _indented(data, value, last, decode, inner)
        else:  # an empty run is no JSON: "[1,]" must not be taken for "[1]"
            members = formatted(decode(opening + (data[first:last] or b",") + closing))
            yield members[4:-2].replace(b"\n  ", inner)
    yield pad + closing
