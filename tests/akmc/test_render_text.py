"""The text and concise formats, whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from akm_schemas.bounds import DIAGNOSTICS_PER_FILE
from akmc.render import render_report
from akmc.render.finding import Finding, FoundNote, Report
from akmc.render.snippet import WINDOW, char_width, snippet
from akmc_grammar.places import Span
from akmc_grammar.source import SourceText

MakeFinding = Callable[..., Finding]


def report(*findings: Finding) -> Report:
    return Report(findings, tuple(sorted({finding.path for finding in findings})))


def test_a_finding_with_help_and_notes(make_finding: MakeFinding) -> None:
    other = SourceText.of("workflows/b.md", b"x\n" * 11 + b"## build\n")
    notes = (
        FoundNote("declared steps: 1"),
        FoundNote("first declared here", "workflows/b.md", Span(12, 4, 12, 9), other),
    )
    finding = make_finding(help='did you mean "build"?', notes=notes)
    assert render_report(report(finding), "text") == (
        "error[AKM0401 unexpected-heading]: no step is called that\n"
        "  --> workflows/a.md:2:4\n"
        "   |\n"
        " 2 | ## Stray\n"
        "   |    ^^^^^\n"
        "   = note: declared steps: 1\n"
        '   = help: did you mean "build"?\n'
        "note: first declared here\n"
        "  --> workflows/b.md:12:4\n"
        "   |\n"
        "12 | ## build\n"
        "   |    ^^^^^\n"
        "\n"
    )


def test_colours_only_when_wanted(make_finding: MakeFinding) -> None:
    plain = render_report(report(make_finding()), "text", color=False)
    coloured = render_report(report(make_finding()), "text", color=True)
    assert "\x1b" not in plain
    assert coloured.startswith("\x1b[1;31merror[AKM0401 unexpected-heading]\x1b[0m")


def test_escapes_in_source_message_and_path(make_finding: MakeFinding) -> None:
    finding = make_finding("## \x1b[2Jx\u202e\n", Span(1, 4, 1, 10), message="bad \x1b[0m", path="w/\x07.md")
    for name in ("text", "concise"):
        text = render_report(report(finding), name)
        assert not {char for char in text if char < " " and char != "\n"}
        assert "\u202e" not in text and "bad \\x1b[0m" in text and "w/\\x07.md:1:4" in text


def test_a_place_without_a_source_line(make_finding: MakeFinding) -> None:
    text = render_report(report(make_finding("one\n", Span(9, 1, 9, 2))), "text")
    assert text == "error[AKM0401 unexpected-heading]: no step is called that\n --> workflows/a.md:9:1\n\n"


def test_concise_is_one_line(make_finding: MakeFinding) -> None:
    text = render_report(report(make_finding(message="two\nlines", help="h")), "concise", color=True)
    assert text == "workflows/a.md:2:4: error[AKM0401 unexpected-heading]: two\\nlines\n"


@pytest.mark.parametrize("name", ["text", "concise"])
def test_the_cap_keeps_errors_and_counts_the_rest(make_finding: MakeFinding, name: str) -> None:
    limit = DIAGNOSTICS_PER_FILE.high
    warnings = [make_finding(span=Span(line, 1, line, 2), rule="inert-gate") for line in range(1, limit + 2)]
    errors = [make_finding(span=Span(line, 1, line, 2)) for line in range(900, 903)]
    text = render_report(report(*warnings, *errors), name)
    assert text.count("error[") == 3
    assert text.count("warning[") == limit - 3
    assert "workflows/a.md: 4 more findings hidden" in text


@pytest.mark.parametrize("name", ["json", "jsonl", "sarif", "github"])
def test_machine_formats_carry_everything(make_finding: MakeFinding, name: str) -> None:
    findings = [make_finding(span=Span(line, 1, line, 2)) for line in range(1, 121)]
    text = render_report(report(*findings), name)
    assert text.count("no step is called that") == 120
    assert "hidden" not in text


def columns(text: str) -> int:
    return sum(map(char_width, text))


@pytest.mark.parametrize(
    ("line", "span", "marked"),
    [
        ("\tkey: value", Span(1, 2, 1, 5), "key"),
        ("a\tb", Span(1, 3, 1, 4), "b"),
        ("中文 wide", Span(1, 4, 1, 8), "wide"),
        ("中文 wide", Span(1, 2, 1, 3), "文"),
        ("e\u0301e\u0301 x", Span(1, 6, 1, 7), "x"),
        ("\x1b[0m x", Span(1, 6, 1, 7), "x"),
        ("x" * 500 + "HERE" + "y" * 500, Span(1, 501, 1, 505), "HERE"),
    ],
)
def test_carets_stand_under_what_they_mark(line: str, span: Span, marked: str) -> None:
    shown = snippet(line, span)
    at = shown.text.rindex(marked)
    assert columns(shown.text[:at]) == shown.start
    assert columns(marked) == shown.width


def test_long_lines_are_cut_around_the_carets() -> None:
    shown = snippet("x" * 5000 + "HERE" + "y" * 5000, Span(1, 5001, 1, 5005))
    assert len(shown.text) <= WINDOW + 6
    assert snippet("z" * 5000, Span(1, 1, 1, 5001)).width == WINDOW


def test_empty_spans_and_spans_over_several_lines_get_carets() -> None:
    assert snippet("", Span(1, 1, 1, 1)).width == 1
    assert snippet("abc", Span(1, 4, 1, 4)) == snippet("abc", Span(1, 9, 1, 9))
    assert snippet("abcdef", Span(1, 3, 4, 2)).width == 4
