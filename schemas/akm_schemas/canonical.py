"""Canonical JSON (RFC 8785, JCS).

msgspec writes strings just as RFC 8785 asks, but neither its numbers (``1.0``, ``-0.0``, ``1e21``) nor its key order
(code points, where the RFC wants UTF-16 code units). One walk puts those right, copying only what it changes; msgspec
then does the writing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from itertools import chain
from typing import Final, cast

import msgspec

from akm_schemas.bounds import SAFE_INTEGER
from akm_schemas.json_paths import dotted
from akm_schemas.json_types import Json

_BMP_LAST = "\uffff"
_PLAIN_KINDS: Final = frozenset((str, bool, type(None), int, list, dict))

Writer = Callable[[Json], bytes]
"""Something that writes JSON values canonically, as ``canonical_bytes`` does."""


class CanonicalError(ValueError):
    """A value that has no canonical JSON: ``path`` is dotted (``steps[2].id``, empty at the root)."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path or 'the value'}: {message}")
        self.path = path
        self.message = message


class _Unfit(Exception):
    """Some value cannot be written; the slow walk finds out which."""


def canonical_bytes(value: Json) -> bytes:
    """The RFC 8785 bytes of ``value`` (UTF-8, no newline at the end).

    Raises CanonicalError for NaN and infinities, integers beyond +-2^53, lone surrogates, keys that are not strings,
    anything that is not JSON, and nesting that exhausts the interpreter's stack.
    """
    try:
        return _encode(_normalised(value))
    except (_Unfit, UnicodeEncodeError, RecursionError, TypeError):
        raise _fault(value) from None


def writer_of(value: Json) -> Writer:
    """The fastest Writer for ``value`` and for whatever is built of its members under names in ASCII.

    A plan is written a dozen times for its hashes and sizes. One survey at C speed finds that nothing in it has to be
    put right (hardly any plan holds a fraction), and then msgspec writes it without a walk.
    """
    return plain_bytes if _is_plain(value) else canonical_bytes


