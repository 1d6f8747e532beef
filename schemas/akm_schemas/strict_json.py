"""JSON text to values, strictly (RFC 8259, I-JSON's one-name-once rule and exact integers).

The standard library's C scanner reads, with one hook for repeated names; a level-by-level survey of the value checks
depth and numbers. Only when something is wrong is the text read a second time, with hooks that leave a marker in
place of each refused value, so that a walk can say where it stands.
"""

from __future__ import annotations

import gc
import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Final, Literal, NoReturn, cast

from msgspec import Struct

from akm_schemas.bounds import MIB, SAFE_INTEGER
from akm_schemas.canonical import number_text
from akm_schemas.json_paths import dotted, quoted
from akm_schemas.json_types import Json

_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_MAX_DIGITS: Final = 32  # more than any integer up to 2^53, or any double that ECMAScript writes in full, can have


class JsonFault(ValueError):
    """Text that is not the JSON we accept.

    ``offset`` counts bytes of the UTF-8 text from 0 where the text itself is at fault; ``path`` (dotted, empty at the
    root) names the value where only its meaning is. Both are None for nesting that is too deep. ``repeated`` is the
    name that the object at ``path`` gives twice, if that is the fault.
    """

    def __init__(
        self, message: str, offset: int | None = None, path: str | None = None, repeated: str | None = None
    ) -> None:
        place = f"byte {offset}: " if offset is not None else f"{path}: " if path else ""
        super().__init__(place + message)
        self.message = message
        self.offset = offset
        self.path = path
        self.repeated = repeated


class _Refused(ValueError):
    """Raised by a hook of the first reading; the second one finds out where."""


class Surveyed(Struct, frozen=True):
    """A JSON value. ``plain``: it holds no fraction and no text beyond ASCII, as ``canonical.plain_bytes`` asks."""

    value: Json
    plain: bool


class _Marker(Struct, frozen=True):
    """Stands in the result of the second reading for a value that is refused."""

    message: str
    repeated: str | None = None


def parse_json(data: bytes | str, *, max_depth: int, canonical_numbers: bool = False) -> Json:
    """The one JSON value in ``data``, blanks around it allowed.

    ``max_depth`` counts nested arrays and objects (a scalar is depth 0). Refused with JsonFault: anything else than
    one value, invalid UTF-8, a byte order mark, a name given twice in one object, NaN and Infinity, lone surrogates,
    integers beyond +-2^53 written without point or exponent, numbers beyond the range of a double, deeper nesting.

    ``canonical_numbers`` is for text that ``canonical_bytes`` wrote: RFC 8785 gives a double such as 1e20 all its
    digits, so such an integer is read as that double, provided that it is spelled exactly so.
    """
    return survey_json(data, max_depth=max_depth, canonical_numbers=canonical_numbers).value


def survey_json(data: bytes | str, *, max_depth: int, canonical_numbers: bool = False) -> Surveyed:
    """``parse_json``, and what was seen of the value on the way."""
    text = _decoded(data)
    with _collector_paused(len(text) > MIB):
        return _parsed(text, max_depth, canonical_numbers)


def _parsed(text: str, max_depth: int, canonical_numbers: bool) -> Surveyed:
    try:
        value = _FIRST_READING.decode(text)
        fault = _survey(value, max_depth)
    except json.JSONDecodeError as error:
        raise _syntax_fault(text, error) from None
    except RecursionError:
        fault = "depth"
    except ValueError:  # a hook refused, or int() met more digits than Python converts
        fault = "values"
    if fault == "depth":
        raise JsonFault(f"nested deeper than {max_depth} levels")
    if fault == "values":
        value = _second_reading(text, canonical_numbers)
    if _SURROGATE_ESCAPE.search(text):
        _refuse_surrogates(value)
    plain = fault is None and text.isascii() and "\\u" not in text
    return Surveyed(cast(Json, value), plain)


def numbers_are_plain(value: object, *, max_depth: int) -> bool:
    """Whether ``survey_json`` would take each number of ``value`` and its depth, and there is no fraction in it."""
    return _survey(value, max_depth) is None


@contextmanager
def _collector_paused(wanted: bool) -> Iterator[None]:
    """Hold back the cyclic collector, which takes most of the time of reading millions of small containers."""
    paused = wanted and gc.isenabled()
    if paused:
        gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Refused
    return members


def _no_constant(word: str) -> NoReturn:
    raise _Refused(word)


