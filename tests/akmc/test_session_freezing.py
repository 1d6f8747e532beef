"""One way to a plan, and the order of findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from akmc.faults import CONFIG, OK, USAGE, CommandFault
from akmc.render.finding import Finding
from akmc.session.freezing import compile_source, plan_of
from akmc.session.resolving import Resolver, in_order
from akmc_grammar.diagnostics import Diagnostic, Edit, Fix, Note
from akmc_grammar.document import Document
from akmc_grammar.places import Place, Span
from akmc_grammar.rules import RULES
from akmc_grammar.source import SourceText

Write = Callable[[Mapping[str, str]], Path]
MakeFinding = Callable[..., Finding]
EXEC = "---\nsteps:\n  - id: build\n    unit: {exec: {command: [make]}}\n---\n## build\nBuilds.\n"


def test_a_plan_file_and_its_source_give_the_same_plan(write: Write) -> None:
    from akm_schemas.decode import encode_plan

    root = write({"workflows/a.md": EXEC})
    result = plan_of("workflows/a.md")
    assert result.status == OK and result.plan is not None and result.analysis is not None
    (root / "p.json").write_bytes(encode_plan(result.plan))
    read = plan_of("p.json")
    assert (read.plan, read.findings, read.analysis, read.status) == (result.plan, (), None, OK)


@pytest.mark.parametrize(
    ("text", "status", "rules"),
    [
        (EXEC.replace("## build", "## x"), USAGE, {"missing-section", "unexpected-heading"}),
        (EXEC.replace("unit: {exec: {command: [make]}}", "timeout: 1s"), USAGE, {"unknown-key"}),
        ("---\nsteps:\n  - id: ask\n---\n## ask\nAsk.\n", CONFIG, {"no-engine"}),
    ],
)
def test_why_there_is_no_plan(write: Write, text: str, status: int, rules: set[str]) -> None:
    write({"workflows/a.md": text})
    result = plan_of("workflows/a.md")
    assert result.plan is None and result.status == status
    assert rules <= {finding.rule.name for finding in result.findings}


@pytest.mark.parametrize("spec", ["absent.json", "absent.md", "workflows", "docs/x.md"])
def test_a_path_that_makes_no_sense_is_a_fault(write: Write, spec: str) -> None:
    write({"workflows/a.md": EXEC, "docs/x.md": "prose"})
    with pytest.raises(CommandFault) as caught:
        plan_of(spec)
    assert caught.value.status == USAGE and spec in caught.value.message


def test_the_config_option_counts_for_sources(write: Write) -> None:
    write({"workflows/a.md": EXEC, "c.json": '{"workflow": {"maxConcurrency": 3}}', "bad.json": "["})
    plan = compile_source("workflows/a.md", config=Path("c.json")).plan
    assert plan is not None and plan.execution.max_concurrency == 3
    with pytest.raises(CommandFault) as caught:
        plan_of("workflows/a.md", config=Path("bad.json"))
    assert caught.value.status == CONFIG


def test_findings_are_sorted_by_place_and_code_and_said_once(make_finding: MakeFinding) -> None:
    def at(path: str, line: int, column: int, rule: str) -> Finding:
        return make_finding(path=path, span=Span(line, column, line, column + 1), rule=rule)

    ordered = [
        at("a.md", 1, 9, "inert-gate"),
        at("a.md", 2, 1, "unknown-key"),
        at("a.md", 2, 1, "unexpected-heading"),
        at("a.md", 10, 1, "unknown-key"),
        at("b.md", 1, 1, "unknown-key"),
    ]
    assert in_order([*reversed(ordered), *ordered]) == tuple(ordered)
    other_words = replace(ordered[0], message="other words")
    assert len(in_order([ordered[0], other_words])) == 2


class Lines:
    """A locator that puts everything on line 7, so that a test can see who was asked."""

    def span(self, place: Place) -> Span:
        return place.span or Span(7, len(place.path), 7, 9)


def test_places_notes_and_edits_are_resolved_by_their_own_files() -> None:
    source = SourceText.of("a.md", b"x\n")
    document = Document(source, "workflows/a", None, frozenset(), Lines(), ())
    diagnostic = Diagnostic(
        RULES["unknown-key"],
        "m",
        Place("a.md", ("steps", 0)),
        (Note("known", Place("b.md", span=Span(3, 1, 3, 2))), Note("unknown", Place("c.md", ("x",))), Note("bare")),
        "h",
        Fix("t", (Edit(Place("a.md", ("x",)), "new"),)),
    )
    finding = Resolver({"a.md": document}, {"a.md": source}).finding(diagnostic)
    assert (finding.span, finding.source) == (Span(7, 2, 7, 9), source)
    assert [(note.path, note.span) for note in finding.notes] == [
        ("b.md", Span(3, 1, 3, 2)),
        ("c.md", Span(1, 1, 1, 1)),
        (None, None),
    ]
    assert finding.fix is not None and finding.fix.edits[0].span == Span(7, 1, 7, 9) and finding.fixable
