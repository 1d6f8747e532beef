"""Places as text."""

from __future__ import annotations

import pytest

from akm_schemas.json_paths import dotted, pointer, quoted


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((), ""),
        (("steps", 2, "unit", "target"), "steps[2].unit.target"),
        ((0, "a"), "[0].a"),
        (("a b", "$ref", "x-y"), '["a b"].$ref.x-y'),
        (("é",), '["é"]'),
        (("",), '[""]'),
        (("a\n",), '["a\\n"]'),
        (("n" * 100,), '["' + "n" * 57 + '..."]'),
    ],
)
def test_dotted(parts: tuple[str | int, ...], text: str) -> None:
    assert dotted(parts) == text


def test_quoted_is_one_printable_line() -> None:
    assert quoted('a"b\\c') == '"a\\"b\\\\c"'
    assert quoted("\u2028\x1b[31m\ud800é") == '"\\u2028\\x1b[31m\\ud800é"'
    assert len(quoted("x" * 1000)) == 62


def test_pointer_escapes_as_the_rfc_says() -> None:
    assert pointer(()) == ""
    assert pointer(("a/b", "m~n", 0, "")) == "/a~1b/m~0n/0/"
