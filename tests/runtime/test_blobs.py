"""Large values, written piece by piece: the bytes, hashes and bounds are those of the whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_run.journal import blobs
from akm_run.values import decoded, encoded
from akm_schemas.bounds import RESULT_INLINE_BYTES, Bound
from akm_schemas.hashing import sha256_hex
from akm_schemas.json_types import Json

MOST = RESULT_INLINE_BYTES.high


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(made()) as connection:
        yield connection


def made() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL)")
    return connection


def kept(connection: sqlite3.Connection, name: str) -> bytes:
    (rowid,) = connection.execute("SELECT rowid FROM blobs WHERE sha256 = ?", (name,)).fetchone()
    (whole,) = connection.execute("SELECT data FROM blobs WHERE sha256 = ?", (name,)).fetchone()
    assert blobs.read(connection, rowid) == whole
    return bytes(whole)


@pytest.mark.parametrize(
    "value",
    [
        ["x" * 4096] * 1000,
        [{"b": 1.0, "a": None, "ü": [True, -0.0, 1e21]} for _ in range(30_000)],
        ["é" * (MOST // 2)],
        list(range(200_000)),
        "x" * MOST,
        {"rows": ["x" * 4096] * 1000},
    ],
    ids=["texts", "objects", "one item", "numbers", "text", "object"],
)
def test_a_large_value_is_a_blob_under_its_hash(connection: sqlite3.Connection, value: Json) -> None:
    inline, name = blobs.store(connection, value)
    assert inline is None
    assert name == sha256_hex(encoded(value))
    assert kept(connection, name) == encoded(value)
    assert blobs.store(connection, value) == (None, name), "the same again"
    assert connection.execute("SELECT count(*) FROM blobs").fetchone() == (1,)


def test_a_value_within_the_bound_is_inline(connection: sqlite3.Connection) -> None:
    values: list[Json] = [[], [None], [[], [{}]], "x", 0, False, {}, ["x" * (MOST - 4)], "x" * (MOST - 2)]
    for value in values:
        assert blobs.store(connection, value) == (encoded(value), None)
    assert connection.execute("SELECT count(*) FROM blobs").fetchone() == (0,)


def test_the_first_byte_beyond_the_bound(connection: sqlite3.Connection) -> None:
    values: list[Json] = [["x" * (MOST - 3)], "x" * (MOST - 1)]
    for value in values:
        inline, name = blobs.store(connection, value)
        assert (inline, name) == (None, sha256_hex(encoded(value)))


def test_nothing_is_no_value(connection: sqlite3.Connection) -> None:
    assert blobs.store(connection, None) == (None, None)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.lists(JSON), st.integers(1, 40), st.integers(1, 200))
def test_pieces_are_the_whole(value: list[Json], piece: int, bound: int) -> None:
    with pytest.MonkeyPatch.context() as patch, closing(made()) as connection:
        patch.setattr(blobs, "_PIECE_BYTES", piece)
        patch.setattr(blobs, "RESULT_INLINE_BYTES", Bound("inline", 0, bound, "bytes"))
        whole = encoded(value)
        inline, name = blobs.store(connection, value)
        if len(whole) <= bound:
            assert (inline, name) == (whole, None)
        else:
            assert (inline, name) == (None, sha256_hex(whole))
            assert decoded(kept(connection, sha256_hex(whole))) == decoded(whole)
            assert kept(connection, sha256_hex(whole)) == whole


def test_small_items_are_encoded_many_at_a_time(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def counted(value: Json) -> bytes:
        nonlocal calls
        calls += 1
        return encoded(value)

    monkeypatch.setattr(blobs, "encoded", counted)
    value: Json = [{"id": index} for index in range(100_000)]
    _, name = blobs.store(connection, value)
    assert name == sha256_hex(encoded(value))
    assert calls < 2 * 100_000 / 50
    calls = 0
    blobs.store(connection, ["x" * MOST, "y" * MOST, "z"])
    assert calls == 2 * 3, "large items one by one"
