"""Edits in lines and columns, applied to raw bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akmc.fix.edits import RawLines, mend
from akmc.render.finding import FoundEdit, FoundFix
from akmc_grammar.places import Span
from akmc_grammar.source import SourceText


def fix(*edits: tuple[Span, str], safe: bool = True) -> FoundFix:
    return FoundFix("mend", tuple(FoundEdit(span, text) for span, text in edits), safe)


def mended(raw: bytes, *fixes: FoundFix) -> tuple[bytes, int]:
    result = mend(SourceText.of("a.md", raw), fixes)
    return result.raw, result.applied


@pytest.mark.parametrize(
    ("raw", "span", "text", "after"),
    [
        (b"a\n## biuld\n", Span(2, 4, 2, 9), "build", b"a\n## build\n"),
        (b"\xef\xbb\xbfbad\n", Span(1, 1, 1, 4), "good", b"\xef\xbb\xbfgood\n"),
        (b"a\r\nbad\r\nc\n", Span(2, 1, 2, 4), "good", b"a\r\ngood\r\nc\n"),
        (b"a\r\nb\r\n", Span(1, 2, 1, 2), "\nnew", b"a\r\nnew\r\nb\r\n"),
        (b"a\nb", Span(2, 2, 2, 2), "\nnew", b"a\nb\nnew"),
        (b"a\r\r\nb", Span(1, 2, 1, 3), "", b"a\r\nb"),
        ("äö🙂x\n".encode(), Span(1, 4, 1, 5), "y", "äö🙂y\n".encode()),
        (b"one\ntwo\nthree\n", Span(1, 4, 3, 1), "", b"onethree\n"),
    ],
)
def test_one_edit(raw: bytes, span: Span, text: str, after: bytes) -> None:
    assert mended(raw, fix((span, text))) == (after, 1)


def test_overlapping_fixes_wait_for_the_next_round() -> None:
    first, second = fix((Span(1, 1, 1, 4), "X")), fix((Span(1, 3, 1, 6), "Y"))
    assert mended(b"abcdef\n", first, second) == (b"Xdef\n", 1)


def test_insertions_at_one_place_do_not_both_go_in() -> None:
    insertion = fix((Span(1, 2, 1, 2), "-"))
    assert mended(b"ab\n", insertion, insertion) == (b"a-b\n", 1)


def test_a_fix_is_applied_whole_or_not_at_all() -> None:
    first = fix((Span(1, 1, 1, 2), "A"))
    both = fix((Span(1, 1, 1, 2), "B"), (Span(2, 1, 2, 2), "C"))
    assert mended(b"x\ny\n", first, both) == (b"A\ny\n", 1)


@pytest.mark.parametrize(
    "skipped",
    [
        fix((Span(1, 1, 1, 2), "b"), safe=False),
        fix((Span(1, 1, 1, 2), "a")),
        fix((Span(9, 1, 9, 2), "b")),
        fix((Span(1, 5, 1, 6), "b")),
        fix((Span(2, 1, 1, 1), "b")),
        fix(),
    ],
)
def test_unsafe_empty_and_impossible_fixes_change_nothing(skipped: FoundFix) -> None:
    assert mended(b"a\nc\n", skipped) == (b"a\nc\n", 0)


LINES = st.lists(st.text(st.characters(exclude_characters="\n\r\ufeff", codec="utf-8"), max_size=8), min_size=1)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.data())
@settings(max_examples=100)
def test_offsets_point_at_the_same_characters(lines: list[str], end: str, bom: bool, data: st.DataObject) -> None:
    raw = (b"\xef\xbb\xbf" if bom else b"") + end.join(lines).encode()
    source = SourceText.of("a.md", raw)
    line = data.draw(st.integers(1, len(source.lines)))
    text = source.lines[line - 1]
    column = data.draw(st.integers(1, len(text) + 1))
    offset = RawLines(source).offset(line, column)
    assert offset is not None
    rest = raw[offset:].decode()
    assert rest.startswith(text[column - 1 :])
    assert rest[len(text) - column + 1 :] in ("", *(end + tail for tail in [end.join(lines[line:])]))
