"""The command front end and its template."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_schemas.bounds import INSTRUCTION_BYTES
from akmc_grammar.command_asset import Command, CommandDocument, filled, read_command, without_blank_ends
from akmc_grammar.diagnostics import Sink
from akmc_grammar.source import SourceText


def read(text: str) -> tuple[CommandDocument, list[tuple[str, int]]]:
    """The document and rule and line of each finding."""
    sink = Sink()
    document = read_command(SourceText.of("x.md", text.encode()), ref="commands/x", sink=sink)
    found = [(item.rule.name, (item.place.span or document.locator.span(item.place)).line) for item in sink.found]
    return document, found


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Say hello.\n", Command("Say hello.")),
        ("\n\n  Say\n\nhello. \n\n", Command("  Say\n\nhello. ")),
        ("---\n---\nHi", Command("Hi")),
        ("---\r\nmodel: m\r\nagent: a\r\n---\r\n\r\nHi\r\nyou\r\n", Command("Hi\nyou", "m", "a")),
        ("---\ntype: command\ndescription: x\ntags: [a]\n--- \nHi\n---\n", Command("Hi\n---")),
        ("## a\n### gate\n", Command("## a\n### gate")),
    ],
)
def test_commands(text: str, command: Command) -> None:
    document, found = read(text)
    assert found == []
    assert document.ir == command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("bound-exceeded", 1)]),
        ("---\nmodel: m\n---\n\n \n", [("bound-exceeded", 4)]),
        ("x" * (INSTRUCTION_BYTES.high + 1), [("bound-exceeded", 1)]),
        ("---\nmodel: m\nHi\n", [("missing-frontmatter", 1)]),
        ("---\nmodle: m\n---\nHi\n", [("unknown-key", 2)]),
        ("---\nmodel: 5\n---\nHi\n", [("wrong-type", 2)]),
        ("---\ntype: workflow\n---\nHi\n", [("invalid-value", 2)]),
        ("---\n: [\n---\nHi\n", [("invalid-yaml", 3)]),
        ("---\n- a\n---\nHi\n", [("wrong-type", 2)]),
    ],
)
def test_what_is_refused(text: str, expected: list[tuple[str, int]]) -> None:
    document, found = read(text)
    assert [rule for rule, _ in found] == [rule for rule, _ in expected]
    if expected[0][0] != "invalid-yaml":  # where the reader puts that is its own affair
        assert found == expected
    assert document.ir is None


@given(st.text("a$ARGUMENTS ", max_size=30), st.none() | st.text("$ARGUMENTS x", max_size=12))
def test_arguments_are_inserted_once(template: str, arguments: str | None) -> None:
    prompt, kind = filled(template, arguments)
    assert prompt == (arguments or "").join(template.split("$ARGUMENTS"))
    assert (kind == "arguments") == ("$ARGUMENTS" in template)


@given(st.text(" \t\nab", max_size=12))
def test_only_blank_lines_at_the_ends_go(text: str) -> None:
    kept = without_blank_ends(text)
    assert kept in text
    assert without_blank_ends(kept) == kept
    assert not kept or (kept.split("\n")[0].strip() and kept.split("\n")[-1].strip())
    assert [line for line in text.split("\n") if line.strip()] == [line for line in kept.split("\n") if line.strip()]
