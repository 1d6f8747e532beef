"""JSON values as the journal keeps them."""

from __future__ import annotations

from typing import Final, cast

import msgspec

from akm_schemas.bounds import KIB, SAFE_INTEGER, STRICT_JSON_DEPTH
from akm_schemas.canonical import canonical_bytes
from akm_schemas.json_types import Json
from akm_schemas.strict_json import parse_json

_LONG_INTEGER: Final = b"0" * 16
_DIGITS_ALIKE: Final = bytes(ord("0") if chr(byte).isdecimal() and byte < 128 else ord(" ") for byte in range(256))
_WINDOW_BYTES: Final = 64 * KIB
_NESTING: Final = STRICT_JSON_DEPTH.high + 16  # an artifact or the exports wrap answers in a few levels more


def encoded(value: Json) -> bytes:
    """The canonical JSON of ``value``: what is stored, and what hashes are over."""
    return canonical_bytes(value)


def decoded(data: bytes) -> Json:
    """The value of canonical JSON that the journal stored.

    RFC 8785 writes a double such as 1e20 with all its digits; only text with such digits needs the slower reader.
    """
    if _may_have_long_integers(data):
        return parse_json(data, max_depth=_NESTING, canonical_numbers=True)
    return cast(Json, msgspec.json.decode(data))


def _may_have_long_integers(data: bytes) -> bool:
    """Whether so many digits stand in a row; six times as fast as a regular expression, which results of maps notice."""
    step = _WINDOW_BYTES - len(_LONG_INTEGER) + 1  # the windows overlap by one digit less
    starts = range(0, len(data), step)
    return any(_LONG_INTEGER in bytes.translate(data[at : at + _WINDOW_BYTES], _DIGITS_ALIKE) for at in starts)


def is_text(word: str) -> bool:
    """Whether ``word`` can be stored: bytes of a command line that are no UTF-8 arrive as lone surrogates."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_tokens(count: object) -> int | None:
    """A count of tokens that can be kept, shown and added to others; ``None``, unreported, for whatever else is given."""
    return count if type(count) is int and 0 <= count <= SAFE_INTEGER else None


def as_journaled(value: Json) -> Json:
    """``value`` as a resumed run would read it, so that straight and resumed runs agree (``1.0`` is ``1``)."""
    return value if value is None or isinstance(value, str | bool) else decoded(encoded(value))
