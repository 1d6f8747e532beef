"""Indented JSON in pieces: the bytes are those of the whole, however small the pieces, and damage is found by decoding."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_run import cuts, windowed
from akm_run.show.indented import indented
from akm_run.values import decoded as value_of
from akm_run.values import encoded
from akm_run.windowed import Windowed
from akm_schemas.json_types import Json

TEXT = st.text() | st.text(alphabet='a"\\,:[]{}\n\u202e\x7f\U0001f600', max_size=40)
JSON: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | TEXT.map(lambda text: text * 20),
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
)


def decoded(data: object) -> Json:
    assert isinstance(data, bytes)
    return value_of(data)


def pieces_of(data: bytes, pad: bytes = b"\n") -> Iterator[bytes]:
    return indented(Windowed.of(data), decoded, pad)


def whole(data: bytes, pad: bytes = b"\n") -> bytes:
    text = msgspec.json.format(msgspec.json.encode(decoded(data)), indent=2)
    return text.replace(b"\n", pad)


@pytest.fixture
def tiny() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "PIECE_BYTES", 16)
        yield


@given(JSON, st.integers(2, 60), st.integers(1, 80), st.sampled_from([b"\n", b"\n    "]))
def test_pieces_are_the_whole(value: Json, size: int, window: int, pad: bytes) -> None:
    data = encoded(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "PIECE_BYTES", size)
        patch.setattr(windowed, "WINDOW_BYTES", window)
        assert b"".join(pieces_of(data, pad)) == whole(data, pad)


@pytest.mark.parametrize(
    "value",
    [
        [1e21, 1e20, -0.0, 5e-324, 0.1, 2**53, 1e-7],
        ['"', "\\", '\\"', "\\\\", '","', "]", "}", "x" * 600, '\\"' * 300 + "\\"],
        {"a]": [[], {}, [[]]], 'b":': {"c,": "x" * 100, "\\": 1}, "é\U0001f600": "\u202e\x7f\x1b"},
        [[["x" * 30] * 5] * 3, {"said": ["y" * 30] * 5}],
        list(range(300)),
    ],
    ids=["numbers", "texts", "names", "nested", "many"],
)
@pytest.mark.usefixtures("tiny")
def test_hard_values(value: Json) -> None:
    pieces = list(pieces_of(encoded(value)))
    assert b"".join(pieces) == whole(encoded(value)) and len(pieces) > 3


def test_a_large_value_is_never_whole() -> None:
    data = encoded({"said": [{"text": "x" * 4096, "n": index} for index in range(500)]})
    pieces = list(pieces_of(data))
    assert b"".join(pieces) == whole(data)
    assert max(map(len, pieces)) < 2 * cuts.PIECE_BYTES


@given(JSON, st.data())
def test_damaged_text_is_refused_or_read_as_it_is(value: Json, draws: st.DataObject) -> None:
    """Text that is no JSON is never taken for JSON; text that has become other JSON is printed as such."""
    data = bytearray(encoded(value))
    at = draws.draw(st.integers(0, len(data) - 1))
    data[at : at + draws.draw(st.integers(0, 2))] = draws.draw(
        st.sampled_from([b"", b",", b'"', b"]", b"[", b"}", b":"])
    )
    try:
        expected = [decoded(bytes(data))]
    except (msgspec.DecodeError, ValueError):
        expected = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "PIECE_BYTES", 4)
        patch.setattr(windowed, "WINDOW_BYTES", draws.draw(st.integers(1, 40)))
        try:
            text = b"".join(pieces_of(bytes(data)))
        except (msgspec.DecodeError, ValueError):
            assert expected == []
        else:
            assert [decoded(text)] == expected


def test_small_members_are_gone_over_many_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    match = Windowed.match

    def counted(self: Windowed, pattern: re.Pattern[bytes], at: int, end: int) -> int | None:
        nonlocal looks
        looks += 1
        return match(self, pattern, at, end)

    monkeypatch.setattr(Windowed, "match", counted)
    data = encoded([{"id": index, "said": 'a "word"\n', "tags": [["a", {}], [[1]]]} for index in range(20_000)])
    assert b"".join(pieces_of(data)) == whole(data)
    assert looks < 2_000