def plain_bytes(value: Json) -> bytes:
    """``canonical_bytes`` of a value that holds no fraction, no integer beyond +-2^53 and no name beyond ASCII."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, RecursionError, TypeError):
        return canonical_bytes(value)


def _is_plain(value: object) -> bool:
    """Whether msgspec writes ``value`` as RFC 8785 asks: no fraction, no huge integer, no name beyond ASCII."""
    level: list[object] = [value]
    while True:
        kinds = set(map(type, level))
        if not kinds <= _PLAIN_KINDS:
            return False
        if int in kinds and any(type(item) is int and not -SAFE_INTEGER <= item <= SAFE_INTEGER for item in level):
            return False
        if list not in kinds and dict not in kinds:
            return True
        lists = [node for node in level if type(node) is list]
        objects = [node for node in level if type(node) is dict]
        names: set[object] = set().union(*objects)
        if not all(type(name) is str and name.isascii() for name in names):
            return False
        level = [*chain.from_iterable(lists), *chain.from_iterable(map(dict.values, objects))]


def canonical_text(value: Json) -> str:
    """``canonical_bytes`` as text."""
    return canonical_bytes(value).decode()


def pretty_bytes(value: Json) -> bytes:
    """The indented twin of ``canonical_bytes``: same keys, order and number text, two blanks per level, no last newline."""
    try:
        return msgspec.json.format(canonical_bytes(value), indent=2)
    except RecursionError:
        raise CanonicalError("", "nested too deeply to be written as JSON") from None


def number_text(value: float | bool) -> str:
    """A number as ECMAScript writes it (``1``, ``1.5``, ``1e+21``, ``5e-324``); a boolean as ``true`` or ``false``.

    Raises CanonicalError for NaN and infinities. Source: ECMA-262, Number::toString; RFC 8785 section 3.2.2.3.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if not math.isfinite(value):
        raise CanonicalError("", f"{value} is no JSON number")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = float.__repr__(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    return sign + _placed(digits.rstrip("0"), point)


def _placed(digits: str, point: int) -> str:
    """``digits`` with the decimal point after the first ``point`` of them, in the notation ECMAScript chooses."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{rest}e{point - 1:+d}"


def _encode(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def _normalised(value: object) -> object:
    """``value`` in a form that msgspec writes canonically; the same object where nothing has to change."""
    kind = type(value)
    if kind is list:
        return _normalised_array(cast("list[object]", value))
    if kind is dict:
        return _normalised_object(cast("dict[object, object]", value))
    return _normalised_scalar(value)


def _normalised_scalar(value: object) -> object:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int and -SAFE_INTEGER <= cast(int, value) <= SAFE_INTEGER:
        return value
    if kind is float and math.isfinite(number := cast(float, value)):
        if number.is_integer() and -SAFE_INTEGER <= number <= SAFE_INTEGER:
            return int(number)
        return msgspec.Raw(number_text(number).encode())
    raise _Unfit


def _normalised_array(items: list[object]) -> list[object]:
    # Containers are told apart here rather than in _normalised: one frame for each level of nesting, which has to
    # carry STRICT_JSON_DEPTH of them within Python's default limit of 1000.
    changed: list[object] | None = None
    for index, item in enumerate(items):
        kind = type(item)
        if kind is str:  # most of any document: not worth a call
            continue
        if kind is dict:
            normal = _normalised_object(cast("dict[object, object]", item))
        elif kind is list:
            normal = _normalised_array(cast("list[object]", item))
        else:
            normal = _normalised_scalar(item)
        if normal is not item:
            if changed is None:
                changed = list(items)
            changed[index] = normal
    return items if changed is None else changed


def _normalised_object(members: dict[object, object]) -> object:
    changed: dict[object, object] | None = None
    astral = False
    for name, item in members.items():
        if type(name) is not str:
            raise _Unfit
        if not name.isascii() and max(name) > _BMP_LAST:
            astral = True
        kind = type(item)
        if kind is str:
            continue
        if kind is dict:
            normal = _normalised_object(cast("dict[object, object]", item))
        elif kind is list:
            normal = _normalised_array(cast("list[object]", item))
        else:
            normal = _normalised_scalar(item)
        if normal is not item:
            if changed is None:
                changed = dict(members)
            changed[name] = normal
    result = members if changed is None else changed
    return _utf16_sorted(cast("dict[str, object]", result)) if astral else result


def _utf16_sorted(members: dict[str, object]) -> msgspec.Raw:
    """An object with a key above U+FFFF, written here: msgspec would sort it by code point."""
    names = sorted(members, key=lambda name: name.encode("utf-16-be"))
    return msgspec.Raw(b"{" + b",".join(_encode(name) + b":" + _encode(members[name]) for name in names) + b"}")


def _fault(value: Json) -> CanonicalError:
    """Why ``value`` has no canonical form; walks with a stack of its own, so that depth cannot hurt it."""
    stack: list[tuple[object, tuple[str | int, ...]]] = [(value, ())]
    while stack:
        item, path = stack.pop()
        message = _why_unfit(item)
        if message is not None:
            return CanonicalError(dotted(path), message)
        if len(path) > sys.getrecursionlimit():
            break
        if isinstance(item, dict):
            stack.extend((child, (*path, name)) for name, child in reversed(item.items()))
        elif isinstance(item, list):
            stack.extend((child, (*path, index)) for index, child in reversed(list(enumerate(item))))
    return CanonicalError("", "nested too deeply to be written as JSON")


def _why_unfit(item: object) -> str | None:
    kind = type(item)
    if item is None or kind is bool or kind is list:
        return None
    if kind is str:
        return _why_text_unfit(cast(str, item), "text")
    if kind is int:
        return None if abs(cast(int, item)) <= SAFE_INTEGER else "an integer beyond +-2^53 is not exact in JSON"
    if kind is float:
        return None if math.isfinite(cast(float, item)) else f"{item} is no JSON number"
    if kind is not dict:
        return f"a Python {kind.__name__} is no JSON value"
    for name in cast("dict[object, object]", item):
        if type(name) is not str:
            return f"the key {name!r:.60} is a Python {type(name).__name__}, not text"
        if message := _why_text_unfit(name, "key"):
            return message
    return None


def _why_text_unfit(text: str, what: str) -> str | None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"the {what} has a lone surrogate at character {error.start}"
    return None
