"""Texts that lenient parsers read as something else: refused at their place, or read as YAML 1.2 says."""

from __future__ import annotations

import pytest

from akm_schemas.bounds import KIB
from akmc_grammar.diagnostics import Sink
from akmc_grammar.yaml_misread import suspicious
from akmc_grammar.yaml_reader import read_yaml
from akmc_grammar.yaml_tree import to_json


def read(text: str) -> tuple[object, list[tuple[int, int, str]]]:
    """The value, and place and message of what was found."""
    sink = Sink()
    root = read_yaml(text, file="x", sink=sink, first_line=1, dialect="frontmatter")
    for item in sink.found:
        assert item.rule.name == "invalid-yaml" and item.help
    found = [(span.line, span.column, item.message) for item in sink.found if (span := item.place.span) is not None]
    return (None if root is None else to_json(root)), found


COMMENT = 'found "#" without a blank before it'
QUESTION = 'found "?" without a blank behind it'
DASH = 'found "-" as a value in a list or mapping in brackets'
ANCHOR = "found a character that cannot stand in the name of an anchor"
DEEP = "this line is part of the block text, but a blank line above is indented deeper"
REFUSED = {
    "a: [x]#c\n": (1, 7, COMMENT),
    "a: [x,#c\n  y]\n": (1, 7, COMMENT),
    "a: [#c\n  y]\n": (1, 5, COMMENT),
    "a: {k: v}#c\n": (1, 10, COMMENT),
    'a: "v"#c\n': (1, 7, COMMENT),
    "a: 'v'#c\nb: 1\n": (1, 7, COMMENT),
    "a: [x, # sound\n  y,#c\n  z]\n": (2, 5, COMMENT),
    "a: |#c\n  x\n": (1, 5, COMMENT),
    "a: >-#c\n  x\n": (1, 6, COMMENT),
    "%YAML 1.2#c\n---\na: 1\n": (1, 10, COMMENT),
    "a: {?k: v}\n": (1, 5, QUESTION),
    "a: { ?k: v}\n": (1, 6, QUESTION),
    "a: [?k]\n": (1, 5, QUESTION),
    "a: [x, ?k: v]\n": (1, 8, QUESTION),
    'a: {?"k": v}\n': (1, 5, QUESTION),
    "a: [-]\n": (1, 5, DASH),
    "a: [x, -, y]\n": (1, 8, DASH),
    "a: {k: -}\n": (1, 8, DASH),
    "a: &b x\nc: {*b: v}\n": (2, 5, ANCHOR),
    "a: |\n    \n  # text\n": (3, 3, DEEP),
    "a:\n  - b: >\n       \n      # text\n": (4, 7, DEEP),
}


@pytest.mark.parametrize("text", list(REFUSED))
def test_what_parsers_read_as_something_else_is_refused_at_its_place(text: str) -> None:
    value, found = read(text)
    assert (value, found) == (None, [REFUSED[text]])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &an:chor x\n", {"a": "x"}),
        ("a: &b:c x\nd: *b:c\n", {"a": "x", "d": "x"}),
        ("a: |\n  x\n   ", {"a": "x\n \n"}),
        ("a: >\n  x\n  ", {"a": "x\n"}),
        ("a: |+\n  x\n  ", {"a": "x\n\n"}),
    ],
)
def test_what_one_parser_misreads_is_read_as_it_is_written(text: str, value: object) -> None:
    assert read(text) == (value, [])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: [x] # c\n", {"a": ["x"]}),
        ("a: [x, # c#d\n  y]\n", {"a": ["x", "y"]}),
        ("a: b#c\nd: [e#f]\n", {"a": "b#c", "d": ["e#f"]}),
        ('a: "b#c" # d#e\n', {"a": "b#c"}),
        ("a: | # c\n  x#y\n  # z\n", {"a": "x#y\n# z\n"}),
        ("a: |\n  x\n\n    # deeper\n", {"a": "x\n\n  # deeper\n"}),
        ("a: |2\n    \n  # text\n", {"a": "  \n# text\n"}),
        ("a: |\n    \n# c\nb: 1\n", {"a": "", "b": 1}),
        ("- >\n   \n# c\n- x\n", ["", "x"]),
        ("a: [b?, c ?]\n", {"a": ["b?", "c ?"]}),
        ("a: {b?: c, d ?: e}\n", {"a": {"b?": "c", "d ?": "e"}}),
        ("a: {? b : c}\n", {"a": {"b": "c"}}),
        ("? a\n: ?b\n", {"a": "?b"}),
        ("a: [-x]\n", {"a": ["-x"]}),
        ("a: '-'\nb: [\"-\", -1]\n", {"a": "-", "b": ["-", -1]}),
        ("- -\n- x\n", [[None], "x"]),
        ("a: &b x\nc: {*b : v}\nd: [*b,*b]\n", {"a": "x", "c": {"x": "v"}, "d": ["x", "x"]}),
        ("# c\na: 1 # d\n\n # e\n", {"a": 1}),
        ("a: http://x/?y#z\n", {"a": "http://x/?y#z"}),
    ],
)
def test_sound_texts_that_look_alike_are_read(text: str, value: object) -> None:
    assert read(text) == (value, [])


def test_where_the_second_parser_is_not_asked_the_misread_text_is_refused() -> None:
    text = "a: &an:chor x\n" + "".join(f"k{number}: {'x' * 100}\n" for number in range(KIB))
    assert read(text) == (None, [(1, 4, ANCHOR)])


@pytest.mark.parametrize("text", list(REFUSED))
def test_the_fast_way_leaves_what_may_be_misread_alone(text: str) -> None:
    assert suspicious(text) or "&" in text


@pytest.mark.parametrize("text", ["a: 1\nb: [x, y] # c\n", "a: |\n  - [ ] what?\n  # x\n", "a: b-c\nd: e?\n"])
def test_common_texts_are_not_suspicious(text: str) -> None:
    assert not suspicious(text)
