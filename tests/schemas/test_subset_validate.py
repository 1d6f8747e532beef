"""The evaluator of the enforced subset, against jsonschema and by example."""

from __future__ import annotations

import time
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akm_schemas.bounds import SCHEMA_CHECKS, SCHEMA_ERRORS
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.json_values import has_type, json_equal, json_type
from akm_schemas.subset_check import check_schema
from akm_schemas.subset_keywords import TYPES
from akm_schemas.subset_validate import Budget, Validator, validate

NAMES = st.sampled_from(["a", "b", "é", ""])
SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, 1.5, -3, 2**53, "", "a", "abc", "\U0001f9ea", "e\u0301"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
COUNTS = st.integers(0, 3) | st.sampled_from([1.0, 2.0])
LIMITS = st.sampled_from([-1, 0, 1, 1.0, 1.5, 2**53])


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    types = st.sampled_from(TYPES)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
            "enum": st.lists(VALUES, min_size=1, max_size=4),
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "items": inner,
            "additionalProperties": st.booleans(),
            "minItems": COUNTS,
            "maxItems": COUNTS,
            "minLength": COUNTS,
            "maxLength": COUNTS,
            "minimum": LIMITS,
            "maximum": LIMITS,
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=3),
            "not": inner,
            "title": st.just("t"),
            "x-more": st.just(1),
        },
    )


SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    _schemas(st.just({})), lambda inner: _schemas(inner), max_leaves=4
)


@given(SCHEMAS, VALUES)
@settings(max_examples=100)
def test_verdict_agrees_with_jsonschema(schema: dict[str, Any], value: Any) -> None:
    structural = [fault for fault in check_schema(schema) if fault.kind != "bad-default"]
    assert structural == []
    jsonschema.Draft202012Validator.check_schema(schema)
    assert validate(schema, value).ok == jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ([1, {"a": 0}], [1.0, {"a": -0.0}], True),
        ([0], [False], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": None}, {}, False),
        ("1", 1, False),
        (None, False, False),
        ([], {}, False),
        ([1], [1, 1], False),
    ],
)
def test_json_equal(one: Any, other: Any, equal: bool) -> None:
    assert json_equal(one, other) is equal
    assert json_equal(other, one) is equal


def test_json_equal_of_deep_values() -> None:
    one: Any = 1
    other: Any = 1.0
    for _ in range(50_000):
        one, other = [one], [other]
    assert json_equal(one, other)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.0, "integer"),
        (1.5, "number"),
        ("", "string"),
        ([], "array"),
    ],
)
def test_json_type(value: Any, name: str) -> None:
    assert json_type(value) == name
    assert has_type(value, name)
    assert has_type(value, "number") is (name in ("integer", "number"))


@pytest.mark.parametrize(
    ("schema", "value", "lines"),
    [
        ({"type": "integer"}, True, ["the value: found a boolean, expected an integer"]),
        ({"type": ["string", "null"]}, 1, ["the value: found an integer, expected null or a string"]),
        ({"enum": [1, "b", None]}, True, ['the value: found a boolean, expected one of: 1, "b", null']),
        ({"minLength": 3}, "ab", ["the value: has 2 characters, at least 3 are expected"]),
        ({"maxItems": 1.0}, [1, 2], ["the value: has 2 items, at most 1 are allowed"]),
        ({"minimum": 0.5}, 0, ["the value: a number below the minimum of 0.5"]),
        (
            {"required": ["a/b"], "properties": {"c": {}}, "additionalProperties": False},
            {"d": 1},
            [
                'the value: the required property "a/b" is missing',
                'the value: the property "d" is not among the allowed ones: "c"',
            ],
        ),
        (
            {"properties": {"a/b": {"items": {"type": "string"}}}},
            {"a/b": ["", 1]},
            ["/a~1b/1: found an integer, expected a string"],
        ),
        (
            {"anyOf": [{"type": "string"}, {"properties": {"a": {"maximum": 1}}, "type": "object"}]},
            {"a": 2},
            [
                "the value: fits none of the 2 schemas in `anyOf` (1: found an object, expected a string; "
                "2: /a a number above the maximum of 1)"
            ],
        ),
        ({"oneOf": [{}, {"minimum": 1}]}, 3, ["the value: fits 2 of the schemas in `oneOf`, exactly one has to fit"]),
        ({"not": {}}, 3, ["the value: fits the schema that `not` rules out"]),
    ],
)
def test_messages(schema: dict[str, Any], value: Any, lines: list[str]) -> None:
    assert validate(schema, value).lines() == lines


