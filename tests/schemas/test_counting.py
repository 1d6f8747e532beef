"""Counts in words."""

from __future__ import annotations

import pytest

from akm_schemas import bounds
from akm_schemas.counting import counted, worded


@pytest.mark.parametrize(("count", "said"), [(0, "0 steps"), (1, "1 step"), (2, "2 steps"), (1000, "1000 steps")])
def test_one_is_no_plural(count: int, said: str) -> None:
    assert counted(count, "step") == said


def test_a_plural_of_its_own() -> None:
    assert [counted(count, "child", "children") for count in (1, 2)] == ["1 child", "2 children"]
    assert [worded(count, "byte") for count in (0, 1, 2)] == ["bytes", "byte", "bytes"]


def test_every_limit_has_its_unit_in_words() -> None:
    said = {bound.counts(1) for bound in vars(bounds).values() if isinstance(bound, bounds.Bound)}
    assert not [words for words in said if words.endswith("s") and words != "1 ms"]
    assert {"1 branch", "1 character", "1 ref", "1 ms", "1"} < said
    assert bounds.BRANCHES.counts(300) == "300 branches" and bounds.MAX_LOOPS.counts(0) == "0"
