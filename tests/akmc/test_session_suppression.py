"""Allow comments and selection, on hand-built documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath

import pytest

from akmc.cli import run
from akmc.faults import CommandFault
from akmc.render.finding import Finding
from akmc.session.selection import Selection
from akmc.session.suppression import suppress
from akmc_grammar.document import Allow, Document
from akmc_grammar.ir import SourceIR
from akmc_grammar.places import Path, Place, Span
from akmc_grammar.rules import RULES
from akmc_grammar.source import SourceText

Write = Callable[[Mapping[str, str]], FilePath]
Capture = pytest.CaptureFixture[str]
SOURCE = SourceText.of("workflows/a.md", b"---\n---\n")


class NoLocator:
    def span(self, place: Place) -> Span:
        return place.span or Span(1, 1, 1, 1)


def document(*allows: tuple[str, int], ir: bool = True, poisoned: frozenset[Path] = frozenset()) -> Document:
    comments = tuple(
        Allow(tuple(words.split(",")) if words else (), line, Span(line, 1, line, 9)) for words, line in allows
    )
    content = SourceIR(source_format="markdown") if ir else None
    return Document(SOURCE, "workflows/a", content, poisoned, NoLocator(), comments)


def found(rule: str, line: int, path: str = "workflows/a.md") -> Finding:
    return Finding(RULES[rule], "m", path, Span(line, 3, line, 9))


def left(findings: list[Finding], doc: Document) -> list[tuple[str, int]]:
    return [(finding.rule.name, finding.span.line) for finding in suppress(findings, doc)]


@pytest.mark.parametrize("word", ["inert-gate", "AKM0407", "setext-heading,inert-gate"])
def test_a_warning_is_dropped_on_the_line_and_on_the_next(word: str) -> None:
    findings = [found("inert-gate", line) for line in (4, 5, 6, 7)] + [found("setext-heading", 5)]
    remaining = [item for item in left(findings, document((word, 5))) if item[0] == "inert-gate"]
    assert remaining == [("inert-gate", 4), ("inert-gate", 7)]


def test_an_error_stays_and_the_comment_is_reported() -> None:
    doc = document(("unknown-key", 4))
    assert left([found("unknown-key", 4)], doc) == [("unknown-key", 4), ("unused-allow", 4)]


def test_other_files_are_not_touched() -> None:
    doc = document(("inert-gate", 4))
    assert left([found("inert-gate", 4, "workflows/b.md")], doc) == [("inert-gate", 4), ("unused-allow", 4)]


def test_unknown_and_unused_words_are_reported_at_the_comment() -> None:
    findings = suppress([], document(("inert-gat,inert-gate", 3), ("", 8)))
    assert [(item.rule.name, item.span.line, item.help) for item in findings] == [
        ("unknown-allowed-rule", 3, 'did you mean "inert-gate"?'),
        ("unknown-allowed-rule", 8, "akmc explain lists the rules"),
        ("unused-allow", 3, "drop the comment, or move it to the line of the finding or the line above"),
    ]


def test_a_comment_that_is_almost_one_is_a_warning_where_it_stands(write: Write, capfd: Capture) -> None:
    text = "---\n# AKM: allow[inert-gate]\nsteps: [{id: a}]\n---\n## a\n<!-- akm: allow inert-gate -->\nx\n"
    write({"workflows/a.md": text})
    assert run(["check", "--format", "json"]) == 0
    found = json.loads(capfd.readouterr().out)["diagnostics"]
    assert [(item["rule"], item["line"], item["help"]) for item in found] == [
        ("unused-allow", 2, 'write "# akm: allow[RULE] reason"'),
        ("unused-allow", 6, 'write "<!-- akm: allow[RULE] reason -->"'),
    ]


def test_a_comment_with_empty_brackets(write: Write, capfd: Capture) -> None:
    write({"workflows/a.md": "---\nsteps: [{id: a}]\n---\n## a\n<!-- akm: allow[] -->\nx\n"})
    assert run(["check"]) == 1
    assert "the comment allows nothing: expected a rule name between the brackets" in capfd.readouterr().out


def test_nobody_knows_what_is_unused_in_a_document_that_could_not_be_read_in_full() -> None:
    assert left([], document(("inert-gate", 3), ir=False)) == []
    assert left([], document(("inert-gate", 3), poisoned=frozenset({("steps", 0)}))) == []


@pytest.mark.parametrize("ir", [True, False])
def test_an_error_is_never_allowed_however_much_could_be_read(ir: bool) -> None:
    doc = document(("unknown-key", 3), ir=ir, poisoned=frozenset({("foo",)}))
    assert left([found("unknown-key", 4)], doc) == [("unknown-key", 4), ("unused-allow", 3)]


def test_the_warning_about_unused_comments_can_be_allowed() -> None:
    assert left([], document(("unused-allow", 2), ("inert-gate", 3))) == []


def test_selection_takes_names_and_codes_and_ignoring_wins() -> None:
    selection = Selection.of(["inert-gate, AKM0409"], ["setext-heading"])
    findings = [found(rule, 1) for rule in ("inert-gate", "setext-heading", "unknown-key")]
    assert [finding.rule.name for finding in findings if selection.keeps(finding)] == ["inert-gate"]
    assert all(Selection.of([], []).keeps(finding) for finding in findings)


def test_an_unknown_rule_in_a_selection_is_a_usage_fault() -> None:
    with pytest.raises(CommandFault) as caught:
        Selection.of([], ["inert-gaet"])
    assert caught.value.status == 2 and caught.value.help == 'did you mean "inert-gate"?'
