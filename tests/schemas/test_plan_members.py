"""Members that no plan has are found wherever the decoder's Structs refuse them, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import msgspec
import pytest

from akm_schemas.plan import Plan
from akm_schemas.plan_members import foreign_member

_NAME = "a member that no plan has"


def objects(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        yield path
        for name, inner in value.items():
            yield from objects(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from objects(inner, (*path, index))


def refuses(plan: Any) -> bool:
    try:
        msgspec.convert(plan, Plan)
    except msgspec.ValidationError as error:
        return f"unknown field `{_NAME}`" in str(error)
    return False


def test_it_agrees_with_the_decoder_about_every_object_of_a_plan(kit: Any) -> None:
    plan = kit.rich_plan()
    assert foreign_member(plan) is None
    found = {True: 0, False: 0}
    for path in objects(plan):
        changed = deepcopy(plan)
        place: Any = changed
        for part in path:
            place = place[part]
        place[_NAME] = 1
        expected = refuses(changed)
        assert foreign_member(changed) == ((*path, _NAME) if expected else None), path
        found[expected] += 1
    assert found[True] > 50 and found[False] > 5


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        1,
        {"steps": {"zzz": 1}},
        {"steps": [3, None]},
        {"steps": [{"unit": {"target": {"kind": 3, "zzz": 1}}}]},
    ],
)
def test_what_is_of_another_type_is_passed_over(value: Any) -> None:
    assert foreign_member(value) is None


def test_it_is_found_beside_what_is_of_another_type() -> None:
    assert foreign_member({"params": 3, "steps": [3, {"zzz": 1}]}) == ("steps", 1, "zzz")
