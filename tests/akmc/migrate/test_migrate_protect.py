"""Old prose never reads as structure: what goes in below a heading comes out as that section's text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akmc.migrate.model import Notes
from akmc.migrate.prose import prose_of_lines
from akmc.migrate.protect import Role, protect, trimmed
from akmc_grammar.body_binder import read_body

PIECES = st.sampled_from(
    [
        "## Gaps", "##", "## a ##", "### gate", "### Gate", "# Workflow: x", "Step ID: x", "  Step ID: y", "```", "~~~~",
        "```sh", "   ~~~", "<!-- open", "-->", "<script>", "<?php", "<![CDATA[", "<!DOCTYPE x", "<div>", "- item", "> quote",
        "    code", "\t## x", "text", "", "---", "===", "1. one", "<!-- akm: allow[x] -->", "a <!-- akm:allow[y] -->", "`a", "  ## in",
    ]
)  # fmt: skip


def guarded(lines: list[str], role: Role = "section") -> tuple[str, Notes]:
    notes = Notes()
    prose = protect(prose_of_lines([(line, number) for number, line in enumerate(lines, 10)]), role, notes)
    assert len(prose.origins) == prose.text.count("\n") + 1
    return prose.text, notes


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=12), st.lists(PIECES, min_size=1, max_size=8))
def test_sections_come_back(first: list[str], rubric: list[str]) -> None:
    instructions, _ = guarded(first)
    judged, _ = guarded(rubric)
    preamble, _ = guarded(first, "preamble")
    text = f"# T\n\n{trimmed(preamble)}\n\n## one\n\n{trimmed(instructions)}\n\n### gate\n\n{trimmed(judged)}\n\n## two\n\nx"
    body = read_body(text.split("\n"), 1)
    assert [section.heading for section in body.sections] == ["one", "two"]
    assert body.sections[0].instructions == trimmed(instructions)
    assert body.sections[0].gate is not None
    assert body.sections[0].gate.rubric == trimmed(judged)
    assert body.sections[0].extra_gates == ()
    assert [text for text, _ in body.top_headings if text.startswith("Workflow:")] == []
    assert not any("akm:" in text for text, _ in body.comments)
    leading = body.sections[0].first_text_line
    assert leading is None or not leading[0].lstrip().startswith("Step ID:")


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=12))
def test_a_second_time_changes_nothing(lines: list[str]) -> None:
    once, _ = guarded(lines)
    twice, notes = guarded(once.split("\n"))
    assert twice == once
    assert notes.remarks == []


@pytest.mark.parametrize(
    ("line", "safe"),
    [
        ("## Gaps", "### Gaps"),
        ("  ## Gaps ##", "  ### Gaps ##"),
        ("## gates", "#### gates"),
        ("### gate", "#### gate"),
        ("# Workflow: x", "### Workflow: x"),
        ("Step ID: x", "**Step ID:** x"),
        ("<!-- akm: allow[a] -->", "<!-- akm : allow[a] -->"),
    ],
)
def test_structure_is_made_plain_and_listed(line: str, safe: str) -> None:
    text, notes = guarded([line])
    assert text == safe
    assert [remark.span.line for remark in notes.remarks] == [10]


@pytest.mark.parametrize(
    "line", ["### Notes", "# Title", "#### gate", "    ## code", "##build", "> ## quoted", "### Gate"]
)
def test_all_else_stays(line: str) -> None:
    assert guarded([line]) == (line, Notes())


@pytest.mark.parametrize(
    ("lines", "closer"), [(["```sh", "x"], "```"), (["~~~~", "```"], "~~~~"), (["<!-- x"], "-->"), (["<?x"], "?>")]
)
def test_what_is_open_is_closed(lines: list[str], closer: str) -> None:
    text, notes = guarded(lines)
    assert text.split("\n") == [*lines, closer]
    assert len(notes.remarks) == 1


def test_a_heading_in_a_preamble_may_be_called_gate() -> None:
    assert guarded(["### gate"], "preamble")[0] == "### gate"