def test_messages_never_show_the_value() -> None:
    secret = "hunter2-hunter2"
    schema: dict[str, Any] = {
        "properties": {
            "a": {"type": "integer"},
            "b": {"enum": ["x"]},
            "c": {"maxLength": 3},
            "d": {"anyOf": [{"type": "null"}, {"maxLength": 1}]},
            "e": {"items": {"not": {"type": "string"}}},
        }
    }
    found = validate(schema, {"a": secret, "b": secret, "c": secret, "d": secret, "e": [secret]})
    assert len(found.errors) == 5
    assert secret not in "\n".join(found.lines())


def test_long_words_of_the_schema_are_clipped() -> None:
    found = validate({"enum": ["x" * 5000, *range(1000)]}, "y")
    assert len(found.errors[0].message) < 200
    assert found.errors[0].message.endswith("and 1000 more")
    found = validate({"properties": {str(n): {} for n in range(99)}, "additionalProperties": False}, {"z" * 500: 1})
    assert len(found.errors[0].message) < 250


def test_errors_are_counted_beyond_fifty() -> None:
    found = validate({"items": {"type": "string"}}, list(range(60)))
    assert len(found.errors) == SCHEMA_ERRORS.high
    assert (found.more, found.ok) == (10, False)
    assert found.lines()[-1] == "and 10 more"
    assert validate({"items": {"type": "string"}}, ["a"] * 60).lines() == []


def test_running_out_of_checks_is_an_error() -> None:
    fitting: list[Any] = [1] * (SCHEMA_CHECKS.high - 1)
    assert validate({"items": {"type": "integer"}}, fitting).ok
    found = validate({"items": {"type": "integer"}}, [*fitting, 1])
    assert [miss.pointer for miss in found.errors] == [""]
    assert "not decided" in found.errors[0].message
    wrong = validate({"items": {"type": "string"}}, [*fitting, 1])
    assert len(wrong.errors) == SCHEMA_ERRORS.high
    assert "not decided" in wrong.errors[-1].message
    assert len(wrong.errors) - 1 + wrong.more == SCHEMA_CHECKS.high - 1


def test_running_out_of_levels_is_an_error() -> None:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(63):
        schema = {"allOf": [schema]}
    assert validate(schema, 1).ok
    assert "not decided" in validate({"not": {"allOf": [schema]}}, 1).errors[0].message


def test_branches_stop_at_the_first_miss() -> None:
    schema: dict[str, Any] = {"anyOf": [{"items": {"type": "string"}}, {"items": {"type": "integer"}}]}
    assert validate(schema, [1] * (SCHEMA_CHECKS.high - 10)).ok


def test_nested_combinators_do_not_explode() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(20):
        schema = {"anyOf": [schema, schema, schema]}
    started = time.perf_counter()
    found = validate(schema, 1)
    assert not found.ok
    assert time.perf_counter() - started < 5


def test_large_enums_of_large_members_use_up_the_budget() -> None:
    member = list(range(900))
    schema: dict[str, Any] = {"items": {"enum": [[*member, n] for n in range(100)]}}
    found = validate(schema, [[-1, *member[1:], 99]] * 2000)
    assert "not decided" in found.errors[-1].message


def test_a_shared_budget_is_used_up() -> None:
    budget = Budget(5)
    assert validate({"items": {}}, [1, 2, 3], budget=budget).ok
    assert budget.left == 1
    assert not validate({"items": {}}, [1, 2, 3], budget=budget).ok


def test_only_own_names_count() -> None:
    assert not validate({"required": ["keys"]}, {}).ok
    assert validate({"properties": {"__class__": {"type": "string"}}}, {}).ok


@given(SCHEMAS, st.lists(VALUES, min_size=1, max_size=6))
def test_a_validator_of_many_values_says_what_one_validation_says(schema: dict[str, Any], values: list[Any]) -> None:
    validator = Validator()
    assert [validator.accepts(schema, value) for value in values] == [validate(schema, value).ok for value in values]


@given(st.lists(VALUES, min_size=1, max_size=6), VALUES)
def test_a_validator_finds_a_member_by_the_equality_of_json(members: list[Any], value: Any) -> None:
    for wanted in (value, *members):
        assert Validator().accepts({"enum": members}, wanted) == any(json_equal(wanted, member) for member in members)


def test_a_validator_says_no_only_where_one_validation_runs_out_of_checks() -> None:
    last: list[Any] = [[number, *[0] * 99] for number in range(300)]  # they differ in what is compared last
    first: list[Any] = [[*[0] * 99, number] for number in range(300)]  # they differ in what is compared first
    for members in (last, first):
        schema: JsonObject = {"items": {"enum": members}}
        validator = Validator()
        values: list[Json] = [members[-1:] * 4, members[-1:], members[:1] * 900, [[0]]]
        for value in values:
            assert validator.accepts(schema, value) == validate(schema, value).ok
    assert Validator().accepts({"items": {"enum": first}}, first[-1:] * 4)
    assert not Validator().accepts({"items": {"enum": last}}, last[-1:] * 4)
