"""The fast way from YAML to a tree makes the tree of the explaining way, or none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_schemas.bounds import YAML_DEPTH_MARKDOWN, YAML_DEPTH_YAML, YAML_NODES
from akmc_grammar.diagnostics import Sink
from akmc_grammar.yaml_explain import explain_yaml
from akmc_grammar.yaml_plain import compose_plain
from akmc_grammar.yaml_tree import Node

FIRST_LINE = 2
DEPTH = YAML_DEPTH_MARKDOWN
EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "docs" / "examples").rglob("*.md"))

PIECES = st.sampled_from(
    [
        *("a: 1", "b: x y", "- z", "- ", "c:", "? k", ": v", "# note", "---", "...", "&m a: *m", "!t x", "<<: {a: 1}"),
        *("d: [1, {e: f}, 'g']", "h: |", "  text", "", "i: >-", '  "q\\ud83d\\ude00"', '"\\ud800"', "'it''s'", "0x1F"),
        *(
            "1e999",
            ".nan",
            "null",
            "~: 1",
            "[a, b]: c",
            "é: ü",
            "j: \u2028",
            "\tk: 1",
            "l: 'a",
            "  - m: n",
            "2020-01-01",
        ),
    ]
)
TEXTS = st.lists(st.tuples(st.sampled_from(["", "  ", "    "]), PIECES), max_size=12).map(
    lambda lines: "".join(f"{indent}{piece}\n" for indent, piece in lines)
)


def explained(text: str) -> tuple[Node | None, list[str]]:
    """What the explaining way makes of a text, and the rules that it reports."""
    sink = Sink()
    tree = explain_yaml(text, "w.md", sink, FIRST_LINE, DEPTH, strict=True)
    return tree, [item.rule.name for item in sink.found]


@given(text=st.one_of(TEXTS, st.text(alphabet="ab:-#'\"[]{}|>&*!? \n,1~", max_size=40)))
def test_both_ways_agree(text: str) -> None:
    plain = compose_plain(text, first_line=FIRST_LINE, depth=DEPTH)
    if plain is not None:
        assert (plain, []) == explained(text)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_go_the_fast_way(path: Path) -> None:
    parts = path.read_text(encoding="utf-8").split("---\n")
    if len(parts) < 3:  # a README, say: it has no frontmatter, and its first paragraph will do
        parts = ["", "text: |\n" + "".join(f"  {line}\n" for line in parts[0].splitlines()), ""]
    plain = compose_plain(parts[1], first_line=FIRST_LINE, depth=DEPTH)
    assert plain is not None
    assert (plain, []) == explained(parts[1])


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1\nb: *x\n",
        "a: !t 1\n",
        "a: 1\na: 2\n",
        "1: a\n",
        "[a]: b\n",
        "<<: {a: 1}\n",
        "a: .inf\n",
        'a: "\\ud800"\n',
        "a: 1\n--- \nb: 2\n",
        "a: [\n",
        "a: \x01\n",
        "a: \u2028\n",
        "",
        "[" * (YAML_DEPTH_YAML.high + YAML_DEPTH_MARKDOWN.high) + "\n",
        "[" + "a," * YAML_NODES.high + "]\n",
    ],
)
def test_what_needs_words_goes_the_explaining_way(text: str) -> None:
    assert compose_plain(text, first_line=FIRST_LINE, depth=DEPTH) is None
