"""The YAML 1.2 core schema table."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_schemas.bounds import SAFE_INTEGER
from akmc_grammar.yaml_core import NotJson, resolve_plain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(word, None) for word in ("", "~", "null", "Null", "NULL")],
        *[(word, True) for word in ("true", "True", "TRUE")],
        *[(word, False) for word in ("false", "False", "FALSE")],
        ("0", 0),
        ("017", 17),
        ("-017", -17),
        ("+3", 3),
        ("0o17", 15),
        ("0x1F", 31),
        ("0xff", 255),
        ("1e3", 1000.0),
        ("-1.5E-1", -0.15),
        (".5", 0.5),
        ("1.", 1.0),
        ("0000000000000000000000000000001", 1),
        (str(SAFE_INTEGER), SAFE_INTEGER),
        (str(-SAFE_INTEGER), -SAFE_INTEGER),
        (f"{SAFE_INTEGER + 1}.0", float(SAFE_INTEGER)),
        ("1e22", 1e22),
    ],
)
def test_words_and_numbers(text: str, value: object) -> None:
    found = resolve_plain(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "on",
        "yes",
        "off",
        "y",
        "n",
        "No",
        "NO",
        "tRUE",
        "nULL",
        "2031-04-05",
        "12:30:45",
        "1_000",
        "0b11",
        "0o8",
        "0xG",
        "+0x1",
        "-0o7",
        "1e",
        "1e+",
        ".",
        "..",
        "-",
        "+",
        "=",
        "<<",
        "1.2.3",
        "1:2",
        ".infinity",
        "inf",
        "nan",
        ".NAN1",
        "٣",
        "½",
        "1\xa0",
        "--1",
        "+-1",
        "0X1F",
        "0O17",
    ],
)
def test_everything_else_is_text(text: str) -> None:
    assert resolve_plain(text) == text


@pytest.mark.parametrize(
    "text",
    [
        ".inf",
        "-.Inf",
        "+.INF",
        ".nan",
        ".NaN",
        ".NAN",
        str(SAFE_INTEGER + 1),
        str(-SAFE_INTEGER - 1),
        "0x20000000000001",
        "9" * 10_000,
        "1e999",
        "-1e400",
    ],
)
def test_what_json_cannot_carry(text: str) -> None:
    found = resolve_plain(text)
    assert isinstance(found, NotJson)
    assert found.reason


@given(st.integers(-SAFE_INTEGER, SAFE_INTEGER) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans())
def test_what_json_writes_reads_as_json(value: float) -> None:
    found = resolve_plain(json.dumps(value))
    assert found == value
    assert type(found) is type(value)
