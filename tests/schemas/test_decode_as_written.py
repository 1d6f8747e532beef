"""Plans in the bytes that akmc compile writes are read by C code alone; the answer is that of the careful reading."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from plans import mutated_plans, pinned, resealed_plans

from akm_schemas import decode
from akm_schemas.decode import PlanError, decode_intact, decode_plan, is_intact, pretty_plan
from akm_schemas.plan import Plan


def answer(data: bytes) -> tuple[str, str, str] | Plan:
    try:
        return decode_plan(data)
    except PlanError as error:
        return error.kind, error.path, error.message


def careful_answer(data: bytes) -> tuple[str, str, str] | Plan:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decode, "_as_written", lambda _: None)
        return answer(data)


@given(data=resealed_plans() | mutated_plans())
def test_both_readings_give_one_answer(data: bytes) -> None:
    assert answer(data) == careful_answer(data)


@pytest.mark.parametrize("data", pinned())
def test_pinned_plans_without_a_fraction_take_the_short_way(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    fractions: list[str] = []
    json.loads(data, parse_float=fractions.append)
    expected = careful_answer(data)
    assert is_intact(data) is not bool(fractions)
    if not fractions:
        monkeypatch.setattr(decode, "_read", lambda _: pytest.fail("was read the long way"))
    assert decode_plan(data) == expected == decode_intact(data)


def test_some_pinned_plans_take_each_way() -> None:
    assert {is_intact(data) for data in pinned()} == {True, False}


def with_schema(kit: Any, schema: dict[str, Any]) -> bytes:
    plan = kit.small_plan()
    plan["params"] = {"given": schema}
    return bytes(kit.file_of(kit.sealed(plan)))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "minimum": 0.5},
        {"type": "number", "maximum": 2**53},
        {"properties": {"\U0001f600": {}, "\uffee": {}}},  # the order of UTF-16 is not that of the code points
        {"properties": {"größe": {}}, "description": "\x01 and \u2028"},
        {"enum": [1e20, -1]},
    ],
)
def test_values_that_are_written_in_a_way_of_their_own(kit: Any, schema: dict[str, Any]) -> None:
    data = with_schema(kit, schema)
    assert isinstance(answer(data), Plan)
    assert answer(data) == careful_answer(data)
    assert not is_intact(data) or msgspec.json.encode(decode_intact(data), order="sorted") + b"\n" == data


@pytest.mark.parametrize("depth", [60, 70, 190, 195, 400, 990, 5000])
def test_depth_is_bounded_on_both_ways(kit: Any, depth: int) -> None:
    plain = with_schema(kit, {"default": "here"})
    data = plain.replace(b'"here"', b"[" * depth + b"]" * depth)
    assert answer(data) == careful_answer(data)
    assert not is_intact(data)


@pytest.mark.parametrize("number", ["9007199254740993", "1.0", "1e3", "-0", "-0.0", "NaN", "1" * 400])
def test_numbers_are_the_same_on_both_ways(kit: Any, number: str) -> None:
    plain = with_schema(kit, {"default": "here"})
    data = plain.replace(b'"here"', number.encode())
    assert answer(data) == careful_answer(data)
    assert not is_intact(data)


def test_what_is_written_otherwise_is_not_called_intact(kit: Any) -> None:
    data = kit.file_of(kit.small_plan())
    assert is_intact(data)
    assert not is_intact(data[:-1])
    assert not is_intact(json.dumps(json.loads(data)).encode())
    assert not is_intact(pretty_plan(decode_plan(data)))
    assert not is_intact(data.replace(b'"irVersion":5', b'"irVersion":5,"irVersion":5'))
    assert not is_intact(b"")
