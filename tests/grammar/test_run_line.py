"""The run line: words, or the first token that a shell would read."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from akm_schemas.yaml_keys import SHELLS
from akmc_grammar.run_line import UnsafeToken, read_run, shell_argv

PLAIN = string.ascii_letters + string.digits + "_@%+=:,./^-"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("make", ["make"]),
        ("  make \t -j4  all ", ["make", "-j4", "all"]),
        ("env A=1 make", ["env", "A=1", "make"]),
        ("./x,y:z@^%+ =", ["./x,y:z@^%+", "="]),
        ("1A=x", ["1A=x"]),
        ("a-b=c", ["a-b=c"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert read_run(text) == words


@pytest.mark.parametrize(
    ("text", "offset", "length", "says"),
    [
        ("cat log | wc", 8, 1, "pipe"),
        ("echo $HOME", 5, 5, "expands variables"),
        ("echo a$HOME/x y", 5, 8, "expands variables"),
        ("CC=gcc make", 0, 6, '"env"'),
        (" A=", 1, 2, '"env"'),
        ("make\nall", 0, 4, "ends the line"),
        ("make\n", 0, 4, "ends the line"),
        ("a\rb", 0, 1, "U+000D"),
        ("", 0, 1, "at least one word"),
        (" \t", 0, 2, "at least one word"),
        ("café", 0, 4, '"é"'),
        ("a\u00a0b", 0, 1, "U+00A0"),
    ],
)
def test_the_first_unsafe_token(text: str, offset: int, length: int, says: str) -> None:
    found = read_run(text)
    assert isinstance(found, UnsafeToken)
    assert (found.offset, found.length) == (offset, length)
    assert says in found.message


@pytest.mark.parametrize("character", list("\"'\\$`*?[]~#!{}()<>|&;"))
def test_no_character_of_a_shell_passes(character: str) -> None:
    for text in (f"a{character}", f"a {character}b", f"{character}"):
        found = read_run(text)
        assert isinstance(found, UnsafeToken)
        assert f'"{character}"' in found.message


@given(st.text(alphabet=st.sampled_from([*PLAIN, " ", "\t", "\n", "$", "é", "'"]), max_size=20))
@example("")
def test_words_are_exactly_the_plain_lines(text: str) -> None:
    found = read_run(text)
    words = re.split(r"[ \t]+", text.strip(" \t"))
    plain = bool(words[0]) and all(set(word) <= set(PLAIN) for word in words)
    if plain and not re.match(r"[A-Za-z_][A-Za-z0-9_]*=", words[0]):
        assert found == words
    else:
        assert isinstance(found, UnsafeToken)
        assert 0 <= found.offset <= len(text) and found.length >= 1


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_get_the_text_as_one_word(shell: str) -> None:
    assert shell_argv(shell, "a  b")[0] == shell
    assert shell_argv(shell, "a  b")[-1] == "a  b"