_FIRST_READING: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def _survey(value: object, max_depth: int) -> Literal["depth", "values", "fractions"] | None:
    """Whether ``value`` is too deep, holds a number out of range, or (which is no fault) a number with a fraction.

    A few passes at C speed for each level.
    """
    level: list[object] = [value]
    depth = 0
    out_of_range = fractions = False
    while True:
        kinds = set(map(type, level))
        if int in kinds:
            numbers = [item for item in level if type(item) is int]
            out_of_range = out_of_range or max(numbers) > SAFE_INTEGER or min(numbers) < -SAFE_INTEGER
        if float in kinds:
            fractions = True
            if not all(map(math.isfinite, [item for item in level if type(item) is float])):
                out_of_range = True
        if list not in kinds and dict not in kinds:
            return "values" if out_of_range else "fractions" if fractions else None
        depth += 1
        if depth > max_depth:
            return "depth"
        lists = [node for node in level if type(node) is list]
        objects = [node for node in level if type(node) is dict]
        level = [*chain.from_iterable(lists), *chain.from_iterable(map(dict.values, objects))]


def _second_reading(text: str, canonical_numbers: bool) -> object:
    """The value of a text that holds something to refuse, unless it is only digits that ``canonical_numbers`` admits."""
    marked = False

    def mark(message: str, repeated: str | None = None) -> _Marker | None:
        nonlocal marked
        if marked:  # one place is enough to report; a million of them would only cost time
            return None
        marked = True
        return _Marker(message, repeated)

    def members(pairs: list[tuple[str, object]]) -> object:
        found = dict(pairs)
        if marked or len(found) == len(pairs):
            return found
        name = _first_repeated(pairs)
        return mark(f"the name {quoted(name)} is given twice in one object", name)

    def integer(digits: str) -> object:
        if len(digits) <= _MAX_DIGITS:
            number = int(digits)
            if -SAFE_INTEGER <= number <= SAFE_INTEGER:
                return number
            if canonical_numbers and number_text(double := float(number)) == digits:
                return double
        return mark("an integer beyond +-2^53 is not exact in JSON; write it as text")

    def number(digits: str) -> object:
        found = float(digits)
        return found if math.isfinite(found) else mark("the number is beyond the range of a double")

    decoder = json.JSONDecoder(
        object_pairs_hook=members,
        parse_int=integer,
        parse_float=number,
        parse_constant=lambda word: mark(f"{word} is no JSON number"),
    )
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax_fault(text, error) from None
    if marked:
        for item, path in _walk(value):
            if isinstance(item, _Marker):
                raise JsonFault(item.message, path=dotted(path), repeated=item.repeated)
    return value


def _first_repeated(pairs: list[tuple[str, object]]) -> str:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            break
        seen.add(name)
    return name


def _decoded(data: bytes | str) -> str:
    if isinstance(data, str):
        text = data
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise JsonFault("the text holds a lone surrogate", len(text[: error.start].encode())) from None
    else:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise JsonFault("not UTF-8", error.start) from None
    if text.startswith("\ufeff"):
        raise JsonFault("a byte order mark is not part of JSON; save the text as UTF-8 without one", 0)
    return text


def _syntax_fault(text: str, error: json.JSONDecodeError) -> JsonFault:
    offset = len(text[: error.pos].encode())
    if not text.strip(" \t\r\n"):
        return JsonFault("there is no JSON value, the text is empty", offset)
    if error.msg == "Extra data":
        return JsonFault("there is more text after the JSON value", offset)
    reason = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    return JsonFault(f"not JSON: {reason} (line {error.lineno}, column {error.colno})", offset)


def _refuse_surrogates(value: object) -> None:
    for item, path in _walk(value):
        texts = [item] if isinstance(item, str) else list(item) if isinstance(item, dict) else []
        for text in texts:
            try:
                text.encode()
            except UnicodeEncodeError:
                raise JsonFault("the text holds a lone surrogate", path=dotted(path)) from None


def _walk(value: object) -> Iterator[tuple[object, tuple[str | int, ...]]]:
    """Every value below and including ``value`` with its path, in document order; with a stack of its own."""
    stack: list[tuple[object, tuple[str | int, ...]]] = [(value, ())]
    while stack:
        item, path = stack.pop()
        yield item, path
        if isinstance(item, dict):
            stack.extend((child, (*path, name)) for name, child in reversed(item.items()))
        elif isinstance(item, list):
            stack.extend((child, (*path, index)) for index, child in reversed(list(enumerate(item))))
