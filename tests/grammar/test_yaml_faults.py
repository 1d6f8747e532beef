"""What is said of text that is not YAML, whichever parser refused it."""

from __future__ import annotations

import pytest

from akmc_grammar import yaml_events
from akmc_grammar.diagnostics import Diagnostic, Sink
from akmc_grammar.yaml_reader import read_yaml

_ESCAPE_HELP = r"write a backslash as \\, or use single quotes"
_OPENED = "this quoted text goes on to a later line"


@pytest.fixture(params=["libyaml", "pure"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "pure":
        monkeypatch.setattr(yaml_events, "_c_parser", lambda: None)


def fault(text: str) -> Diagnostic:
    sink = Sink()
    read_yaml(text, file="w.md", sink=sink, first_line=2, dialect="frontmatter")
    (found,) = sink.found
    assert found.rule.name == "invalid-yaml"
    return found


@pytest.mark.parametrize("text", [r"C:\Users\x\e.exe", r"C:\xyz", r"\d+", r"\u12", r"\x4", r"\U1234567"])
def test_a_backslash_that_begins_no_escape_is_told_how_to_be_written(text: str) -> None:
    found = fault(f'command: ["{text}"]\n')
    assert found.help == _ESCAPE_HELP
    assert "escape" in found.message and "hexdecimal" not in found.message


@pytest.mark.parametrize("text", ["a: !x%zz b", "a: !<x b", "a: !x!%q b"])
def test_a_faulty_tag_is_no_faulty_escape(text: str) -> None:
    found = fault(text)
    assert found.message == "found a faulty tag" and found.help is not None and "remove the tag" in found.help


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ('description: "foo\nsteps:\n  - id: a\n    command: [echo, "x"]\n', (2, 14)),
        ('a: "foo\nb: "bar"\nc: d\n', (2, 4)),
        ("a: it\nb: 'foo\nc: it's\n", (3, 4)),
        ('- "a\n  b" "c"\n', (2, 3)),
        ('a: ["b\n c" d]\n', (2, 5)),
    ],
)
def test_a_quoted_text_that_swallowed_lines_is_shown_where_it_begins(text: str, opened: tuple[int, int]) -> None:
    (note,) = fault(text).notes
    assert note.message == _OPENED and note.place is not None and note.place.span is not None
    assert (note.place.span.line, note.place.span.column) == opened


@pytest.mark.parametrize(
    "text", ["a: 'x' y\n", 'a: "x\n  y"\nb: [1, 2\n', 'a: "x\n y"\n  b: 2\n', 'a: "x\nb: 1\n', "a: x\n  y: 'z' w\n"]
)
def test_other_faults_have_no_such_note(text: str) -> None:
    assert fault(text).notes == ()


@pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x00", "\x7f"])
@pytest.mark.parametrize(
    ("text", "line", "column"), [("a: 1\n{}", 3, 1), ("a: 1\n\n  {}\n\n", 4, 3), ("{}", 2, 1), ("a: 1 {}\n \n", 2, 6)]
)
def test_a_control_character_that_python_takes_for_a_blank(character: str, text: str, line: int, column: int) -> None:
    found = fault(text.replace("{}", character))
    assert f"U+{ord(character):04X}" in found.message
    assert found.place.span is not None
    assert (found.place.span.line, found.place.span.column) == (line, column)
