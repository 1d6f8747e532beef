"""JSON values compared and classified by JSON's rules: ``true`` is no number, ``1.0`` is the integer ``1``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from akm_schemas.json_types import Json

ScalarKey: TypeAlias = tuple[str, str | float | bool | None]


def json_type(value: Json) -> str:
    """The JSON Schema type of a value, the narrowest one: ``integer`` for ``1`` and ``1.0``, ``number`` for ``1.5``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def has_type(value: Json, name: str) -> bool:
    """Whether ``value`` is of the JSON Schema type ``name``; an integer is a number too."""
    found = json_type(value)
    return found == name or (name == "number" and found == "integer")


def a_type(name: str) -> str:
    """A type's name with its article, for messages: ``an array``, ``a string``, ``null``."""
    if name == "null":
        return name
    return f"an {name}" if name[:1] in "aio" else f"a {name}"


def json_equal(one: Json, other: Json) -> bool:
    """Equality of JSON values: ``1`` equals ``1.0``, never ``true``; the order of names means nothing."""
    return equal_counted(one, other, lambda: None)


def equal_counted(one: Json, other: Json, visit: Callable[[], None]) -> bool:
    """``json_equal`` that calls ``visit`` for each pair of nodes; keeps a stack of its own, so depth cannot hurt it."""
    pairs: list[tuple[Json, Json]] = [(one, other)]
    while pairs:
        a, b = pairs.pop()
        visit()
        if isinstance(a, dict):
            if not isinstance(b, dict) or a.keys() != b.keys():
                return False
            pairs.extend((item, b[name]) for name, item in a.items())
        elif isinstance(a, list):
            if not isinstance(b, list) or len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif isinstance(a, bool) != isinstance(b, bool) or a != b:
            return False
    return True


def scalar_key(value: str | float | bool | None) -> ScalarKey:
    """A hashable stand-in for a scalar: two scalars are equal in JSON when their keys are equal in Python."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, str):
        return ("string", value)
    return ("null", None) if value is None else ("number", value)
