"""Values above ``RESULT_INLINE_BYTES``, stored once under the SHA-256 of their canonical JSON.

The result of a map may have hundreds of megabytes. Handed to SQLite in one piece it would be there four times over (the
value, its JSON, the bound parameter, the row), so it is written piece by piece, and read past SQLite's own copy.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from akm_run.values import encoded
from akm_run.windowed import Windowed
from akm_schemas.bounds import KIB, RESULT_INLINE_BYTES
from akm_schemas.json_types import Json, JsonObject

_PIECE_BYTES: Final = 64 * KIB
_MOST_ITEMS: Final = 64
_MOST_BYTES: Final = 6  # of a character in JSON: a control character is written as six


def store(connection: sqlite3.Connection, value: Json) -> tuple[bytes | None, str | None]:
    """A value's columns, inline or the name of its blob, which is written. Within the caller's transaction."""
    if value is None:
        return None, None
    whole: list[bytes] = []
    digest = hashlib.sha256()
    size = 0
    for piece in _pieces(value):
        size += len(piece)
        digest.update(piece)
        if RESULT_INLINE_BYTES.holds(size):
            whole.append(piece)
        else:
            whole.clear()
    if RESULT_INLINE_BYTES.holds(size):
        return b"".join(whole), None
    name = digest.hexdigest()
    made = connection.execute("INSERT OR IGNORE INTO blobs VALUES (?, zeroblob(?))", (name, size))
    if made.rowcount == 1 and made.lastrowid is not None:  # else another result is the same
        with connection.blobopen("blobs", "data", made.lastrowid) as blob:
            for piece in _pieces(value):
                blob.write(piece)
    return None, name


def is_inline(value: Json) -> bool:
    """Whether ``value`` is known to be stored inline without writing it out; what has members or items is not."""
    if isinstance(value, str):
        return RESULT_INLINE_BYTES.holds(_MOST_BYTES * len(value) + len('""'))
    return not isinstance(value, list | dict)


def read(connection: sqlite3.Connection, rowid: int) -> bytes:
    """The JSON in the blob at ``rowid``; within the statement that found it, so that it is still there."""
    with connection.blobopen("blobs", "data", rowid, readonly=True) as blob:
        return blob.read()


@contextmanager
def opened(connection: sqlite3.Connection, rowid: int) -> Iterator[Windowed]:
    """The JSON in the blob at ``rowid``, of which a window is in memory; as ``read``, and until the block is left."""
    with connection.blobopen("blobs", "data", rowid, readonly=True) as blob:

        def part(start: int, stop: int) -> bytes:
            blob.seek(start)
            return blob.read(stop - start)

        yield Windowed(len(blob), part)


def _pieces(value: Json) -> Iterator[bytes]:
    """The canonical JSON of ``value``; that of an array, which a map's result is, a good deal of its items at a time.

    So it is for the arrays in an object, which a run's exports are.
    """
    room = bytearray()
    for text in _texts(value):
        room += text
        if len(room) >= _PIECE_BYTES:
            yield bytes(room)
            room.clear()
    if room:
        yield bytes(room)


def _texts(value: Json) -> Iterator[bytes]:
    if isinstance(value, list):
        yield from _array(value)
    elif isinstance(value, dict) and _has_arrays(value):
        lead = b"{"
        for name in sorted(value):  # as UTF-16 sorts names that are ASCII
            yield lead + encoded(name) + b":"
            member = value[name]
            yield from _texts(member) if isinstance(member, list) else (encoded(member),)
            lead = b","
        yield b"}"
    else:
        yield encoded(value)


def _array(items: list[Json]) -> Iterator[bytes]:
    """An array, of which more items are taken at once as long as they are small."""
    yield b"["
    at, count = 0, 1
    while at < len(items):
        text = encoded(items[at : at + count])[1:-1]
        yield b"," + text if at else text
        at += count
        if len(text) < _PIECE_BYTES // 4:
            count = min(2 * count, _MOST_ITEMS)
        elif len(text) > _PIECE_BYTES:
            count = 1
    yield b"]"


def _has_arrays(value: JsonObject) -> bool:
    return list in map(type, value.values()) and all(map(str.isascii, value))
