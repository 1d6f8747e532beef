"""User text on a terminal and in JSON: nothing active is written raw."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akmc.render.escape import json_text, shown, visible

ODD = st.characters(categories=("Cs", "Cc", "Cf", "Zl", "Zp")) | st.sampled_from('\\"\udcff\ud800\x9b\u202e')
ANY_TEXT = st.text(ODD | st.characters(exclude_categories=()), max_size=40)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("größe 中文 🙂", "größe 中文 🙂"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\u202eevil", "\\u202eevil"),
        ("\u2028", "\\u2028"),
        ("\x9b", "\\x9b"),
        ("\U000e0041", "\\U000e0041"),
        ("bad-\udcff.md", "bad-\\xff.md"),
        ("\ud800", "\\ud800"),
        ("\udc7f\udc80\udcfe\udcff\udd00", "\\udc7f\\x80\\xfe\\xff\\udd00"),
        ("\xad\u0600", "\\xad\\u0600"),
        ("\ufeff\ufffe\uffff", "\\ufeff\\ufffe\\uffff"),
        ("\U0001fffe\U0010ffff", "\\U0001fffe\\U0010ffff"),
        ("\ufffd\U0001fffd", "\ufffd\U0001fffd"),
    ],
)
def test_hidden_characters_are_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(ANY_TEXT)
@settings(max_examples=100)
def test_what_is_visible_is_one_line_without_active_characters(text: str) -> None:
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not [char for char in visible(text) if unicodedata.category(char) in hidden]


def test_hidden_characters_of_json_are_pairs_beyond_the_first_plane() -> None:
    assert json_text("\U000e0041\U000e0142") == '"\\udb40\\udc41\U000e0142"'
    assert json_text("\U000e0001\u202e\x7f") == '"\\udb40\\udc01\\u202e\\u007f"'


@given(ANY_TEXT)
@settings(max_examples=100)
def test_json_text_is_the_same_document_in_utf_8(text: str) -> None:
    written = json_text({"key": text})
    written.encode("utf-8")
    without_surrogates = "".join(shown(char) if "\ud800" <= char <= "\udfff" else char for char in text)
    assert json.loads(written) == {"key": without_surrogates}
    assert "\x9b" not in written and "\u202e" not in written and "\x7f" not in written
