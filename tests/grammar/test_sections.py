"""Every rule of a body, and what is reported once when two have one cause."""

from __future__ import annotations

from typing import Literal

import pytest

from akmc_grammar.body_binder import read_body
from akmc_grammar.diagnostics import Diagnostic, Sink
from akmc_grammar.places import Path, Span
from akmc_grammar.sections import StepHead, bind_sections

Kind = Literal["unit", "map", "route"]


def steps(*ids: str | None, kind: Kind = "unit", loops: bool = False) -> list[StepHead]:
    return [StepHead(index, name, kind, loops) for index, name in enumerate(ids)]


def check(
    text: str, heads: list[StepHead], *, cascade: bool = True
) -> tuple[dict[int, str], list[tuple[str, int | Path]], list[Diagnostic]]:
    """Step index -> heading, (rule, line or path) pairs in order of rules, and the findings themselves."""
    sink = Sink()
    bound = bind_sections(read_body(text.split("\n"), 1), heads, file="a", sink=sink, cascade=cascade)
    shown = [(item.rule.name, item.place.span.line if item.place.span else item.place.path) for item in sink.found]
    for item in sink.found:
        assert item.message
        assert item.help
    return {index: section.heading for index, section in bound.items()}, sorted(shown, key=str), sink.found


def test_sections_in_any_order() -> None:
    assert check("## b\nx\n## a\ny", steps("a", "b")) == ({0: "a", 1: "b"}, [], [])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("## a\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> z", [2]),
        ("<<<<<<< HEAD\nx\n||||||| base\n=======\ny\n>>>>>>> z\n## a\nx", [1]),
        ("## a\n<<<<<<< o\n=======\n>>>>>>> t\n\n<<<<<<< o\n=======\n>>>>>>> t", [2, 6]),
        ("## a\n```\n<<<<<<< HEAD\n=======\n>>>>>>> z\n```", []),
        ("## a\n<!--\n<<<<<<< HEAD\n=======\n>>>>>>> z\n-->\nx", []),
        ("## a\nTitle\n=======\n>>>>>>> z\n<<<<<<< HEAD", []),
        ("## a\n<<<<<<< HEAD\n>>>>>>> z\n=======", []),
        ("## a\n<<<<<<< HEAD\n===========\n>>>>>>> z", []),
        ("## a\nx <<<<<<< HEAD\n=======\n>>>>>>> z", []),
        ("## a\n    <<<<<<< HEAD\n    =======\n    >>>>>>> z\nx", []),
    ],
)
def test_a_merge_is_unresolved_where_all_its_marks_are_there(text: str, lines: list[int]) -> None:
    _, shown, _ = check(text, steps("a"))
    assert shown == [("merge-conflict", line) for line in lines]


def test_unexpected_headings_list_the_declared_steps() -> None:
    _, shown, found = check("## a\nx\n## Shared notes\ny\n##\nz", steps("b-c", "a"))
    assert shown == [("missing-section", ("steps", 0, "id")), ("unexpected-heading", 3), ("unexpected-heading", 5)]
    words = {item.message for item in found if item.rule.name == "unexpected-heading"}
    assert words == {
        'found "Shared notes", expected the id of a step; declared steps: "a", "b-c"',
        'found a heading without text, expected the id of a step; declared steps: "a", "b-c"',
    }
    assert all(item.fix is None for item in found)


def test_a_typo_with_one_candidate_has_a_safe_fix_of_the_text_only() -> None:
    _, shown, found = check("##  biuld ##\nx\n## test\ny", steps("build", "test"))
    assert shown == [("unexpected-heading", 1)]
    (finding,) = found
    assert finding.help == 'did you mean "build"?'
    assert finding.fix is not None
    assert finding.fix.safe
    (edit,) = finding.fix.edits
    assert (edit.text, edit.place.span) == ("build", Span(1, 5, 1, 10))
    assert [note.place.path for note in finding.notes if note.place] == [("steps", 0, "id")]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("## bild\nx\n## build\ny", ("build",)),
        ("## buil\nx", ("build", "built")),
        ("## zebra\nx", ("build",)),
    ],
)
def test_no_fix_when_the_candidate_is_taken_or_not_the_only_one(text: str, ids: tuple[str, ...]) -> None:
    _, shown, found = check(text, steps(*ids))
    assert ("unexpected-heading", 1) in shown
    assert all(item.fix is None and not (item.help or "").startswith("did you mean") for item in found)


def test_two_headings_for_one_candidate_are_not_both_renamed() -> None:
    _, shown, found = check("## biuld\nx\n## buidl\ny", steps("build"))
    assert [rule for rule, _ in shown] == ["unexpected-heading", "unexpected-heading"]
    assert all(item.fix is None for item in found)


def test_case_alone_decides_among_close_ids() -> None:
    _, _, found = check("## Build\nx", steps("build", "built"))
    assert [item.fix.edits[0].text for item in found if item.fix] == ["build"]


