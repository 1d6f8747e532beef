"""The published schema of plans: golden plans satisfy it, plans of another shape do not."""

from __future__ import annotations

import json
import pathlib
import random
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from akm_schemas import publish
from akm_schemas.decode import PlanError, decode_plan
from akm_schemas.plan_schema import _MEMBERS, _RULES, plan

PLANS = sorted((pathlib.Path(__file__).resolve().parents[1] / "golden" / "plans").glob("*/plan.json"))
ODD: tuple[Any, ...] = (None, -1, "", [], {}, 1.5, "x" * 70)
VALIDATOR = jsonschema.Draft7Validator(json.loads((publish.FOLDER / "akm-plan.json").read_text(encoding="utf-8")))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place below the root."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inner:
        yield from places(child, (*path, key))


def holder(value: Any, path: tuple[Any, ...]) -> Any:
    for part in path[:-1]:
        value = value[part]
    return value


def is_free(path: tuple[Any, ...]) -> bool:
    """Whether authors fill the place with what they like: schemas, values, the spans' names."""
    free = {"params", "output", "schema", "value", "options", "extraParams", "spans", "outputs"}
    return path[-1] == "value" or any(part in free for part in path[:-1])


def test_golden_plans_satisfy_the_schema() -> None:
    assert len(PLANS) >= 3
    for path in PLANS:
        assert [error.message for error in VALIDATOR.iter_errors(json.loads(path.read_text()))] == [], path


def test_plans_with_everything_satisfy_it(kit: Any) -> None:
    for value in (kit.small_plan(), kit.rich_plan()):
        VALIDATOR.validate(value)


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.parent.name)
def test_extra_members_and_other_types_do_not(path: pathlib.Path) -> None:
    text = path.read_text()
    count = 0
    for place in places(json.loads(text)):
        if is_free(place) or place[:2] == ("steps", 8):  # composed embeds the same child again there
            continue
        value = json.loads(text)
        inside = holder(value, place)
        was = inside[place[-1]]
        inside[place[-1]] = {"flipped": was} if not isinstance(was, dict) else [was]
        assert not VALIDATOR.is_valid(value), place
        if isinstance(was, dict) and place[-1] not in (
            "spans",
            "params",
            "outputs",
            "output",
            "schema",
            "extraParams",
            "options",
        ):
            inside[place[-1]] = {**was, "flipped": 1}
            assert not VALIDATOR.is_valid(value), place
        count += 1
    assert count > 20


def test_what_the_schema_refuses_the_decoder_refuses_too(kit: Any) -> None:
    """Resealed plans with one member gone or odd: the schema is never the stricter of the two."""
    refused, chance = 0, random.Random(4)
    for place in places(kit.rich_plan()):
        if place[-1] in ("contentHash", "planHash"):  # resealing writes those anew
            continue
        for odd in chance.sample(ODD, 1):
            value = kit.rich_plan()
            inside = holder(value, place)
            if odd is None:
                del inside[place[-1]]
            else:
                inside[place[-1]] = odd
            if VALIDATOR.is_valid(value):
                continue
            try:
                data = kit.file_of(kit.sealed(value))
            except Exception:  # noqa: BLE001 - hashing assumes a plan's shape; such plans cannot be sealed
                continue
            refused += 1
            with pytest.raises(PlanError):
                decode_plan(data)
    assert refused > 30


def test_bounds_and_rules_name_what_is_there() -> None:
    definitions: Any = plan()["definitions"]
    for name, members in _MEMBERS.items():
        assert set(members) <= set(definitions[name]["properties"]), name
    assert set(_RULES) <= set(definitions)
