"""Faults of schemas: kind, place and words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akm_schemas.bounds import SCHEMA_BYTES
from akm_schemas.subset_check import SchemaFault, check_schema
from akm_schemas.subset_faults import KeywordFix
from akm_schemas.subset_keywords import ANNOTATIONS, ENFORCED, FOREIGN, UNSUPPORTED


def only(schema: Any) -> SchemaFault:
    (fault,) = check_schema(schema)
    return fault


@pytest.mark.parametrize("keyword", sorted(UNSUPPORTED))
def test_every_other_keyword_is_refused_with_a_replacement(keyword: str) -> None:
    fault = only({"type": "object", keyword: {}})
    assert (fault.kind, fault.pointer, fault.part) == ("unsupported-keyword", (keyword,), "key")
    assert f"`{keyword}`" in fault.message
    assert fault.help == UNSUPPORTED[keyword]


def test_the_keyword_tables_do_not_overlap() -> None:
    tables = (ENFORCED, ANNOTATIONS, UNSUPPORTED.keys(), FOREIGN.keys())
    assert sum(map(len, tables)) == len(frozenset().union(*tables))


def test_replacements_that_say_the_same_are_safe_fixes() -> None:
    assert only({"const": 3}).fix == KeywordFix("enum", [3], safe=True)
    assert only({"id": "urn:x"}).fix == KeywordFix("$id", "urn:x", safe=True)
    assert only({"exclusiveMinimum": 0}).fix == KeywordFix("minimum", 0, safe=False)
    assert only({"minimun": 3}).fix == KeywordFix("minimum", 3, safe=False)


def test_no_fix_proposes_a_keyword_that_is_there() -> None:
    assert only({"const": 3, "enum": [3]}).fix is None
    assert only({"minimun": 3, "minimum": 3}).fix is None


@pytest.mark.parametrize(
    ("word", "help_"),
    [
        ("minimun", 'did you mean "minimum"?'),
        ("Type", 'did you mean "type"?'),
        ("requierd", 'did you mean "required"?'),
        ("descripton", 'did you mean "description"?'),
        ("patern", 'did you mean "pattern"? It is not enforced: ' + UNSUPPORTED["pattern"]),
        ("nullable", FOREIGN["nullable"]),
        ("zzz", "the enforced keywords are: additionalProperties, allOf"),
    ],
)
def test_words_of_no_draft(word: str, help_: str) -> None:
    fault = only({word: 1})
    assert (fault.kind, fault.pointer, fault.part) == ("unknown-keyword", (word,), "key")
    assert fault.message == f'"{word}" is no JSON Schema keyword'
    assert fault.help is not None
    assert fault.help.startswith(help_)


@pytest.mark.parametrize(
    ("schema", "pointer", "message"),
    [
        (True, (), "a schema has to be a mapping, found true"),
        ([], (), "found an empty list"),
        ({"items": True}, ("items",), "a schema has to be a mapping, found true"),
        ({"not": False}, ("not",), "found false"),
        ({"not": ["x"]}, ("not",), "found a list"),
        ({"type": "strig"}, ("type",), '"strig" is no JSON Schema type'),
        ({"type": 3}, ("type",), "`type` has to be the name of a type, found 3"),
        ({"type": []}, ("type",), "`type` is an empty list"),
        ({"type": ["string", "nul"]}, ("type", 1), '"nul" is no JSON Schema type'),
        ({"type": ["null", "null"]}, ("type", 1), '`type` lists "null" twice'),
        ({"required": True}, ("required",), "`required` has to be a list of property names, found true"),
        ({"required": ["a", 1]}, ("required", 1), "`required` lists property names, found 1"),
        ({"required": ["a", "a"]}, ("required", 1), '`required` lists "a" twice'),
        ({"enum": []}, ("enum",), "`enum` is an empty list"),
        ({"enum": "red"}, ("enum",), '`enum` has to be a list of values, found the text "red"'),
        ({"minLength": -1}, ("minLength",), "`minLength` has to be a whole number from 0, found -1"),
        ({"maxItems": 1.5}, ("maxItems",), "found 1.5"),
        ({"minItems": True}, ("minItems",), "found true"),
        ({"maxLength": "many"}, ("maxLength",), 'found the text "many"'),
        ({"minimum": "3"}, ("minimum",), '`minimum` has to be a number, found the text "3"'),
        ({"maximum": None}, ("maximum",), "found null"),
        ({"properties": ["x"]}, ("properties",), "`properties` has to be a mapping of names to schemas"),
        ({"properties": {"a": "string"}}, ("properties", "a"), 'found the text "string"'),
        ({"anyOf": []}, ("anyOf",), "`anyOf` has to be a non-empty list of schemas, found an empty list"),
        ({"allOf": {}}, ("allOf",), "found an empty mapping"),
        ({"oneOf": [{}, 1]}, ("oneOf", 1), "found 1"),
        ({"additionalProperties": "no"}, ("additionalProperties",), "has to be true or false"),
    ],
)
def test_malformed_values(schema: Any, pointer: tuple[str | int, ...], message: str) -> None:
    fault = only(schema)
    assert (fault.kind, fault.pointer, fault.part) == ("malformed", pointer, "value")
    assert message in fault.message
    assert fault.help


@pytest.mark.parametrize(
    ("word", "meant"), [("strig", "string"), ("nul", "null"), ("int", "integer"), ("Bool", "boolean")]
)
def test_misspelt_types_get_a_suggestion(word: str, meant: str) -> None:
    help_ = only({"type": word}).help
    assert help_ is not None
    assert f'did you mean "{meant}"?' in help_


def test_tuples_and_schema_form_are_unsupported() -> None:
    faults = check_schema({"items": [{"type": 3}], "additionalProperties": {"type": 3}})
    assert [(fault.kind, fault.pointer, fault.part) for fault in faults] == [
        ("unsupported-keyword", ("items",), "key"),
        ("unsupported-keyword", ("additionalProperties",), "key"),
    ]
    assert check_schema({"additionalProperties": True}) == []


def test_all_faults_in_document_order() -> None:
    schema: dict[str, Any] = {
        "properties": {"list": {"items": {"anyOf": [{"pattern": "x"}, {"not": {"const": 1}}]}}},
        "allOf": [{"oneOf": [{"type": "strig"}]}],
        "format": "date",
    }
    assert [fault.pointer for fault in check_schema(schema)] == [
        ("properties", "list", "items", "anyOf", 0, "pattern"),
        ("properties", "list", "items", "anyOf", 1, "not", "const"),
        ("allOf", 0, "oneOf", 0, "type"),
        ("format",),
    ]


@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        ({"type": "integer", "default": True}, [("default",)]),
        ({"type": "integer", "enum": [1, "two", 3]}, [("enum", 1)]),
        ({"type": "string", "maxLength": 2, "enum": ["a", "abc", 3]}, [("enum", 1), ("enum", 2)]),
        ({"enum": [1, 2], "default": True}, [("default",)]),
        ({"enum": [[False]], "default": [0]}, [("default",)]),
        ({"properties": {"a": {"type": "string", "default": 5}}}, [("properties", "a", "default")]),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}], "default": 3}, [("default",)]),
        ({"type": "integer", "default": 1.0}, []),
        ({"enum": [{"a": 1, "b": [2]}], "default": {"b": [2.0], "a": 1}}, []),
        ({"type": ["array", "null"], "default": None}, []),
        ({"type": ["array", "null"], "enum": [None, []], "title": "t"}, []),
    ],
)
def test_defaults_and_members_satisfy_their_schema(schema: Any, pointers: list[Any]) -> None:
    faults = check_schema(schema)
    assert [fault.pointer for fault in faults] == pointers
    assert all((fault.kind, fault.part) == ("bad-default", "value") for fault in faults)


def test_a_default_is_not_compared_with_a_faulty_schema() -> None:
    assert only({"type": "strig", "default": 1}).kind == "malformed"
    assert only({"properties": {"a": {"format": "x"}}, "default": 1, "type": "object"}).kind == "unsupported-keyword"


def test_annotations_pass_whatever_they_hold() -> None:
    schema: dict[str, Any] = {keyword: [{"const": 1}] for keyword in (*(ANNOTATIONS - {"default"}), "x-", "x-width")}
    assert check_schema(schema) == []


def test_bounds() -> None:
    def nested(levels: int) -> Any:
        schema: Any = {}
        for _ in range(levels - 1):
            schema = {"not": schema}
        return schema

    assert check_schema(nested(64)) == []
    fault = only(nested(65))
    assert (fault.kind, fault.pointer) == ("bound", ("not",) * 64)
    assert only(nested(50_000)).kind == "bound"
    room = SCHEMA_BYTES.high - len('{"title":""}')
    assert check_schema({"title": "x" * room}) == []
    fault = only({"title": "x" * (room + 1)})
    assert (fault.kind, fault.pointer) == ("bound", ())
    assert str(SCHEMA_BYTES.high) in fault.message


def test_checks_of_defaults_are_bounded() -> None:
    schema: dict[str, Any] = {
        "anyOf": [{"type": "null", "title": str(n)} for n in range(4000)],
        "enum": list(range(4000)),
    }
    faults = check_schema(schema)
    assert faults[-1].kind == "bound"
    assert len(faults) < 1000


@pytest.mark.parametrize("value", [{"a": float("nan")}, {"a": "\ud800"}, {1: 2}, 2**70, {"type": ("string",)}])
def test_what_is_not_json_is_one_fault(value: Any) -> None:
    assert only(value).kind == "malformed"


WORDS = sorted(ENFORCED | {"default", "const", "x-a", "title", "tpye"})
ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 4)
    | st.floats(allow_nan=False)
    | st.sampled_from(["string", "null", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=15,
)


@given(ANY_JSON)
@settings(max_examples=100)
def test_never_raises_and_points_at_what_is_there(schema: Any) -> None:
    for fault in check_schema(schema):
        place = schema
        for part in fault.pointer:
            place = place[part]
        assert fault.message
        assert fault.help
