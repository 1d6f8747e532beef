"""Reading chat completions, as servers of many makes send them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akm_run.dispatch.contract import UnitResult
from akm_run.dispatch.llm_completion import Completion, NoCompletion, read_completion

ODD: list[Any] = [None, {}, {"total_tokens": "12"}, {"total_tokens": -1}, [], 3]


def bytes_of(message: Any, usage: Any = None, **choice: Any) -> bytes:
    found = {"id": "x", "choices": [{"index": 0, "message": message, **choice}], "usage": usage}
    return json.dumps(found).encode()


def test_the_first_choice_is_read() -> None:
    first = {"message": {"role": "assistant", "content": " a\n", "tool_calls": []}, "finish_reason": "stop"}
    body = {"object": "chat.completion", "choices": [first, {"message": {"content": "second"}}]}
    assert read_completion(json.dumps(body).encode()) == Completion(" a\n", "stop", False, None)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": 'Well: {"n": 1}'}, 'Well: {"n": 1}'),
        ({"content": None}, ""),
        ({}, ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": "x\ud800y😀"}, "x�y😀"),
        ({"content": "answer", "refusal": ""}, "answer"),
    ],
)
def test_texts(message: dict[str, Any], text: str) -> None:
    found = read_completion(bytes_of(message))
    assert (found.text, found.refused) == (text, False)


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert read_completion(b'{"choices": [{"message": {"content": "a\xffb"}}]}').text == "a�b"


def test_a_refusal_is_no_answer() -> None:
    assert read_completion(bytes_of({"content": None, "refusal": "I cannot."})).refused


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 12}, 12),
        ({"prompt_tokens": 7, "completion_tokens": 3}, 10),
        ({"prompt_tokens": 7}, 7),
        ({"total_tokens": 5.0}, 5),
        ({"total_tokens": 0}, 0),
        *((usage, None) for usage in ODD),
        ({"total_tokens": None, "completion_tokens": 2}, 2),
    ],
)
def test_usage(usage: Any, tokens: int | None) -> None:
    assert read_completion(bytes_of({"content": "x"}, usage)).tokens == tokens


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "not JSON"),
        (b"<html>", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "object"),
        (b"{}", "choices"),
        (b'{"choices": []}', "no choices"),
        (b'{"choices": [{}]}', "message"),
        (b'{"choices": [{"message": {"content": 5}}]}', "content"),
    ],
)
def test_what_is_no_completion(body: bytes, why: str) -> None:
    with pytest.raises(NoCompletion, match=why):
        read_completion(body)


def test_tokens_of_an_unreadable_answer_count() -> None:
    with pytest.raises(NoCompletion) as fault:
        read_completion(b'{"choices": [], "usage": {"total_tokens": 4}}')
    assert fault.value.tokens == 4


@settings(max_examples=100)
@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["choices", "message", "content", "usage"]), inner)
        ),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_body_does_anything_else(body: bytes) -> None:
    try:
        found = read_completion(body)
    except NoCompletion as fault:
        assert str(fault)
    else:
        found.text.encode()


@pytest.mark.parametrize("digits", [23, 400, 5000])
def test_a_number_of_any_length_costs_no_answer(digits: int) -> None:
    for usage in (
        f'{{"total_tokens": {"9" * digits}}}',
        f'{{"prompt_tokens": 1.5, "completion_tokens": {"9" * digits}}}',
    ):
        found = read_completion(b'{"choices": [{"message": {"content": "x"}}], "usage": %b}' % usage.encode())
        assert found.text == "x"
        assert UnitResult(found.text, tokens=found.tokens).tokens is None
