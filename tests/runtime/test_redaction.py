"""Scrubbing: no value survives, whatever its form, and nothing else is lost."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akm_run.redaction import MARK, Redactor, unescaped
from akm_schemas.json_types import Json

# values that share characters with the mark could be found in it or across its edges
_LETTERS = "klmnopq0123456789 \"\\\n\t/äß€\U0001f600<&'"
secrets = st.text(alphabet=_LETTERS, min_size=4, max_size=12).filter(lambda value: not value.isspace())
fillers = st.text(alphabet=_LETTERS, max_size=8)


def escaped(value: str, *, ascii_only: bool = True) -> str:
    return json.dumps(value, ensure_ascii=ascii_only)[1:-1]


@settings(max_examples=100)
@given(st.lists(secrets, min_size=1, max_size=4), st.lists(fillers, min_size=2, max_size=6), st.data())
def test_no_value_survives(values: list[str], around: list[str], data: st.DataObject) -> None:
    forms = [form for value in values for form in (value, escaped(value), escaped(value, ascii_only=False))]
    pieces = [piece for filler in around for piece in (filler, data.draw(st.sampled_from(forms)))]
    scrubbed = Redactor(values).text("".join(pieces))
    assert not [form for form in forms if form in scrubbed]
    assert MARK in scrubbed


@settings(max_examples=100)
@given(st.lists(secrets, min_size=1, max_size=3), st.lists(fillers, max_size=4), st.data())
def test_no_value_survives_in_json(values: list[str], around: list[str], data: st.DataObject) -> None:
    leaf = st.builds(lambda a, b, c: a + b + c, st.sampled_from(["", *around]), st.sampled_from(values), fillers)
    value: Json = data.draw(st.recursive(leaf, lambda inner: st.lists(inner) | st.dictionaries(leaf, inner)))
    text = json.dumps(Redactor(values).json(value), ensure_ascii=False)  # the digits of an escape could be a value
    assert not [v for v in values if v in text or escaped(v, ascii_only=False) in text]


@settings(max_examples=50)
@given(st.lists(secrets, max_size=3), st.text(alphabet="abcdefghij", max_size=40))
def test_other_text_is_untouched(values: list[str], text: str) -> None:
    assert Redactor(values).text(text) == text
    assert Redactor(values).json({text: [text, 1, None]}) == {text: [text, 1, None]}


@pytest.mark.parametrize("value", ["n00ß", "u00e9ä", 'n"quoted"', "\\\\tab"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_an_escaped_value_behind_a_stray_backslash(value: str, ascii_only: bool) -> None:
    once = escaped(value, ascii_only=ascii_only)
    for form in (value, once, escaped(once, ascii_only=ascii_only)):
        scrubbed = Redactor([value]).text(f"a\\{form}b")
        assert form not in scrubbed and scrubbed.startswith("a") and scrubbed.endswith(f"{MARK}b"), scrubbed


def test_a_value_within_another_leaves_no_tail() -> None:
    redactor = Redactor(["alphabet-soup", "alphabet-soup-with-noodles"])
    assert redactor.text("head alphabet-soup-with-noodles, alphabet-soup tail") == f"head {MARK}, {MARK} tail"


def test_overlaps_become_one_mark() -> None:
    assert Redactor(["abcdef", "defghi"]).text("<abcdefghi>") == f"<{MARK}>"
    assert Redactor(["ababa"]).text("abababab!") == f"{MARK}b!"
    assert Redactor(["aaaa"]).text("b" + "a" * 1000) == f"b{MARK}"


@pytest.mark.parametrize("rounds", [1, 2])
def test_json_inside_json(rounds: int) -> None:
    text = 'pass-9"word\\77\n€'
    for _ in range(rounds):
        text = json.dumps(text)
    scrubbed = Redactor(['pass-9"word\\77\n€']).text(f"x {text} y")
    assert "pass-9" not in scrubbed
    assert "77" not in scrubbed
    assert scrubbed.startswith("x ")
    assert scrubbed.endswith(" y")


@settings(max_examples=100)
@given(st.text(alphabet='\\\\\\nu/"d83eDcx0 5\n', max_size=40), st.text(max_size=10))
def test_escapes_are_undone_from_left_to_right(noise: str, text: str) -> None:
    for ascii_only in (True, False):
        assert unescaped(json.dumps(text, ensure_ascii=ascii_only)[1:-1]) == text
    needle = "needle"
    around = f"{noise}<{needle}>{noise}"
    assert Redactor([needle]).text(around) == f"{noise}<{MARK}>{noise}"
    value = noise + "!"  # a value that is itself full of things that look like escapes
    if len(value) >= 4 and not value.isspace():
        assert Redactor([value]).text(f"<{json.dumps(value)[1:-1]}>") == f"<{MARK}>"


def test_any_encoders_escapes() -> None:
    assert Redactor(["a<b/c&d"]).text(r"a\u003Cb\/c\u0026d") == MARK
    assert Redactor(["tok\U0001f600en"]).text(r"tok\ud83d\ude00en") == MARK


def test_multi_line_values_line_by_line() -> None:
    key = "-----BEGIN KEY-----\nMIIabcdef\nxyz\n-----END KEY-----\n"
    shown = "".join(f"  | {line}\n" for line in key.splitlines())
    assert Redactor([key]).text(shown) == f"  | {MARK}\n  | {MARK}\n  | xyz\n  | {MARK}\n"
    assert Redactor([key]).text(f"key={key.rstrip()};") == f"key={MARK};"


def test_undecodable_values_as_a_lossy_decoder_shows_them() -> None:
    value = b"tok\xff-123".decode("utf-8", "surrogateescape")
    assert Redactor([value]).text(b"<tok\xff-123>".decode(errors="replace")) == f"<{MARK}>"


def test_short_and_blank_values_are_not_searched() -> None:
    assert Redactor(["abc", "", "     "]).text("abc      abc") == "abc      abc"


def test_what_a_cut_left_over() -> None:
    redactor = Redactor(["secret-value-123"])
    assert redactor.text("x secret-va", cut_end=True) == f"x {MARK}"
    assert redactor.text("x secret-va") == "x secret-va"
    assert redactor.text("alue-123 y", cut_front=True) == f"{MARK} y"
    assert redactor.text("123 y", cut_front=True) == "123 y"


def test_numbers_and_names_but_not_literals() -> None:
    redactor = Redactor(["12345", "true", "name-1"])
    assert redactor.json({"name-1": 912345, "b": True, "c": 1.5}) == {MARK: MARK, "b": True, "c": 1.5}
    assert redactor.json({"name-1": 1, "name-1!": 2, "xname-1": 3, "name-1name-1": 4}) == {
        MARK: 1,
        f"{MARK}!": 2,
        f"x{MARK}": 3,
        f"{MARK}{MARK}": 4,
    }
    assert Redactor(["tok-1", "tok-2"]).json({"tok-1": 1, "tok-2": 2}) == {MARK: 1, f"{MARK}#2": 2}


@pytest.mark.parametrize(
    ("value", "text", "breaks"),
    [
        ("tok-1", '{"k": "a tok-1 b", "n": 5}', False),
        ("12345", '{"n": 12345}', False),
        ("true", '{"n": true}', False),
        ('"n": 5', '{"n": 5}', True),
        ('"tok-1"', '["tok-1"]', True),
        ('{"a": 1}', '{"k": "{\\"a\\": 1}"}', False),
        ('{"a": 1}', '{"a": 1}', True),
    ],
)
def test_values_that_cover_structure(value: str, text: str, breaks: bool) -> None:
    assert Redactor([value]).breaks_json(text) is breaks


def test_deep_values() -> None:
    value: Json = "tok-1"
    for _ in range(512):
        value = [value]
    scrubbed = Redactor(["tok-1"]).json(value)
    for _ in range(512):
        assert isinstance(scrubbed, list)
        scrubbed = scrubbed[0]
    assert scrubbed == MARK
