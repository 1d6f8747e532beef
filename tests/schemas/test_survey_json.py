"""What the survey of a JSON text says of its value."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_schemas.canonical import canonical_bytes, plain_bytes
from akm_schemas.json_types import Json
from akm_schemas.strict_json import survey_json

SAFE = 2**53
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-SAFE, SAFE)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(value=VALUES, ascii_only=st.booleans())
def test_a_plain_value_is_written_canonically_without_a_walk(value: Json, ascii_only: bool) -> None:
    try:
        text = json.dumps(value, ensure_ascii=ascii_only).encode()
    except UnicodeEncodeError:  # half a surrogate pair has no bytes
        return
    if b"\\ud" in text:
        return
    read = survey_json(text, max_depth=32, canonical_numbers=True)
    if read.plain:
        assert plain_bytes(read.value) == canonical_bytes(read.value)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('{"a": [1, "x", null, true]}', True),
        ('{"a": "1.5"}', True),
        ('{"a": 1.5}', False),
        ('{"a": 1.0}', False),
        ("100000000000000000000", False),
        ('{"ü": 1}', False),
        ('{"\\u00fc": 1}', False),
    ],
)
def test_what_counts_as_plain(text: str, plain: bool) -> None:
    assert survey_json(text, max_depth=32, canonical_numbers=True).plain is plain
