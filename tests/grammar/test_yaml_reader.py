"""Reading YAML: values, rules, places, bounds and the second opinion of the pure parser."""

from __future__ import annotations

import json
import time
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akm_schemas.bounds import SAFE_INTEGER, YAML_DEPTH_MARKDOWN, YAML_DEPTH_YAML, YAML_NODES
from akmc_grammar import yaml_events
from akmc_grammar.diagnostics import Diagnostic, Sink
from akmc_grammar.places import Place, Span
from akmc_grammar.yaml_reader import read_yaml, yaml_comments
from akmc_grammar.yaml_tree import Bad, Entry, Mapping, Node, Scalar, Sequence, YamlTree, to_json

Dialect = Literal["frontmatter", "strict"]


def read(text: str, dialect: Dialect = "frontmatter", first_line: int = 1) -> tuple[Node | None, list[Diagnostic]]:
    sink = Sink()
    return read_yaml(text, file="a", sink=sink, first_line=first_line, dialect=dialect), sink.found


def value(text: str) -> object:
    node, found = read(text)
    assert found == []
    assert node is not None
    return to_json(node)


def rules(text: str, dialect: Dialect = "frontmatter") -> list[tuple[str, int, int]]:
    _, found = read(text, dialect)
    for item in found:
        assert item.message
        assert item.help
    return [(item.rule.name, span.line, span.column) for item in found if (span := item.place.span) is not None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: {url: http://x}\n", {"a": {"url": "http://x"}}),
        ("a: [x:1, y]\n", {"a": ["x:1", "y"]}),
        ("on: no\n2031: x\n".replace("2031", '"2031"'), {"on": "no", "2031": "x"}),
        ("a: |\n  one\n\n  two\nb: >-\n  x\n  y\n", {"a": "one\n\ntwo\n", "b": "x y"}),
        ("---\na: 1\n...\n", {"a": 1}),
        ("%YAML 1.2\n---\na: 010\n", {"a": 10}),
        ('a: "\\ud83d\\ude00"\n', {"a": "\U0001f600"}),
        ("a: x\u2028y\u0085z\rw\n", {"a": "x\u2028y\u0085z\rw"}),
        ('a: "\\N\\L"\n', {"a": "\u0085\u2028"}),
        ("a: &v [1]\nb: *v\n", {"a": [1], "b": [1]}),
        ("<<: {a: 1}\n", {"<<": {"a": 1}}),
        ("'1': x\n", {"1": "x"}),
        ("a:\n  - b\n  -\n", {"a": ["b", None]}),
    ],
)
def test_values(text: str, expected: object) -> None:
    assert value(text) == expected


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n# nothing\n"[4:]])
def test_nothing_is_nothing(text: str) -> None:
    assert read(text) == (None, [])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("type: w\ndescription: stage two: collect\n", (2, 23)),
        ("a:\n\tb: 1\n", (2, 1)),
        ('a: "x\nb: 1\n', (1, 4)),
        ("a: [1, 2\nb: 3\n", (1, 4)),
        ("a: {x: 1", (1, 4)),
        ("[[", (1, 3)),
        ("a: 1\n  b: 2\n", (2, 4)),
        ("a: @x\n", (1, 4)),
        ("a: 'x' y\n", (1, 8)),
        ("- a\nb: 1\n", (2, 1)),
        ('a: "\\q"\n', (1, 5)),
        ("a: x\x07y\n", (1, 5)),
        ("a: \ud800\n", (1, 4)),
        ("a: *gone\n", (1, 4)),
        ("a: 1\n---\nb: 2\n", (2, 1)),
        ("a: 1\n...\nb: 2\n", (3, 1)),
        ("a: 1\nb\nc: 2\n", (2, 1)),
    ],
)
@pytest.mark.parametrize("dialect", ["frontmatter", "strict"])
def test_invalid_yaml_is_one_located_error_with_help(text: str, place: tuple[int, int], dialect: Dialect) -> None:
    if "*gone" in text and dialect == "strict":
        assert rules(text, dialect) == [("yaml-alias", *place)]
        return
    assert rules(text, dialect) == [("invalid-yaml", *place)]
    assert read(text, dialect)[0] is None


def test_a_colon_in_a_plain_scalar_is_shown_quoted() -> None:
    _, found = read("description: stage two: collect and ship\n")
    assert found[0].help == 'quote the value: description: "stage two: collect and ship"'


