"""Texts line by line."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from akmc.diff.prose import prose_diff


def test_equal_texts_have_no_lines() -> None:
    assert prose_diff("a\nb", "a\nb") == []


def test_unlike_lines_are_shown_whole() -> None:
    lines = prose_diff("Ship it to the staging host.", "Nothing else matters anywhere, ever!")
    assert [(line.op, line.marks) for line in lines] == [("-", []), ("+", [])]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(["a b", "a c", "", "x"]), max_size=8), st.lists(st.sampled_from(["a b", "x"]), max_size=8)
)
def test_lines_rebuild_both_texts(left: list[str], right: list[str]) -> None:
    lines = prose_diff("\n".join(left), "\n".join(right))
    gone, came = ([line.text for line in lines if line.op == op] for op in "-+")
    left, right = left or [""], right or [""]  # an empty text is one empty line
    assert len(right) - len(left) == len(came) - len(gone)
    assert sorted(_without(left, gone)) == sorted(_without(right, came))
    for line in lines:
        assert all(0 <= start < end <= len(line.text) for start, end in line.marks)


def _without(lines: list[str], some: list[str]) -> list[str]:
    kept = list(lines)
    for line in some:
        kept.remove(line)
    return kept


def test_large_texts_end_soon() -> None:
    old = "\n".join(f"line {index}" for index in range(20_000))
    new = "\n".join(f"row {index}" for index in range(20_000))
    started = time.monotonic()
    assert len(prose_diff(old, new)) == 40_000
    assert time.monotonic() - started < 20
