"""Texts of a body: title, preamble, sections, gates, byte for byte."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from akmc_grammar.body_binder import GateText, read_body
from akmc_grammar.places import Span


def test_a_whole_body() -> None:
    text = """
Intro.

# Release #

### gate

## build ##

Do  it. \t
<!-- akm: allow[near-miss-gate] later -->

### Gate
  indented

### gate ###

- ok

### gate
- again
### GATES:

## test
"""
    body = read_body(text.split("\n"), 10)
    assert (body.title, body.title_span) == ("Release", Span(13, 3, 13, 10))
    assert body.preamble == "Intro.\n\n# Release #\n\n### gate"
    build, test = body.sections
    assert build.heading == "build"
    assert build.heading_span == Span(17, 4, 17, 9)
    assert build.instructions == "Do  it. \t\n\n### Gate\n  indented"
    assert build.gate == GateText(Span(25, 5, 25, 9), "- ok\n\n### gate\n- again\n### GATES:")
    assert build.extra_gates == (Span(29, 5, 29, 9),)
    assert build.near_gates == (("Gate", Span(22, 5, 22, 9)), ("GATES:", Span(31, 5, 31, 11)))
    assert build.first_text_line == ("Do  it. \t", Span(19, 1, 19, 8))
    assert build.span == Span(17, 1, 32, 1)
    assert (test.heading, test.instructions, test.gate, test.first_text_line) == ("test", "", None, None)
    assert test.span == Span(33, 1, 34, 1)
    assert [text for text, _ in body.comments] == ["<!-- akm: allow[near-miss-gate] later -->"]
    assert body.unclosed_fence is None


def test_an_empty_body_has_nothing() -> None:
    for lines in ([], [""], ["", " \t"]):
        body = read_body(lines, 1)
        assert (body.title, body.preamble, body.sections) == (None, "", ())


def test_a_blank_rubric_is_an_empty_one() -> None:
    (section,) = read_body(["## a", "Go.", "### gate", "", "  \t", ""], 1).sections
    assert section.gate == GateText(Span(3, 5, 3, 9), "")


def test_only_spaces_and_tabs_are_blank() -> None:
    (section,) = read_body(["## a", "\xa0", "Go.", "\x0c", " \t", ""], 1).sections
    assert section.instructions == "\u00a0\nGo.\n\x0c"


def test_headings_that_are_text() -> None:
    body = read_body(["##build", "Notes", "  and more", "-----", "```", ""], 3)
    assert body.unspaced == (("##build", Span(3, 1, 3, 8)),)
    assert body.setext == (("##build Notes and more", Span(3, 1, 5, 11)),)
    assert body.unclosed_fence == Span(7, 1, 7, 4)


def test_a_heading_without_text_is_a_section_without_a_name() -> None:
    (section,) = read_body(["  ##  ", "x"], 1).sections
    assert (section.heading, section.heading_span, section.instructions) == ("", Span(1, 3, 1, 5), "x")


def test_level_one_headings_inside_sections_are_no_title() -> None:
    body = read_body(["## a", "# Workflow: x"], 1)
    assert body.title is None
    assert body.top_headings == (("Workflow: x", Span(2, 3, 2, 14)),)
    assert body.sections[0].instructions == "# Workflow: x"


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["## a", "### gate", "x", "", " ", "# t", "```", "- y", "### Gate", "<!--", "-->"]), max_size=20
    )
)
def test_nothing_of_the_text_is_lost(lines: list[str]) -> None:
    body = read_body(lines, 1)
    kept = [body.preamble]
    for section in body.sections:
        kept += ["##" + section.heading, section.instructions]
        if section.gate is not None:
            kept += ["###gate", section.gate.rubric]
    written = [line.replace(" ", "") for line in lines if line.strip()]
    read = [line.replace(" ", "") for text in kept for line in text.split("\n") if line.strip()]
    assert read == written


def test_a_mebibyte_of_prose_is_read_quickly() -> None:
    paragraph = ["The quick brown fox jumps over the lazy dog, again and again, until it is tired."] * 6
    block = [*paragraph, "", "- one item", "- another item", ""]
    lines = ["## a", *(block * 2050)]
    assert len("\n".join(lines)) > 2**20
    best = min(_timed(lines) for _ in range(3))
    assert best < 0.5  # some 15 ms on a quiet machine


def _timed(lines: list[str]) -> float:
    started = time.process_time()
    assert len(read_body(lines, 1).sections) == 1
    return time.process_time() - started