def test_a_duplicate_key_is_at_the_second_with_a_note_at_the_first_and_the_first_counts() -> None:
    node, found = read("u:\n  a: 1\n  b: 2\n  a: 3\n", first_line=5)
    assert [(item.rule.name, item.place.span, item.notes[0].place) for item in found] == [
        ("duplicate-key", Span(8, 3, 8, 4), Place("a", span=Span(6, 3, 6, 4)))
    ]
    assert node is not None
    assert to_json(node) == {"u": {"a": 1, "b": 2}}
    tree = YamlTree(node, 5)
    assert tree.span(Place("a", ("u", "a"), occurrence=1)) == Span(8, 6, 8, 7)
    assert tree.span(Place("a", ("u", "a"), occurrence=1, part="key")) == Span(8, 3, 8, 4)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: !shout x\n", (1, 4)),
        ("a: !!str x\n", (1, 4)),
        ("a: &k !<t:x> {b: 1}\n", (1, 7)),
        ("a:\n  !m\n  b: 1\n", (2, 3)),
    ],
)
@pytest.mark.parametrize("dialect", ["frontmatter", "strict"])
def test_tags_are_refused_where_they_stand(text: str, place: tuple[int, int], dialect: Dialect) -> None:
    found = [item for item in rules(text, dialect) if item[0] != "yaml-anchor"]
    assert found == [("yaml-custom-tag", *place)]
    node, _ = read(text, dialect)
    assert isinstance(node, Mapping)
    assert isinstance(node.get("a"), Bad)
    with pytest.raises(ValueError, match="carries no value"):
        to_json(node)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: .nan\n", (1, 4)),
        ("a: [1, -.inf]\n", (1, 8)),
        (f"a: {SAFE_INTEGER + 1}\n", (1, 4)),
        ("1: x\n", (1, 1)),
        ("a: {true: x}\n", (1, 5)),
        ("? [a]\n: b\n", (1, 3)),
        ('a: "x\\ud800"\n', (1, 4)),
        ('"\\udc00": x\n', (1, 1)),
    ],
)
def test_what_json_cannot_carry(text: str, place: tuple[int, int]) -> None:
    assert rules(text) == [("non-json-value", *place)]


def test_the_strict_dialect_refuses_anchors_aliases_and_merge_keys_each_by_its_rule() -> None:
    text = "a: &w one\nb: *w\nc:\n  <<: {d: 1}\ne: {'<<': 2}\n"
    assert rules(text, "strict") == [("yaml-anchor", 1, 4), ("yaml-alias", 2, 4), ("yaml-merge-key", 4, 3)]
    assert rules(text) == []


def test_aliases_expand_within_a_budget_and_the_report_stays_small() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]" for below, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    text = "\n".join(lines) + "\n"
    started = time.perf_counter()
    assert [item[0] for item in rules(text)] == ["bound-exceeded"]
    assert time.perf_counter() - started < 5


def test_aliases_count_as_levels() -> None:
    lines = ["a0: &a0 [x]", *[f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 80)]]
    found = rules("\n".join(lines) + "\n")
    assert found == [("bound-exceeded", YAML_DEPTH_MARKDOWN.high, found[0][2])]


def test_an_alias_inside_its_own_value_is_refused() -> None:
    assert rules("a: &a [b, *a]\n") == [("bound-exceeded", 1, 11)]


@pytest.mark.parametrize(
    ("dialect", "depth"), [("frontmatter", YAML_DEPTH_MARKDOWN.high), ("strict", YAML_DEPTH_YAML.high)]
)
def test_depth_is_bounded_and_the_bound_itself_is_fine(dialect: Dialect, depth: int) -> None:
    assert rules("[" * depth + "]" * depth, dialect) == []
    assert rules("[" * (depth + 1) + "]" * (depth + 1), dialect) == [("bound-exceeded", 1, depth + 1)]


def test_nodes_are_bounded_and_the_bound_itself_is_fine() -> None:
    assert rules("- a\n" * (YAML_NODES.high - 1)) == []
    assert [item[0] for item in rules("- a\n" * YAML_NODES.high)] == ["bound-exceeded"]


@pytest.mark.parametrize(
    ("text", "path", "span"),
    [
        ("a: x y\n", ("a",), Span(1, 4, 1, 7)),
        ("a: 'x y'\n", ("a",), Span(1, 4, 1, 9)),
        ("é: ü\n", ("é",), Span(1, 4, 1, 5)),
        ("a: &n x\n", ("a",), Span(1, 7, 1, 8)),
        ("a: |\n  x\n  y\n\nb: 1\n", ("a",), Span(1, 4, 3, 4)),
        ("a:\n  b: 1\n  c: [1,\n    2]\nd: 1\n", ("a",), Span(2, 3, 4, 7)),
        ("a: {b: 1}\n", ("a",), Span(1, 4, 1, 10)),
        ("a:\nb: 1\n", ("a",), Span(1, 3, 1, 3)),
        ("a: &n {b: 1}\nc: *n\n", ("c",), Span(2, 4, 2, 6)),
        ("a: &n {b: 1}\nc: *n\n", ("c", "b"), Span(1, 11, 1, 12)),
        ("a: {u: x:y}\n", ("a", "u"), Span(1, 8, 1, 11)),
        ("a: \u2028\u2028 x\nb: y\n", ("b",), Span(2, 4, 2, 5)),
    ],
)
def test_spans_cover_what_is_written(text: str, path: tuple[str, ...], span: Span) -> None:
    node, found = read(text)
    assert found == []
    assert YamlTree(node).span(Place("a", path)) == span


