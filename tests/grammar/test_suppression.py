"""Allow comments of both parts."""

from __future__ import annotations

import pytest

from akmc_grammar.body_binder import read_body
from akmc_grammar.document import Allow
from akmc_grammar.places import Span
from akmc_grammar.suppression import find_allows
from akmc_grammar.yaml_reader import yaml_comments

SPAN = Span(3, 1, 3, 9)


@pytest.mark.parametrize(
    ("comment", "rules"),
    [
        ("# akm: allow[inert-gate] later", ("inert-gate",)),
        ("#akm:allow[a, b ,c]", ("a", "b", "c")),
        ("# akm: allow[] why", ()),
        ("<!-- akm: allow[near-miss-gate] a heading -->", ("near-miss-gate",)),
        ("<!--akm: allow[AKM0406]-->", ("AKM0406",)),
    ],
)
def test_allow_comments(comment: str, rules: tuple[str, ...]) -> None:
    assert find_allows([(comment, SPAN)], []) == (Allow(rules, 3, SPAN),)


@pytest.mark.parametrize(
    "comment", ["# allow[a]", "# akm: allow a", "# akm: allowing[a]", "# see akm: allow[a]", "# akm: all is well"]
)
def test_other_comments(comment: str) -> None:
    assert find_allows([(comment, SPAN)], [(comment, SPAN)]) == ()


@pytest.mark.parametrize(
    "comment",
    [
        "# AKM: allow[inert-gate]",
        "# akm: allow inert-gate",
        "# akm: allow: inert-gate",
        "# akm allow[a]",
        "# akm: allow (a)",
        "# akm: allow[a",
        "<!-- Akm: Allow[inert-gate] -->",
    ],
)
def test_comments_that_are_almost_one(comment: str) -> None:
    assert find_allows([(comment, SPAN)], []) == (Allow((), 3, SPAN, misspelt=True),)


def test_both_parts_of_a_document() -> None:
    yaml = 'steps:\n  - id: a  # akm: allow[x] r\n  - id: "# akm: allow[no]"\n'
    body = read_body(["## a", "<!-- akm: allow[y] r -->", "`<!-- akm: allow[no] -->`", ""], 6)
    found = find_allows(yaml_comments(yaml, first_line=2), body.comments)
    assert [(allow.rules, allow.line, allow.span.column) for allow in found] == [(("x",), 3, 12), (("y",), 7, 1)]
