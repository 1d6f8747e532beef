"""The table runner builds the trees that Lark builds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import akmc_grammar
from akmc_grammar import parser_build
from akmc_grammar._generated import body_table
from akmc_grammar.lalr import Child, Token, Tree, UnexpectedToken, parse

FOLDER = Path(akmc_grammar.__file__).parent
LARK = parser_build.load("body", FOLDER)


def printed(node: Any) -> object:
    """A tree of either kind: rule name and children, terminals by kind and line."""
    if node is None:
        return None
    if isinstance(node, Token) or not hasattr(node, "children"):
        return (str(node.type), node.line)
    return [str(node.data), *map(printed, node.children)]


@given(kinds=st.lists(st.sampled_from(["TEXT", "H2", "GATE"]), max_size=30))
@settings(max_examples=100)
def test_the_tree_is_that_of_lark(kinds: list[str]) -> None:
    from lark import Token as LarkToken

    interactive = LARK.parse_interactive(start="body")
    for line, kind in enumerate(kinds):
        interactive.feed_token(LarkToken(kind, "", line=line))
    ours = parse(body_table, [Token(kind, line) for line, kind in enumerate(kinds)])
    assert printed(ours) == printed(interactive.feed_eof())


def test_an_optional_that_is_not_there_is_none() -> None:
    tree = parse(body_table, [Token("H2", 0, 1), Token("TEXT", 1, 3), Token("H2", 3, 4), Token("GATE", 4, 5)])
    assert printed(tree) == [
        "body",
        ["preamble"],
        ["section", ("H2", 0), ["instructions", ("TEXT", 1)], None],
        ["section", ("H2", 3), ["instructions"], ["gate", ("GATE", 4), ["rubric"]]],
    ]


def test_a_terminal_that_the_grammar_does_not_know_is_refused() -> None:
    with pytest.raises(UnexpectedToken, match="found H3, expected one of \\$END, GATE, H2, TEXT"):
        parse(body_table, [Token("H3")])


def test_long_repetitions_stay_linear() -> None:
    count = 50_000
    tree = parse(body_table, (Token("H2", line, line + 1) for line in range(count)))
    sections: list[Child] = tree.children[1:]
    assert len(sections) == count
    assert isinstance(sections[-1], Tree)


def test_a_grammar_that_the_runner_cannot_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "body.lark").write_text("body: TEXT -> alias\n%declare TEXT\n")
    with pytest.raises(ValueError, match="body: aliases, \\?rules and templates are not for lalr\\.py"):
        parser_build.generate("body", tmp_path)
