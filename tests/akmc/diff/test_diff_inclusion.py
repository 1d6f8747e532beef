"""Schema inclusion: proofs, witnesses, and the property that neither ever lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from akm_schemas import subset_validate
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.subset_validate import validate
from akmc.diff.inclusion import within
from akmc.diff.meaning import same_meaning

PROVED = [
    ({"type": "string"}, {}),
    ({"enum": ["fast", "slow"]}, {"enum": ["slow", "fast", "slower"]}),
    ({"enum": [1, 2]}, {"type": "integer", "minimum": 1}),
    ({"type": "integer"}, {"type": "number"}),
    ({"type": "integer"}, {"type": ["string", "integer"]}),
    ({"type": "integer", "minimum": 0.5}, {"type": "integer", "minimum": 1}),
    ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 4, "minLength": 0}),
    ({"type": "boolean"}, {"enum": [True, False]}),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, {"type": "array", "items": {"type": "number"}}),
    (
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"]},
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
    ),
    (
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        {"type": "object", "properties": {"a": {}, "b": {"type": "string"}}, "additionalProperties": False},
    ),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["null", "string"]}),
    ({"type": ["null", "string"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ({"type": "string"}, {"oneOf": [{"type": "string"}, {"type": "integer"}]}),
    ({"allOf": [{"type": "string"}, {"maxLength": 3}]}, {"maxLength": 5}),
    ({"type": "integer"}, {"not": {"type": "string"}}),
    ({"type": "string", "not": {"enum": ["x"]}}, {"not": {"enum": ["x"]}}),
]

REFUTED = [
    ({"enum": ["fast", "slow"]}, {"enum": ["fast"]}, "slow"),
    ({"type": ["integer", "string"]}, {"type": "integer"}, ""),
    ({"type": "number"}, {"type": "integer"}, 0.5),
    ({"type": "string"}, {"type": "string", "maxLength": 4}, "xxxxx"),
    ({"type": "integer", "maximum": 10}, {"type": "integer", "maximum": 9}, 10),
    ({"type": "array"}, {"type": "array", "minItems": 1}, []),
    ({"type": "object"}, {"type": "object", "required": ["a"]}, {}),
    ({"type": "object"}, {"type": "object", "additionalProperties": False}, {"another": 0}),
    (
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}},
        {"a": 0},
    ),
]


@pytest.mark.parametrize(("narrow", "wide"), PROVED)
def test_inclusion_is_proved(narrow: dict[str, Any], wide: dict[str, Any]) -> None:
    assert within(narrow, wide).verdict == "proved"


@pytest.mark.parametrize(("narrow", "wide", "witness"), REFUTED)
def test_inclusion_is_refuted_by_a_value(narrow: dict[str, Any], wide: dict[str, Any], witness: Any) -> None:
    found = within(narrow, wide)
    assert found.verdict == "refuted"
    assert found.witness == witness


def test_what_is_neither_proved_nor_refuted_is_said_so() -> None:
    narrow: JsonObject = {"type": "string", "not": {"minLength": 2000}}
    assert within(narrow, {"type": "string", "maxLength": 1999}).verdict == "unknown"


def test_annotations_and_order_have_no_meaning() -> None:
    one: JsonObject = {"type": ["string", "null"], "title": "A", "required": ["b", "a"], "x-ui": 1}
    assert same_meaning(one, {"type": ["null", "string"], "required": ["a", "b"]})
    assert not same_meaning({"enum": [1]}, {"enum": [True]})


def test_deep_and_broad_schemas_end() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(12):
        deep = {
            "anyOf": [{"type": "object", "properties": {"a": deep, "b": deep}, "required": ["a", "b"]}, {"minimum": 1}]
        }
    wide: JsonObject = {"oneOf": [deep, {"type": "string", "maxLength": 3}]}
    assert within(deep, wide).verdict in ("refuted", "unknown")


ENUM_SCHEMAS: dict[str, Callable[[list[Json]], JsonObject]] = {
    "root": lambda enum: {"enum": enum},
    "items": lambda enum: {"type": "array", "items": {"enum": enum}},
}
MEMBERS: dict[str, Callable[[int], Json]] = {
    "number": lambda number: number,
    "string": str,
    "array": lambda number: [number],
    "object": lambda number: {"a": [number]},
}


@pytest.mark.parametrize("schema", ENUM_SCHEMAS.values(), ids=ENUM_SCHEMAS)
@pytest.mark.parametrize("member", MEMBERS.values(), ids=MEMBERS)
def test_enums_that_mostly_overlap_are_compared_in_linear_time(
    member: Callable[[int], Json], schema: Callable[[list[Json]], JsonObject], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = 0

    def counted(name: str) -> None:
        called = getattr(subset_validate, name)

        def count(*arguments: Any) -> Any:
            nonlocal work
            work += 1
            return called(*arguments)

        monkeypatch.setattr(subset_validate, name, count)

    counted("scalar_key")
    counted("equal_counted")
    size = 600
    narrow, wide = ([member(number) for number in range(start, start + size)][::-1] for start in (0, 3))
    assert within(schema(narrow), schema(wide)).verdict != "proved"
    assert 0 < work < 20 * size


def _schemas() -> st.SearchStrategy[dict[str, Any]]:
    small = st.integers(0, 3)
    leaf = st.one_of(
        st.just({}),
        st.builds(
            lambda names: {"type": names}, st.lists(st.sampled_from(_TYPES), min_size=1, max_size=3, unique=True)
        ),
        st.builds(lambda values: {"enum": values}, st.lists(_values(), min_size=1, max_size=3)),
        st.builds(lambda low, high: {"type": "integer", "minimum": low, "maximum": high}, small, small),
        st.builds(lambda low, high: {"type": "string", "minLength": low, "maxLength": high}, small, small),
        st.builds(lambda low: {"maxLength": low, "minItems": low, "maximum": low}, small),
    )

    def larger(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
        pair = st.lists(inner, min_size=1, max_size=2)
        return st.one_of(
            st.builds(lambda items, least: {"type": "array", "items": items, "minItems": least}, inner, small),
            st.builds(
                lambda a, b, needed, closed: {
                    "type": "object",
                    "properties": {"a": a, "b": b},
                    "required": needed,
                    **({"additionalProperties": False} if closed else {}),
                },
                inner,
                inner,
                st.lists(st.sampled_from(["a", "b"]), unique=True),
                st.booleans(),
            ),
            *(st.builds(lambda branches, key=key: {key: branches}, pair) for key in ("allOf", "anyOf", "oneOf")),
            st.builds(lambda refused, base: {**base, "not": refused}, inner, inner),
        )

    return st.recursive(leaf, larger, max_leaves=5)


_TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]


def _values() -> st.SearchStrategy[Any]:
    leaf = st.one_of(
        st.none(), st.booleans(), st.integers(-1, 4), st.sampled_from([0.5, 1.0]), st.text("xy", max_size=4)
    )
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
        ),
        max_leaves=4,
    )


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_schemas(), _schemas(), st.lists(_values(), min_size=8, max_size=8))
def test_no_value_contradicts_a_verdict(narrow: dict[str, Any], wide: dict[str, Any], values: list[Any]) -> None:
    found = within(narrow, wide)
    if found.verdict == "refuted":
        assert found.witness is not UNSET
        assert validate(narrow, found.witness).ok
        assert not validate(wide, found.witness).ok
    if found.verdict == "proved":
        assert not [value for value in values if validate(narrow, value).ok and not validate(wide, value).ok]


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_schemas())
def test_every_schema_includes_itself(schema: dict[str, Any]) -> None:
    assert within(schema, schema).verdict == "proved"