def test_while_an_id_is_unreadable_strange_headings_may_be_its() -> None:
    assert check("## 2nd\nx", steps(None)) == ({}, [], [])
    _, shown, _ = check("## 2nd\nx\n## biuld\ny", steps(None, "build"))
    assert shown == [("unexpected-heading", 3)]


def test_duplicate_sections_are_at_the_later_ones() -> None:
    bound, shown, found = check("## a\nx\n## a\ny\n## a\nz", steps("a"))
    assert (bound, shown) == ({0: "a"}, [("duplicate-section", 3), ("duplicate-section", 5)])
    assert {note.place.span for item in found for note in item.notes if note.place} == {Span(1, 4, 1, 5)}


def test_of_steps_with_one_id_the_first_owns_the_section() -> None:
    assert check("## a\nx", steps("a", "a")) == ({0: "a"}, [], [])
    assert check("x", steps("a", "a"))[1] == [("missing-section", ("steps", 0, "id"))]


def test_routes_may_do_without_a_section_and_without_text() -> None:
    assert check("", steps("a", kind="route"))[1] == []
    assert check("## a", steps("a", kind="route"))[1] == []
    assert check("", steps("a", kind="map"))[1] == [("missing-section", ("steps", 0, "id"))]


@pytest.mark.parametrize("text", ["## a", "## a\n \t\n", "## a\n### gate\nok", "## a\n<!-- akm: allow[x] -->"])
def test_empty_sections(text: str) -> None:
    assert check(text, steps("a"))[1] == [("empty-section", 1)]


def test_gates() -> None:
    _, shown, found = check("## a\nx\n### gate\nok\n### gate\nok\n### Gates", steps("a"))
    assert shown == [("duplicate-gate", 5), ("near-miss-gate", 7)]
    assert [note.place.span for item in found for note in item.notes if note.place] == [Span(3, 5, 3, 9)]
    assert [item.fix.safe for item in found if item.fix] == [False]
    assert check("### gate\n### gate\n### Gate\n## a\nx", steps("a"))[1] == []


@pytest.mark.parametrize(
    ("text", "kind", "inert"),
    [
        ("## a\nx", "unit", True),
        ("## a\nx\n### gate\n \n", "unit", True),
        ("## a\nx\n### gate\nok", "unit", False),
        ("## a\nx\n### Gate\nok", "map", True),
        ("", "unit", False),
        ("", "route", True),
    ],
)
def test_loops_without_a_rubric(text: str, kind: Kind, inert: bool) -> None:
    _, shown, _ = check(text, steps("a", kind=kind, loops=True))
    assert (("inert-gate", ("steps", 0, "gate", "max_loops")) in shown) is inert


def test_an_unclosed_fence_is_named_when_sections_are_missing() -> None:
    text = "## a\nx\n~~~sh\nmake\n## b\ny"
    assert check(text, steps("a", "b"))[1] == [("missing-section", ("steps", 1, "id")), ("unclosed-fence", 3)]
    assert check(text, steps("a"))[1] == []


def test_legacy_markers_name_the_migration() -> None:
    text = "# Workflow: old\n## a\n\n Step ID: a\n# Workflow: again\n## b\nx\nStep ID: b"
    _, shown, found = check(text, steps("a", "b"))
    assert shown == [("legacy-marker", 1), ("legacy-marker", 4), ("legacy-marker", 5)]
    assert all("akmc migrate" in (item.help or "") for item in found)
    assert check("# Workflows\n## a\nx", steps("a"))[1] == []


def test_headings_that_are_text() -> None:
    _, shown, _ = check("## a\nNotes\n---\n##b\n##c\n###gate\n####gate\n###b", steps("a", "b", kind="route"))
    assert shown == [("heading-without-space", 4), ("heading-without-space", 6), ("setext-heading", 2)]


def test_a_missing_blank_is_mended_only_for_a_step_without_a_section() -> None:
    _, _, found = check("## a\nx\n##b\n##a", steps("a", "b"))
    fixes = [item.fix for item in found if item.fix is not None]
    assert [(fix.safe, fix.edits[0].text, fix.edits[0].place.span) for fix in fixes] == [
        (True, " ", Span(3, 3, 3, 3)),
        (False, " ", Span(4, 3, 4, 3)),
    ]


def test_without_steps_only_what_needs_none_is_reported() -> None:
    text = "# Workflow: x\n## zebra\n\n## zebra\nx\n### gate\n### gate\n### Gate\n##a\nN\n---\n```"
    bound, shown, _ = check(text, [], cascade=False)
    assert bound == {}
    assert [rule for rule, _ in shown] == ["duplicate-gate", "legacy-marker", "near-miss-gate", "setext-heading"]


def test_thousands_of_strange_headings_are_not_all_compared() -> None:
    heads = steps(*(f"step-{number}" for number in range(256)))
    _, shown, _ = check("\n".join(f"## stap-{number}x" for number in range(3000)), heads)
    assert sum(rule == "unexpected-heading" for rule, _ in shown) == 3000
