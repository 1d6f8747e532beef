"""RFC 8785: its own vectors, and the rfc8785 package as oracle."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from akm_schemas.bounds import SAFE_INTEGER, STRICT_JSON_DEPTH
from akm_schemas.canonical import CanonicalError, canonical_bytes, canonical_text, number_text, pretty_bytes, writer_of
from akm_schemas.strict_json import parse_json

# Appendix B of the RFC: IEEE 754 bits and the text of the number.
APPENDIX_B = (
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
)

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SAFE_INTEGERS = st.integers(-SAFE_INTEGER + 1, SAFE_INTEGER - 1)  # the oracle stops one earlier
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | SAFE_INTEGERS | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(("bits", "text"), APPENDIX_B)
def test_numbers_of_appendix_b(bits: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert number_text(number) == text
    assert canonical_text([number]) == f"[{text}]"


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_what_appendix_b_refuses(bits: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    with pytest.raises(CanonicalError, match="no JSON number"):
        number_text(number)
    with pytest.raises(CanonicalError) as caught:
        canonical_bytes({"a": [number]})
    assert caught.value.path == "a[0]"


def test_sample_of_the_rfc() -> None:
    value: Any = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\nA'\u0042\u0022\u005c\\\"\u002f",
        "literals": [None, True, False],
    }
    assert canonical_text(value) == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_keys_sort_by_utf16_code_unit() -> None:
    value: Any = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis",
    }
    again: Any = parse_json(canonical_bytes({"outer": [value]}), max_depth=3)
    order = list(again["outer"][0])
    assert order == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


def test_strings_are_escaped_as_little_as_possible() -> None:
    assert (
        canonical_text("\b\t\n\f\r\x00\x1f\x7f\u2028\u2029</é") == '"\\b\\t\\n\\f\\r\\u0000\\u001f\x7f\u2028\u2029</é"'
    )


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (-0.0, "0"), (1, "1"), (True, "true"), (1.5, "1.5"), (1e21, "1e+21"), (-7, "-7")]
)
def test_number_text_is_what_routes_match(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"a": {"b c": [1, "\ud800"]}}, 'a["b c"][1]', "lone surrogate at character 0"),
        ({"x": {"\udc00": 1}}, "x", "the key has a lone surrogate"),
        ([{1: 2}], "[0]", "not text"),
        ([2**53 + 1], "[0]", "2^53"),
        (-(2**53) - 1, "", "2^53"),
        ([(1,)], "[0]", "tuple is no JSON value"),
        ({"a": b""}, "a", "bytes is no JSON value"),
    ],
)
def test_refusals_name_the_place(value: Any, path: str, reason: str) -> None:
    with pytest.raises(CanonicalError) as caught:
        canonical_bytes(value)
    assert caught.value.path == path
    assert reason in caught.value.message


def test_largest_integers_pass() -> None:
    assert canonical_text([2**53, -(2**53)]) == "[9007199254740992,-9007199254740992]"


def test_deep_answers_have_a_canonical_form_and_deeper_ones_an_error() -> None:
    depth = STRICT_JSON_DEPTH.high
    text = "[" * depth + "]" * depth
    assert canonical_text(parse_json(text, max_depth=depth)) == text
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(CanonicalError, match="nested too deeply"):
        canonical_bytes(value)


def test_the_value_is_left_alone() -> None:
    value: Any = {"b": [1.0, {"\U0001f600": -0.0}], "a": 1}
    assert canonical_text(value) == '{"a":1,"b":[1,{"\U0001f600":0}]}'
    assert list(value) == ["b", "a"]
    assert type(value["b"][0]) is float


@given(VALUES)
@settings(max_examples=100)
def test_agrees_with_the_oracle(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@given(FLOATS)
@settings(max_examples=100)
def test_number_text_agrees_with_the_oracle_and_reads_back(number: float) -> None:
    text = number_text(number)
    assert text.encode() == rfc8785.dumps(number)
    assert float(text) == number


@given(VALUES)
@settings(max_examples=50)
def test_pretty_twin_has_the_same_values(value: Any) -> None:
    pretty = pretty_bytes(value)
    again = parse_json(pretty, max_depth=64, canonical_numbers=True)
    assert canonical_bytes(again) == canonical_bytes(value)
    assert b"\n" in pretty or not isinstance(value, (dict, list)) or not value


def test_pretty_twin_by_example() -> None:
    assert pretty_bytes({"b": [1.0, 1e21], "a": {}}) == b'{\n  "a": {},\n  "b": [\n    1,\n    1e+21\n  ]\n}'
    with pytest.raises(CanonicalError):
        pretty_bytes([math.nan])


PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | SAFE_INTEGERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab1_-", max_size=4), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES | PLAIN)
def test_the_fast_writer_writes_what_the_walk_writes(value: Any) -> None:
    write = writer_of(value)
    assert write(value) == canonical_bytes(value)
    assert write({"kind": "exec", "held": value}) == canonical_bytes({"kind": "exec", "held": value})


@given(PLAIN)
def test_a_plain_value_is_not_walked(value: Any) -> None:
    assert writer_of(value) is not canonical_bytes


@pytest.mark.parametrize("odd", [1.5, -0.0, 1e20, SAFE_INTEGER + 1, {"\U0001f600": 1, "\uffff": 2}, {1: 2}, (1,), b"x"])
def test_what_has_to_be_put_right_is_walked(odd: Any) -> None:
    assert writer_of([{"deep": [odd]}]) is canonical_bytes


def test_the_fast_writer_refuses_as_the_walk_does() -> None:
    with pytest.raises(CanonicalError, match="a lone surrogate"):
        writer_of({"a": "\ud800"})({"a": "\ud800"})
