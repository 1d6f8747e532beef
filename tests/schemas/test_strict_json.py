"""Strict reading of JSON."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akm_schemas.canonical import canonical_bytes
from akm_schemas.strict_json import JsonFault, parse_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=15,
)


def fault(data: bytes | str, depth: int = 512, **more: Any) -> JsonFault:
    with pytest.raises(JsonFault) as caught:
        parse_json(data, max_depth=depth, **more)
    return caught.value


@given(VALUES, st.booleans(), st.sampled_from(["", " ", "\n\t\r "]))
@settings(max_examples=100)
def test_reads_what_the_standard_library_writes(value: Any, ascii_only: bool, blanks: str) -> None:
    text = blanks + json.dumps(value, ensure_ascii=ascii_only) + blanks
    assert parse_json(text, max_depth=64) == value
    assert parse_json(text.encode(), max_depth=64) == value


@pytest.mark.parametrize(
    ("data", "path", "reason"),
    [
        (b'{"a": 1, "b": 2, "a": 3}', "", 'the name "a" is given twice'),
        (b'[{"x": {"a": 1, "\\u0061": 3}}]', "[0].x", 'the name "a" is given twice'),
        (b"[NaN]", "[0]", "NaN is no JSON number"),
        (b'{"a": [1, -Infinity]}', "a[1]", "-Infinity is no JSON number"),
        (b"[1e999]", "[0]", "beyond the range of a double"),
        (b"9007199254740993", "", "2^53"),
        (b'{"n": -9007199254740993}', "n", "2^53"),
        (b"[" + b"9" * 5000 + b"]", "[0]", "2^53"),
        (b'["\\ud800"]', "[0]", "lone surrogate"),
        (b'{"a": {"\\udfff": 1}}', "a", "lone surrogate"),
        (b'["\\ud800\\ud800\\udc00"]', "[0]", "lone surrogate"),
    ],
)
def test_values_that_are_refused_have_a_path(data: bytes, path: str, reason: str) -> None:
    found = fault(data)
    assert (found.path, found.offset) == (path, None)
    assert reason in found.message
    assert str(found) == (f"{path}: {found.message}" if path else found.message)


@pytest.mark.parametrize(
    ("data", "offset", "reason"),
    [
        (b"", 0, "the text is empty"),
        (b" \n", 2, "the text is empty"),
        (b"1 2", 2, "more text after"),
        (b'{"a": 1}}', 8, "more text after"),
        (b"\xef\xbb\xbf1", 0, "byte order mark"),
        ("\ufeff1", 0, "byte order mark"),
        (b'"\xff"', 1, "not UTF-8"),
        (b'"\xed\xa0\x80"', 1, "not UTF-8"),
        ("[\ud800]", 1, "lone surrogate"),
        ('["é", x]', 7, "not JSON: expecting value"),
        (b"[01]", 2, "not JSON"),
        (b"'a'", 0, "not JSON"),
        (b'"\t"', 1, "not JSON"),
        (b"[1] // no", 4, "more text after"),
        (b'{"a":1,"a":2} x', 14, "more text after"),
        (b"\x0b1", 0, "not JSON"),
    ],
)
def test_faults_of_the_text_have_an_offset_in_bytes(data: bytes | str, offset: int, reason: str) -> None:
    found = fault(data)
    assert (found.offset, found.path) == (offset, None)
    assert reason in found.message


@pytest.mark.parametrize("data", [b"[1,]", b'{"a":1,}', b"[1 2]", b"{1:2}", b"+1", b".5", b"1.", b"nul", b'"\\x"'])
def test_other_dialects_are_refused(data: bytes) -> None:
    assert fault(data).offset is not None  # Python versions differ in which byte of it they name


def test_numbers_keep_their_kind() -> None:
    value: Any = parse_json("[1, 1.0, -0, -0.0, 1e2, 9007199254740992, 1e300]", max_depth=1)
    assert value == [1, 1.0, 0, -0.0, 100.0, 9007199254740992, 1e300]
    assert [type(item) for item in value] == [int, float, int, float, float, int, float]


def test_canonical_text_of_large_doubles_reads_back() -> None:
    values: Any = [1e20, -1e20, 2.0**68, 123456789012345680000.0, 2.0**54]
    data = canonical_bytes(values)
    fault(data)
    again: Any = parse_json(data, max_depth=1, canonical_numbers=True)
    assert again == values
    assert all(type(item) is float for item in again)
    assert "2^53" in fault(b"100000000000000000001", canonical_numbers=True).message
    assert "2^53" in fault(b"9007199254740993", canonical_numbers=True).message


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_depth_is_exact_and_never_a_recursion_error(opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    for depth in (1, 64, 512):
        inner = "1"
        text = opening * depth + inner + closing * depth
        parse_json(text, max_depth=depth)
        found = fault(text, depth - 1)
        assert f"deeper than {depth - 1} levels" in found.message
    for text in (opening * 200_000, opening * 200_000 + "1" + closing * 200_000):
        assert "deeper than 512 levels" in fault(text).message
    parse_json("1", max_depth=0)


def test_many_shallow_containers_are_not_deep() -> None:
    value: Any = parse_json(b"[" + b"[],{}," * 5000 + b"1]", max_depth=2)
    assert len(value) == 10_001


def test_garbage_is_answered_fast() -> None:
    million = 1_000_000
    started = time.perf_counter()
    for data in (
        b"[" * 10 * million,
        b'{"a":' * 2 * million,
        b"1" * 10 * million,
        b'"' * 10 * million,
        b"\xff" * million,
    ):
        fault(data)
    assert time.perf_counter() - started < 5


@given(st.binary(max_size=40))
@settings(max_examples=100)
def test_any_bytes_are_a_value_or_a_fault(data: bytes) -> None:
    try:
        value = parse_json(data, max_depth=8)
    except JsonFault as found:
        assert found.message
    else:
        assert json.loads(data) == value
