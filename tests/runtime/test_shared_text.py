"""What units share is written as canonical JSON once, not once for each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from akm_run import shared_text
from akm_run.dispatch.contract import UnitContext, UnitRequest
from akm_run.environment import context_variables
from akm_run.shared_text import SharedTexts
from akm_schemas.canonical import canonical_text


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The values that were written."""
    values: list[Any] = []

    def spy(value: Any) -> str:
        values.append(value)
        return canonical_text(value)

    monkeypatch.setattr(shared_text, "canonical_text", spy)
    return values


def request(index: int, params: Any, inputs: Any) -> UnitRequest:
    """A unit of a map."""
    context = UnitContext(params=params, item=index, item_index=index, inputs=inputs)
    target: Any = None  # variables do not depend on it
    return UnitRequest("r", "s", f"s:{index}", 1, target, "", (), None, None, context, Path("/"), Path("/"))


def test_a_thousand_units_cost_one_text_each_of_what_they_share(written: list[Any]) -> None:
    params: Any
    inputs: Any
    params, inputs = {"rows": list(range(1000)), "b": 1.0}, {"steps.a.output": "x"}
    environments = [context_variables(request(index, params, inputs)) for index in range(1000)]
    assert written == [params, inputs]
    assert {variables["AKM_PARAMS"] for variables in environments} == {canonical_text(params)}
    assert {variables["AKM_INPUTS"] for variables in environments} == {canonical_text(inputs)}
    assert [variables["AKM_ITEM"] for variables in environments] == [str(index) for index in range(1000)]


def test_an_equal_value_that_is_another_object_is_written_anew(written: list[Any]) -> None:
    texts = SharedTexts()
    assert [texts.of({"a": 1}), texts.of({"a": 1})] == ['{"a":1}', '{"a":1}']
    assert len(written) == 2


def test_few_are_kept_and_a_text_is_never_that_of_another_value(written: list[Any]) -> None:
    texts = SharedTexts()
    values: list[Any] = [{"n": number} for number in range(20)]
    for value in [*values, *values]:
        assert texts.of(value) == canonical_text(value)
    assert len(written) == 40
    for _ in range(100):  # short-lived objects get each other's addresses
        number = len(written)
        assert texts.of({"fresh": number}) == canonical_text({"fresh": number})
