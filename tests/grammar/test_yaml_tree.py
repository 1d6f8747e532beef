"""Symbolic places to spans."""

from __future__ import annotations

import pytest

from akmc_grammar.diagnostics import Sink
from akmc_grammar.places import Path, Place, Span
from akmc_grammar.yaml_reader import read_yaml
from akmc_grammar.yaml_tree import YamlTree

TEXT = """\
type: workflow
steps:
  - id: build
    unit: {timeout: 5s}
  - id: 'x y'
    a:
  - id: "p\\tq"
  - id: |
      text
empty: {}
"""


def tree() -> YamlTree:
    sink = Sink()
    root = read_yaml(TEXT, file="a", sink=sink, first_line=2, dialect="frontmatter")
    assert sink.found == []
    return YamlTree(root, 2)


@pytest.mark.parametrize(
    ("path", "span"),
    [
        ((), Span(2, 1, 11, 10)),
        (("steps", 0, "id"), Span(4, 9, 4, 14)),
        (("steps", 0, "unit", "timeout"), Span(5, 21, 5, 23)),
        (("steps", 0), Span(4, 5, 5, 24)),
        (("steps", 1, "a"), Span(7, 7, 7, 7)),
    ],
)
def test_values(path: Path, span: Span) -> None:
    assert tree().span(Place("a", path)) == span


def test_keys() -> None:
    assert tree().span(Place("a", ("steps", 0, "unit"), part="key")) == Span(5, 5, 5, 9)
    assert tree().span(Place("a", ("steps", 0), part="key")) == Span(4, 5, 5, 24)


@pytest.mark.parametrize(
    ("path", "span"),
    [
        (("params",), Span(2, 1, 2, 5)),
        (("params", "x", "y"), Span(2, 1, 2, 5)),
        (("steps", 0, "gate", "max_loops"), Span(4, 5, 4, 7)),
        (("steps", 0, "unit", "retry", "max"), Span(5, 12, 5, 19)),
        (("steps", 9), Span(4, 5, 4, 7)),
        (("steps", -1), Span(4, 5, 4, 7)),
        (("steps", "id"), Span(4, 5, 4, 7)),
        (("type", 0), Span(2, 7, 2, 15)),
        (("empty", "x"), Span(11, 8, 11, 10)),
    ],
)
def test_what_is_not_there_is_shown_by_the_head_of_what_lacks_it(path: Path, span: Span) -> None:
    assert tree().span(Place("a", path)) == span


@pytest.mark.parametrize(
    ("path", "offset", "length", "span"),
    [
        (("steps", 0, "id"), 1, 2, Span(4, 10, 4, 12)),
        (("steps", 0, "id"), 3, None, Span(4, 12, 4, 14)),
        (("steps", 0, "id"), 99, 5, Span(4, 14, 4, 14)),
        (("steps", 1, "id"), 2, 1, Span(6, 12, 6, 13)),
        (("steps", 2, "id"), 1, 1, Span(8, 9, 8, 15)),
        (("steps", 3, "id"), 1, 1, Span(9, 9, 10, 11)),
        (("empty",), 0, 1, Span(11, 8, 11, 10)),
    ],
)
def test_offsets_narrow_scalars_that_are_written_as_they_read(
    path: Path, offset: int, length: int | None, span: Span
) -> None:
    assert tree().span(Place("a", path, offset=offset, length=length)) == span


def test_a_known_span_is_kept_and_an_empty_document_is_its_first_line() -> None:
    known = Span(7, 1, 7, 2)
    assert tree().span(Place("a", ("type",), span=known)) == known
    assert YamlTree(None, 4).span(Place("a", ("type",))) == Span(4, 1, 4, 1)
