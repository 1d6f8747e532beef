"""Values near the borders of two schemas: where they disagree, one of these usually shows it.

The values need not satisfy either schema; the caller validates. Order is fixed by the schemas alone, small first.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.subset_validate import Validator

_DEPTH: Final = 4
_PER_PART: Final = 24  # values tried for one item or property
_PER_BRANCH: Final = 240  # values tried for one branch of a combinator
_TO_FILL: Final = 200  # values tried to find one that a schema accepts
_MAX_LENGTH: Final = 1_000
_MAX_PARTS: Final = 20_000  # values made in all, parts of others included
_EXTRA: Final = "another"
_COMBINATORS: Final = ("allOf", "anyOf", "oneOf")


def candidates(narrow: JsonObject, wide: JsonObject, validator: Validator) -> Iterator[Json]:
    """Values to try, drawn from the keywords of both schemas; finite, whatever the schemas are."""
    return _Search(validator).values(narrow, wide, _DEPTH)


class _Search:
    """One walk over a pair of schemas, bounded by the number of values it makes."""

    def __init__(self, validator: Validator) -> None:
        self._accepts = validator.accepts
        self._left = _MAX_PARTS

    def values(self, narrow: JsonObject, wide: JsonObject, depth: int) -> Iterator[Json]:
        for value in self._all(narrow, wide, depth):
            self._left -= 1
            if self._left < 0:
                return
            yield value

    def _all(self, narrow: JsonObject, wide: JsonObject, depth: int) -> Iterator[Json]:
        for schema in (narrow, wide):
            for key in ("enum", "examples"):
                listed = schema.get(key)
                yield from listed if isinstance(listed, list) else []
            if "default" in schema:
                yield schema["default"]
        yield from (None, True, False)
        yield from _numbers(narrow, wide)
        yield from ("x" * length for length in _lengths(narrow, wide, ("minLength", "maxLength")))
        if depth <= 0:
            yield from ([], {})
            return
        yield from self._arrays(narrow, wide, depth - 1)
        yield from self._objects(narrow, wide, depth - 1)
        for branch in _combined(narrow):
            base = {key: value for key, value in narrow.items() if key not in _COMBINATORS}
            yield from islice(self.values({**base, **branch}, wide, depth - 1), _PER_BRANCH)
        for branch in _combined(wide):
            yield from islice(self.values(narrow, branch, depth - 1), _PER_BRANCH)

    def _accepted(self, schema: JsonObject, depth: int) -> Json:
        """Some value that ``schema`` accepts, ``None`` when none of a few is."""
        tried = islice(self.values(schema, {}, depth), _TO_FILL)
        return next((value for value in tried if self._accepts(schema, value)), None)

    def _arrays(self, narrow: JsonObject, wide: JsonObject, depth: int) -> Iterator[Json]:
        items = _part(narrow, "items")
        filler = self._accepted(items, depth)
        for length in _lengths(narrow, wide, ("minItems", "maxItems")):
            yield [filler] * length
        least = min([int(limit) for limit in _limits((narrow,), ("minItems",))] or [1])
        for value in islice(self.values(items, _part(wide, "items"), depth), 4 * _PER_PART):
            yield [value, *[filler] * min(least - 1, _MAX_LENGTH)]

    def _objects(self, narrow: JsonObject, wide: JsonObject, depth: int) -> Iterator[Json]:
        have, want = _part(narrow, "properties"), _part(wide, "properties")
        required = narrow.get("required")
        needed = [str(name) for name in required] if isinstance(required, list) else []
        base: JsonObject = {name: self._accepted(_part(have, name), depth) for name in needed}
        yield base
        yield {**base, _EXTRA: 0}
        for name in sorted({*have, *want}):
            for value in islice(self.values(_part(have, name), _part(want, name), depth), _PER_PART):
                yield {**base, name: value}


def _combined(schema: JsonObject) -> Iterator[JsonObject]:
    for key in _COMBINATORS:
        listed = schema.get(key)
        branches = listed if isinstance(listed, list) else []
        yield from (branch for branch in branches if isinstance(branch, dict))
    refused = schema.get("not")
    if isinstance(refused, dict):
        yield refused


def _limits(schemas: tuple[JsonObject, ...], keys: tuple[str, ...]) -> list[int | float]:
    found = (schema.get(key) for schema in schemas for key in keys)
    return [value for value in found if isinstance(value, int | float) and not isinstance(value, bool)]


def _numbers(narrow: JsonObject, wide: JsonObject) -> Iterator[Json]:
    tried: set[int | float] = set()
    for limit in [0, *_limits((narrow, wide), ("minimum", "maximum"))]:
        for value in (limit, limit + 1, limit - 1, limit + 0.5, limit - 0.5):
            if value not in tried:
                tried.add(value)
                yield value


def _lengths(narrow: JsonObject, wide: JsonObject, keys: tuple[str, ...]) -> list[int]:
    limits = [int(limit) for limit in _limits((narrow, wide), keys)]
    near = {0, 1, *(limit + step for limit in limits for step in (-1, 0, 1))}
    return sorted(length for length in near if 0 <= length <= _MAX_LENGTH)


def _part(schema: JsonObject, key: str) -> JsonObject:
    value = schema.get(key)
    return value if isinstance(value, dict) else {}
