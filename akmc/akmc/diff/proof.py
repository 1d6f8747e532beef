"""Proof by structure that one schema lies within another.

Sound for the enforced subset (spec 1, section 2.4), and incomplete: ``False`` means that no proof was found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, TypeAlias

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.subset_validate import Validator, json_equal

_TYPES: Final = ("null", "boolean", "number", "string", "array", "object")
_COMBINATORS: Final = ("allOf", "anyOf", "oneOf", "not")
_OBJECT_KEYS: Final = frozenset(("properties", "additionalProperties"))
_MAX_PROOF_STEPS: Final = 20_000

_Finite: TypeAlias = "list[Json]"


def proved(narrow: JsonObject, wide: JsonObject, validator: Validator) -> bool:
    """Whether every value of ``narrow`` is provably one of ``wide``; both in the form of ``meaning.meaning``."""
    return _Proof(validator).included(narrow, wide)


class _Proof:
    """One proof attempt over schemas in ``meaning`` form; gives up after a bounded number of steps."""

    def __init__(self, validator: Validator) -> None:
        self._accepts = validator.accepts
        self._steps = 0

    def included(self, narrow: JsonObject, wide: JsonObject) -> bool:
        self._steps += 1
        if self._steps > _MAX_PROOF_STEPS:
            return False
        if not wide or json_equal(narrow, wide):
            return True
        values = _finite(narrow)
        if values is not None:
            return all(self._accepts(wide, value) for value in values if self._accepts(narrow, value))
        return self._wide_split(narrow, wide) or self._narrow_split(narrow, wide)

    def _narrow_split(self, narrow: JsonObject, wide: JsonObject) -> bool:
        """``narrow`` is a conjunction: any conjunct that lies within ``wide`` is enough."""
        for key in ("anyOf", "oneOf"):
            if key in narrow:
                rest = _without(narrow, key)
                if all(self.included(_joined(rest, branch), wide) for branch in _branches(narrow, key)):
                    return True
        if "allOf" in narrow:
            rest = _without(narrow, "allOf")
            parts = [_joined(rest, branch) for branch in _branches(narrow, "allOf")]
            return any(self.included(part, wide) for part in [rest, *parts])
        if any(key in narrow for key in _COMBINATORS):
            return self.included({key: value for key, value in narrow.items() if key not in _COMBINATORS}, wide)
        types = _types(narrow)
        if len(types) > 1:
            return all(self.included(_typed(narrow, name), wide) for name in types)
        return False

    def _wide_split(self, narrow: JsonObject, wide: JsonObject) -> bool:
        """Every conjunct of ``wide`` must hold."""
        plain = {key: value for key, value in wide.items() if key not in _COMBINATORS}
        if not self._within_plain(narrow, plain):
            return False
        if not all(self.included(narrow, branch) for branch in _branches(wide, "allOf")):
            return False
        if "anyOf" in wide and not self._within_any(narrow, _branches(wide, "anyOf")):
            return False
        if "oneOf" in wide and not self._within_one(narrow, _branches(wide, "oneOf")):
            return False
        refused = wide.get("not")
        if not isinstance(refused, dict):
            return True
        return _disjoint(narrow, refused) or ("not" in narrow and json_equal(narrow["not"], refused))

    def _within_any(self, narrow: JsonObject, branches: list[JsonObject]) -> bool:
        if any(self.included(narrow, branch) for branch in branches):
            return True
        types = _types(narrow)
        parts = [_typed(narrow, name) for name in types] if len(types) > 1 else _branches(narrow, "anyOf")
        return bool(parts) and all(self._within_any(part, branches) for part in parts)

    def _within_one(self, narrow: JsonObject, branches: list[JsonObject]) -> bool:
        for index, branch in enumerate(branches):
            others = branches[:index] + branches[index + 1 :]
            if self.included(narrow, branch) and all(_disjoint(narrow, other) for other in others):
                return True
        return False

    def _within_plain(self, narrow: JsonObject, wide: JsonObject) -> bool:
        if not wide:
            return True
        if any(key in narrow for key in _COMBINATORS):
            base = {key: value for key, value in narrow.items() if key not in _COMBINATORS}
            return self._within_plain(base, wide) or self._narrow_split(narrow, wide)
        return all(self._within_type(narrow, wide, name) for name in _types(narrow))

    def _within_type(self, narrow: JsonObject, wide: JsonObject, name: str) -> bool:
        """``narrow`` restricted to the type ``name``, both without combinators."""
        allowed = _types(wide)
        if name not in allowed and not (name == "integer" and "number" in allowed):
            return False
        if "enum" in wide:
            values = _finite(_typed(narrow, name))
            return values is not None and all(self._accepts(wide, value) for value in values)
        if name == "string":
            return _range_within(narrow, wide, "minLength", "maxLength", whole=True, low=0)
        if name in ("integer", "number"):
            return _range_within(narrow, wide, "minimum", "maximum", whole=name == "integer")
        if name == "array":
            return self._arrays(narrow, wide)
        return self._objects(narrow, wide) if name == "object" else True

    def _arrays(self, narrow: JsonObject, wide: JsonObject) -> bool:
        if not _range_within(narrow, wide, "minItems", "maxItems", whole=True, low=0):
            return False
        return narrow.get("maxItems") == 0 or self.included(_child(narrow, "items"), _child(wide, "items"))

    def _objects(self, narrow: JsonObject, wide: JsonObject) -> bool:
        if not _names(wide).issubset(_names(narrow)):
            return False
        have, want = _child(narrow, "properties"), _child(wide, "properties")
        closed = narrow.get("additionalProperties") is False
        if wide.get("additionalProperties") is False and not (closed and set(have).issubset(want)):
            return False
        for name in want:
            if name not in have and closed:
                continue
            if not self.included(_child(have, name), _child(want, name)):
                return False
        return True


def _finite(schema: JsonObject) -> _Finite | None:
    """All values that ``schema`` could accept, when it names them; ``None`` when it does not."""
    listed = schema.get("enum")
    if isinstance(listed, list):
        return listed
    types = schema.get("type")
    if isinstance(types, list) and types and set(types).issubset(("null", "boolean")):
        return [value for name in types for value in ((None,) if name == "null" else (False, True))]
    return None


def _typed(schema: JsonObject, name: str) -> JsonObject:
    return {**schema, "type": [name]}


def _types(schema: JsonObject) -> list[str]:
    types = schema.get("type")
    return [str(name) for name in types] if isinstance(types, list) else list(_TYPES)


def _child(schema: JsonObject, key: str) -> JsonObject:
    value = schema.get(key)
    return value if isinstance(value, dict) else {}


def _branches(schema: JsonObject, key: str) -> list[JsonObject]:
    value = schema.get(key)
    return [branch for branch in value if isinstance(branch, dict)] if isinstance(value, list) else []


def _without(schema: JsonObject, key: str) -> JsonObject:
    return {name: value for name, value in schema.items() if name != key}


def _names(schema: JsonObject) -> set[str]:
    value = schema.get("required")
    return {str(name) for name in value} if isinstance(value, list) else set()


def _joined(base: JsonObject, branch: JsonObject) -> JsonObject:
    """A schema no narrower than ``base`` and ``branch`` together: both when no keyword clashes, else the branch."""
    clash = set(base) & set(branch) or (_OBJECT_KEYS & set(base) and _OBJECT_KEYS & set(branch))
    return branch if clash else {**base, **branch}


def _disjoint(one: JsonObject, other: JsonObject) -> bool:
    """Whether no value can be of both, judged by their types alone."""
    left, right = set(_types(one)), set(_types(other))
    if "number" in left or "number" in right:
        left, right = _widened(left), _widened(right)
    return not left & right


def _widened(types: set[str]) -> set[str]:
    return {"number" if name == "integer" else name for name in types}


def _bounds(schema: JsonObject, keys: tuple[str, str], *, whole: bool, low: float) -> Iterator[float]:
    for key, missing, rounded in zip(keys, (low, math.inf), (math.ceil, math.floor), strict=True):
        value = schema.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            yield missing
        else:
            yield rounded(value) if whole and math.isfinite(value) else value


def _range_within(
    narrow: JsonObject, wide: JsonObject, low_key: str, high_key: str, *, whole: bool, low: float = -math.inf
) -> bool:
    low_narrow, high_narrow = _bounds(narrow, (low_key, high_key), whole=whole, low=low)
    low_wide, high_wide = _bounds(wide, (low_key, high_key), whole=whole, low=low)
    return low_wide <= low_narrow and high_narrow <= high_wide