def test_comments_are_never_inside_scalars() -> None:
    text = "# top\na: 'x # no'  # yes\nb: |  # head\n  # no\nc: x#no\nd: \"p\n  # no\" # end\n# last # one"
    assert yaml_comments(text, first_line=2) == [
        ("# top", Span(2, 1, 2, 6)),
        ("# yes", Span(3, 14, 3, 19)),
        ("# head", Span(4, 7, 4, 13)),
        ("# end", Span(8, 9, 8, 14)),
        ("# last # one", Span(9, 1, 9, 13)),
    ]
    assert yaml_comments("a: [ # open\n", first_line=1) == []


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-SAFE_INTEGER, SAFE_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(_JSON, st.booleans())
def test_json_text_is_yaml_text(data: object, ascii_only: bool) -> None:
    text = json.dumps(data, ensure_ascii=ascii_only)
    if any(
        (0x7F <= ord(character) <= 0x9F and ord(character) != 0x85) or character in "\ufffe\uffff" for character in text
    ):
        return  # YAML counts these as not printable even inside quotes
    assert value(text) == data


@settings(max_examples=60, deadline=None)
@given(_JSON)
def test_the_pure_parser_reads_the_same_tree(data: object) -> None:
    text = json.dumps(data)
    with pytest.MonkeyPatch.context() as patch:
        fast = read(text)
        patch.setattr(yaml_events, "_c_parser", lambda: None)
        assert read(text) == fast


_PIECES = [
    *("a: ", "b: ", "- ", "? ", ": ", "[", "]", "{", "}", ",", "&a ", "*a", "!t ", "!!str ", '"', "'", "|\n", "|2-\n"),
    *("> \n", "\n", "  ", "\n  ", "\n- ", "#c", "x", "1", "~", "\t", "%", "@", "---\n", "...\n", "\\x", "\\ud800"),
    *("\x00", "\u2028", "\r", "\x85", "\ufeff", "<<: ", "é", "\U0001f600", "\ud800", "%YAML 1.2\n", "`", ":", "!<"),
    *("!<x> ", "0x1", "\\U00110000", ".nan"),
]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=24).map("".join), st.sampled_from(["frontmatter", "strict"]))
def test_no_text_raises_and_every_place_is_inside(text: str, dialect: Dialect) -> None:
    lines = text.split("\n")
    node, found = read(text, dialect, first_line=3)
    yaml_comments(text, first_line=3)
    spans = [item.place.span for item in found] + ([] if node is None else [item.span for item in walk(node)])
    for span in spans:
        assert span is not None
        assert (span.line, span.column) <= (span.end_line, span.end_column)
        assert 3 <= span.line <= len(lines) + 2
        assert 1 <= span.column <= len(lines[span.line - 3]) + 1


def walk(node: Node) -> list[Node]:
    match node:
        case Mapping():
            return [node, *(inner for entry in node.entries for inner in (*walk(entry.key), *walk(entry.value)))]
        case Sequence():
            return [node, *(inner for item in node.items for inner in walk(item))]
        case _:
            return [node]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "{" * 200_000,
        "- " * 100_000,
        "? " * 100_000,
        '"' * 200_000,
        "&a " * 60_000,
        "!" * 200_000,
        ":" * 200_000,
        "@" + "[" * 60_000,
        "{u: a:b, v: " + "x " * 30_000 + "}",
        "[x:1, " * 10_000,
        "a: \x85" + "\u2028" * 100_000,
        "[" + "a" * 500_000 + "! [",
        "a: b" + " " * 500_000 + "c: d",
        "- " * 30 + "- a" * 200_000 + ":: b: c",
    ],
    ids=lambda text: text[:8],
)
def test_large_odd_texts_end_soon(text: str) -> None:
    started = time.perf_counter()
    _, found = read(text)
    assert time.perf_counter() - started < 10
    assert len(found) <= 1


def test_every_private_use_character_may_occur_beside_a_swapped_one() -> None:
    private = "".join(map(chr, [*range(0xE000, 0xF900), *range(0xF0000, 0xFFFFE)]))
    assert value(f"a: {private}\u0085x\n") == {"a": f"{private}\u0085x"}


def test_a_long_text_has_no_second_opinion(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: {url: http://x}\n"
    assert value(text) == {"a": {"url": "http://x"}}
    monkeypatch.setattr(yaml_events, "PURE_RETRY_BYTES", len(text) - 1)
    assert [item[0] for item in rules(text)] == ["invalid-yaml"]


def test_without_the_extension_everything_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_events, "_c_parser", lambda: None)
    assert value("a: [1, x]\nb: {c: 'd'}\n") == {"a": [1, "x"], "b": {"c": "d"}}
    assert rules("a: b: c\n") == [("invalid-yaml", 1, 5)]
    assert rules("a: !t x\n") == [("yaml-custom-tag", 1, 4)]
    assert rules("a: 'x\n") == [("invalid-yaml", 1, 4)]


def test_nodes_are_values() -> None:
    key = Scalar("a", "a", "plain", Span(1, 1, 1, 2))
    assert read("a: 1")[0] == Mapping((Entry(key, Scalar(1, "1", "plain", Span(1, 4, 1, 5))),), Span(1, 1, 1, 5))
