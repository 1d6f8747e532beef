"""The YAML 1.2 core schema for plain scalars, held to what JSON can carry.

The parser's own resolution (YAML 1.1 or a mixture) is never asked. Source: YAML 1.2.2, section 10.3.2; spec 1,
sections 2.1 and 2.6.
"""

from __future__ import annotations

import math
import re
from typing import Final

from msgspec import Struct

from akm_schemas.bounds import SAFE_INTEGER

WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_PREFIXED: Final = r"0o(?P<octal>[0-7]+)|0x(?P<hex>[0-9a-fA-F]+)"
_FLOAT: Final = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_NOT_FINITE: Final = r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
NUMBER_STARTS: Final = frozenset("0123456789+-.")
"""A plain scalar that is none of ``WORDS`` and begins with something else is its own text."""
# No integer of at most 2**53 has more digits in any base, leading zeros aside; int() refuses very long texts.
_DIGITS: Final = 20


class NotJson(Struct, frozen=True):
    """A plain scalar that resolves to what JSON cannot carry, with the reason in words."""

    reason: str


def resolve_plain(text: str) -> str | int | float | bool | NotJson | None:
    """The value of a plain scalar (``017`` is 17, ``1_000`` and dates are texts, ``1e3`` is a float)."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in NUMBER_STARTS:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text.lstrip("+-"), 10, -1 if text[0] == "-" else 1)
    prefixed = re.fullmatch(_PREFIXED, text)
    if prefixed is not None:
        return _integer(prefixed["octal"], 8, 1) if prefixed["octal"] else _integer(prefixed["hex"], 16, 1)
    if re.fullmatch(_FLOAT, text):
        value = float(text)
        return value if math.isfinite(value) else NotJson("a number beyond the range of a double")
    if re.fullmatch(_NOT_FINITE, text):
        return NotJson("no number that JSON has")
    return text


def _integer(digits: str, base: int, sign: int) -> int | NotJson:
    significant = digits.lstrip("0") or "0"
    value = int(significant, base) if len(significant) <= _DIGITS else SAFE_INTEGER + 1
    return (
        sign * value if value <= SAFE_INTEGER else NotJson("an integer beyond 2^53, which not every reader keeps exact")
    )
