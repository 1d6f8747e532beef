"""Cron expressions against croniter, a library that shares no code with the one that checks them."""

from __future__ import annotations

from croniter import croniter  # type: ignore[import-untyped]  # the library brings no types
from hypothesis import given, settings
from hypothesis import strategies as st

from akmc_grammar.cron import cron_fault

MONTHS = ["jan", "FEB", "Mar", "dec"]
DAYS = ["sun", "MON", "Fri", "sat"]


def fields(low: int, high: int, names: list[str]) -> st.SearchStrategy[str]:
    """One field, in bounds or just above them (croniter takes 0-0 for a month, which there is none of)."""
    number = st.integers(low, high + 1).map(str)
    value = number | st.sampled_from(names) if names else number
    spans = st.tuples(number, number).map("-".join)
    steps = st.tuples(st.just("*") | spans, st.integers(1, 5).map(str)).map("/".join)
    return st.lists(st.just("*") | value | spans | steps, min_size=1, max_size=3).map(",".join)


EXPRESSIONS = st.tuples(
    fields(0, 59, []), fields(0, 23, []), fields(1, 31, []), fields(1, 12, MONTHS), fields(0, 6, DAYS)
).map(" ".join)


def parts(text: str) -> bool:
    """Where the two libraries part, neither being wrong: backward spans, 7 in spans, days that never come."""
    days = text.split()[4]
    return "7" in days or any(_is_backward(part) for field in text.split() for part in field.split(","))


def _is_backward(part: str) -> bool:
    low, dash, high = part.partition("/")[0].partition("-")
    return bool(dash) and int(low) > int(high)


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS)
def test_croniter_agrees(text: str) -> None:
    if not parts(text):
        assert (cron_fault(text) is None) == croniter.is_valid(text), text
