"""Texts and bodies that the product's grammars derive, against Lark itself and against CommonMark."""

from __future__ import annotations

import grammar_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from akm_schemas.references import Reference
from akmc_grammar.body_binder import read_body
from akmc_grammar.reference_grammar import parse_asset_ref, parse_duration, parse_reference
from akmc_grammar.run_line import read_run


@settings(max_examples=60, deadline=None)
@given(grammar_texts.references(), grammar_texts.asset_refs(), grammar_texts.durations())
def test_what_the_reference_grammar_derives_is_read(reference: str, ref: str, duration: str) -> None:
    assert isinstance(parse_reference(reference), Reference)
    assert parse_asset_ref(ref) is not None
    assert parse_duration(duration) is not None


@settings(max_examples=60, deadline=None)
@given(grammar_texts.run_lines())
def test_what_the_run_grammar_derives_is_argv(line: str) -> None:
    words = line.split()
    assignment = any("=" in word.partition("=")[1] and word.partition("=")[0].isidentifier() for word in words[:1])
    assert assignment or read_run(line) == words


def document_level(text: str) -> list[tuple[int, str]]:
    """(line from 0, text) of the level-2 ATX headings at document level, as markdown-it-py has them."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        (token.map[0], tokens[position + 1].content)
        for position, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag == "h2" and not token.level and token.map and "#" in token.markup
    ]


@settings(max_examples=100, deadline=None)
@given(grammar_texts.bodies() | st.lists(grammar_texts.bodies(), max_size=4).map("".join))
def test_sections_are_the_headings_that_commonmark_has_at_document_level(text: str) -> None:
    lines = text.split("\n")
    body = read_body(lines, 1)
    assert [(section.heading_span.line - 1, section.heading) for section in body.sections] == document_level(text)
    for section, after in zip(body.sections, body.sections[1:], strict=False):
        assert section.span.end_line <= after.span.line + 1
    texts = [body.preamble, *(part for section in body.sections for part in (section.instructions, _rubric(section)))]
    joined = "\n".join(lines)
    assert all(part in joined for part in texts if part and "<!-- akm: allow" not in joined)


def _rubric(section: object) -> str:
    gate = getattr(section, "gate", None)
    return "" if gate is None else gate.rubric
