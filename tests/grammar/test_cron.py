"""Cron expressions, with a second opinion of our own for plain fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akmc_grammar.cron import cron_fault

BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


@pytest.mark.parametrize(
    "text",
    ["* * * * *", "*/15 8-18 * * *", "30 2 1,15 * *", "0 6 * * 1-5", "0 0 1 JAN MON", "0  0 \t* * *", "59 23 31 12 7"],
)
def test_good_ones(text: str) -> None:
    assert cron_fault(text) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("@daily", "nicknames"),
        ("", "found 0"),
        ("0 6 * *", "found 4"),
        ("0 0 0 * * *", "found 6"),
        ("every day", "found 2"),
        ("61 * * * *", "minute"),
        ("* 24 * * *", "hour"),
        ("* * 0 * *", "day"),
        ("* * * 13 *", "month"),
        ("* * * * 9", "day"),
        ("*/0 * * * *", ""),
        ("5-1 * * * *", ""),
        ("x * * * *", ""),
        ("１ * * * *", "ASCII"),
        ("-1 * * * *", ""),
    ],
)
def test_bad_ones(text: str, says: str) -> None:
    fault = cron_fault(text)
    assert fault is not None and says in fault


@given(st.tuples(*[st.integers(-1, 70)] * 5))
def test_plain_numbers_are_judged_by_their_bounds(numbers: tuple[int, ...]) -> None:
    holds = all(low <= number <= high for number, (low, high) in zip(numbers, BOUNDS, strict=True))
    assert (cron_fault(" ".join(map(str, numbers))) is None) == holds


@given(st.text("0123456789*/,-@LW# ANMO", max_size=15))
def test_whatever_it_is_there_is_an_answer(text: str) -> None:
    assert cron_fault(text) != ""


@given(st.lists(st.sampled_from(["0", "5", "1-3", "*/5", "1,3", "*"]), min_size=5, max_size=5))
def test_the_croniter_library_agrees(fields: list[str]) -> None:
    croniter = pytest.importorskip("croniter")
    text = " ".join(fields)
    assert (cron_fault(text) is None) == croniter.croniter.is_valid(text)
