"""Texts of strangers: no character commands the page, no room is exceeded, no secret stays."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_run.journal.excerpts import Excerpt
from akm_run.report.texts import Texts, for_script, masked, secrets_of
from akm_run.values import encoded

HOSTILE = [
    "</script><script>window.hit = 1</script>",
    "<!-- <script>",
    "]]></style><img src=x onerror=window.hit=1>",
    "\u2028\u2029",
    "\x1b[31mred\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07",
    "\u202eevil\u202c \u2066x\u2069 \u200f \ufeff",
    "\x00\x01\x7f\x9b",
    "\ud800 lone \udfff",
    "javascript:alert(1)",
    "x" * 100_000,
    "\r\n".join("line" for _ in range(50)),
    "&lt;b&gt; &#60;",
]
HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
TEXT = st.text(st.characters(), max_size=300) | st.sampled_from(HOSTILE)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def visible_rows(text: str) -> bool:
    return all(unicodedata.category(char) not in HIDDEN for row in text.split("\n") for char in row)


@given(text=TEXT)
def test_a_piece_shows_every_character_and_keeps_its_rows(text: str) -> None:
    piece = Texts(iter(())).piece(text, 2000)
    assert visible_rows(piece.text)
    assert piece.cut or piece.text.count("\n") == text.replace("\r\n", "\n").count("\n")


@given(text=TEXT, room=st.integers(1, 400))
def test_a_piece_takes_no_more_than_its_room(text: str, room: int) -> None:
    piece = Texts(iter(())).piece(text, room)
    assert len(for_script(piece.text).encode()) <= room + 2
    assert piece.cut == (len(Texts(iter(())).piece(text, 10**7).text) > len(piece.text))


@given(text=TEXT)
def test_what_goes_into_a_script_element_cannot_end_it_and_comes_back(text: str) -> None:
    shown = Texts(iter(())).piece(text, 10**6).text
    inside = for_script([shown, {"key": shown}])
    assert not set("<>&\u2028\u2029") & set(inside)
    assert json.loads(inside) == [shown, {"key": shown}]


@given(text=TEXT)
def test_a_line_is_one_and_no_markup(text: str) -> None:
    line = Texts(iter(())).line(text)
    assert not set("<>\"'\n") & set(line)
    assert visible_rows(line)


@given(value=VALUE)
def test_a_value_is_shown_whole_where_it_fits(value: object) -> None:
    data = encoded(value)  # type: ignore[arg-type]
    piece = Texts(iter(())).excerpt(Excerpt(data, len(data)), 100_000)
    assert not piece.cut and piece.size == len(data)
    if not isinstance(value, str) and visible_rows(data.decode()):
        assert json.loads(piece.text) == value


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=80), most=st.integers(2, 120))
def test_the_beginning_of_a_stored_text_is_a_beginning_of_it(text: str, most: int) -> None:
    data = encoded(text)
    head = Excerpt(data[:most], len(data))
    piece = Texts(iter(())).excerpt(head, 10**6)
    whole = Texts(iter(())).piece(text, 10**6).text
    assert piece.cut == (not head.whole)
    assert whole.startswith(piece.text) or "\r" in text
    if not head.whole:
        assert piece.size == len(data)


def test_a_cut_text_keeps_all_but_what_the_cut_went_through() -> None:
    data = encoded("ab\U0001f600\u0007cd")
    shown = [Texts(iter(())).excerpt(Excerpt(data[:most], len(data)), 1000).text for most in range(1, len(data))]
    assert shown[0] == "" and shown[2] == "ab" and shown[-1] == "ab\U0001f600\\x07cd"
    assert sorted(shown, key=len) == shown


@pytest.mark.parametrize("depth", [100, 500])
def test_deeply_nested_values_are_shown(depth: int) -> None:
    data = b"[" * depth + b"]" * depth
    piece = Texts(iter(())).excerpt(Excerpt(data, len(data)), 3000)
    assert piece.text.replace("\n", "").replace(" ", "").startswith("[[[")


def test_secrets_of_params_are_masked_and_scrubbed_everywhere() -> None:
    params = {
        "api_token": "hunter2-hunter2",
        "deep": {"list": [{"Client-Secret": "s3cr3t-value", "plain": "shown"}]},
        "key": "ghp_0123456789abcdefABCDEF0123456789abcd",
        "max_tokens": 4000,
        "maxTokens": "4000",
        "tokens": True,
        "secretTokens": 5,
        "session_token": 123456,
        "password": None,
    }
    assert masked(params) == {  # type: ignore[arg-type]
        "api_token": "[redacted]",
        "deep": {"list": [{"Client-Secret": "[redacted]", "plain": "shown"}]},
        "key": "[redacted]",
        "max_tokens": 4000,
        "maxTokens": "[redacted]",
        "tokens": "[redacted]",
        "secretTokens": "[redacted]",
        "session_token": "[redacted]",
        "password": None,
    }
    found = [text for name, value in params.items() for text in secrets_of(name, value)]  # type: ignore[arg-type]
    assert found == ["hunter2-hunter2", "s3cr3t-value", "ghp_0123456789abcdefABCDEF0123456789abcd", "4000"]
    texts = Texts(iter(found))
    assert texts.line("uses hunter2-hunter2 and s3cr3t-value") == "uses [redacted] and [redacted]"
    assert "hunter2" not in texts.value({"a": "xhunter2-hunter2x"}).text


def test_a_token_inside_a_sentence_is_masked_and_scrubbed() -> None:
    token = "ghp_0123456789abcdefABCDEF0123456789abcd"
    params = {"s": f'my key "{token}", ok.', "l": [f"({token})"], "plain": "ghp_ is a prefix; sk-ip this; task-sk-1"}
    assert masked(params) == {  # type: ignore[arg-type]
        "s": 'my key "[redacted]", ok.',
        "l": ["([redacted])"],
        "plain": "ghp_ is a prefix; sk-ip this; task-sk-1",
    }
    found = {text for name, value in params.items() for text in secrets_of(name, value)}  # type: ignore[arg-type]
    assert found == {token}


def test_a_secret_that_a_cut_goes_through_is_scrubbed_too() -> None:
    data = encoded("the key is hunter2-hunter2 and more")
    piece = Texts(iter(["hunter2-hunter2"])).excerpt(Excerpt(data[:20], len(data)), 1000)
    assert piece.text == "the key is [redacted]" and piece.cut
