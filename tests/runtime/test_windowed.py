"""Bytes through a window answer as bytes in memory do, and are read no oftener than going through them takes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_run import cuts, windowed
from akm_run.windowed import Windowed

WORDS = re.compile(rb"[^,]*+")


class Asked:
    """Gives parts of ``data``, and counts the bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.bytes = 0

    def __call__(self, start: int, stop: int) -> bytes:
        assert 0 <= start <= stop <= len(self.data)
        self.bytes += stop - start
        return self.data[start:stop]


@given(st.text(alphabet='a,"', max_size=50).map(str.encode), st.integers(1, 60), st.data())
def test_answers_are_those_of_the_whole(data: bytes, window: int, draws: st.DataObject) -> None:
    offsets = st.integers(0, len(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windowed, "WINDOW_BYTES", window)
        view = Windowed(len(data), Asked(data))
        for _ in range(8):
            at, end = sorted((draws.draw(offsets), draws.draw(offsets)))
            assert (
                len(view) == len(data) and view[at:end] == data[at:end] and view[end - 1 : end] == data[end - 1 : end]
            )
            assert view.find(b'"', at, end) == data.find(b'"', at, end)
            if at < len(data):
                assert view[at] == data[at]
                whole = WORDS.match(data, at, end)
                reached = at
                while reached < end and (found := view.match(WORDS, reached, end)) is not None and found > reached:
                    reached = found
                assert whole is not None and reached == whole.end()
            part = view.part(at, end)
            assert (
                len(part) == end - at
                and part[:] == data[at:end]
                and part.find(b",", 0, end - at) == data[at:end].find(b",")
            )


def test_the_end_is_the_end() -> None:
    with pytest.raises(IndexError):
        Windowed.of(b"ab")[2]
    assert Windowed.of(b"")[:] == b"" and Windowed.of(b"").find(b"a", 0, 0) == -1


@pytest.mark.parametrize(
    "data",
    [
        b'"' + b"x" * 5_000_000 + b'"',
        b'"' + b"\\\\" * 2_000_000 + b'"',
        b'"' + b'\\"' * 100_000 + b'"',
    ],
    ids=["plain", "backslashes", "quotes"],
)
def test_the_end_of_a_text_is_found_in_few_looks(data: bytes) -> None:
    asked = Asked(data)
    assert cuts.text_end(Windowed(len(data), asked), 0, len(data)) == len(data)
    assert asked.bytes < 4 * len(data) + windowed.WINDOW_BYTES
