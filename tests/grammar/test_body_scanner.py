"""Headings at document level, against markdown-it-py where it follows the CommonMark reference implementations."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from akmc_grammar.body_scanner import scan_blocks

Found = list[tuple[int, int, str]]


def headings(text: str) -> Found:
    """(line from 0, level, text) of the ATX headings."""
    return [(item.line, item.heading.level, item.heading.text) for item in scan_blocks(text.split("\n")).headings]


def setext(text: str) -> list[int]:
    return [start for start, _ in scan_blocks(text.split("\n")).setext]


def oracle(text: str) -> tuple[Found, list[int]]:
    tokens = MarkdownIt("commonmark").parse(text)
    atx: Found = []
    underlined = []
    for position, token in enumerate(tokens):
        if token.type != "heading_open" or token.level or token.map is None:
            continue
        if token.markup.startswith("#"):
            atx.append((token.map[0], int(token.tag[1]), tokens[position + 1].content))
        elif token.markup == "-":
            underlined.append(token.map[0])
    return atx, underlined


@pytest.mark.parametrize(
    "text",
    [
        "## a",
        "   ## a\n    ## b",
        "text\n    ## b\n## c",
        "##\ta\n##\n## ##\n## b ##\n## c #\\#\n## d##",
        "####### a\n###### b",
        "- x\n  ## a\n## b",
        "- x\n\n  ## a\n\n## b",
        "1. x\n   ## a",
        "x\n2. y\n## a",
        "x\n1. y\n   ## a",
        "-\n  ## a",
        "-\n\n  ## a",
        "-\n   \n  ## a",
        "> ## a\n## b",
        "> x\nlazy\n## b",
        "> ```\n## a",
        "- ```\n## a",
        "- ```\n  ## a\n  ```\n## b",
        "````\n```\n## a\n`````\n## b",
        "~~~ x`y\n## a\n~~~~  \n## b",
        "``` x`y\n## a",
        "   ```\n## a\n   ```\n## b",
        "x\n    ```\n## a",
        "<!-- ## a\n## b\n-->\n## c",
        "x <!-- y\n## a\n-->",
        "x\n<!--\n## a\n-->\n## b",
        "<div>\n## a\n\n## b",
        "<b>\n## a\n\n## b",
        "x\n<b>\n## a",
        "<pre>\n\n## a\n</pre>\n## b",
        "<?x\n## a\n?>\n## b",
        "<!X\n## a>\n## b",
        "<![CDATA[\n## a\n]]>\n## b",
        "a\n---\n## b",
        "a\nb\n  ---  \nc",
        "- a\n---\nb\n---",
        "> a\n---\nb\n---",
        "---\n***\na\n- - -\n## b",
        "- - - x\n      ## a\n## b",
        "\t## a\n \t## b",
        ">\t## a\n-\t## b\n## c",
        "10) a\n    ## b\n## c",
        "x\n\n    code\n## a",
    ],
)
def test_commonmark_examples(text: str) -> None:
    assert (headings(text), setext(text)) == oracle(text)


_PIECES = [
    *[
        "# a",
        "## b",
        "## gate ##",
        "##",
        "##x",
        "### gate",
        "text",
        "more",
        "- ",
        "-",
        "* x",
        "1. y",
        "2. z",
        "10) q",
        "> ",
        ">",
        "```",
        "~~~",
        "````",
        "``` py",
        "~~~~",
        "---",
        "===",
        "***",
    ],
    *[
        "- - -",
        "    ",
        "   ",
        "  ",
        " ",
        "\t",
        "",
        "",
        "<!--",
        "-->",
        "<!-- c -->",
        "<div>",
        "</div>",
        "<b>",
        "<pre>",
        "</pre>",
        "<?",
        "?>",
        "<!X",
        "<![CDATA[",
        "]]>",
        "\\## n",
    ],
    *["<a href='x'>", "+ ", "-\t", "`c`", "+", "    code", "_ _ _", "1."],
]
_LINE = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=4).map("".join)


def _oracle_errs(lines: list[str]) -> bool:
    """markdown-it-py lets ``-`` underline a lazy paragraph whose line before was indented by four or more."""
    return any(line.startswith(("    ", "\t", " \t", "  \t", "   \t")) for line in lines) and any(
        set(line.strip()) == {"-"} for line in lines
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(_LINE, min_size=1, max_size=9))
def test_headings_are_those_of_commonmark(lines: list[str]) -> None:
    text = "\n".join(lines)
    atx, underlined = oracle(text)
    assert headings(text) == atx
    if not _oracle_errs(lines):
        assert setext(text) == underlined


@pytest.mark.parametrize("character", ["\r", "\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c"])
def test_only_line_feed_ends_a_line(character: str) -> None:
    assert headings(f"x{character}## a\n## b{character}\n{character}## c") == [(1, 2, f"b{character}")]


def test_a_link_definition_is_never_an_underlined_heading() -> None:
    assert setext("[a]: /x\n---") == []
    assert setext("[a] /x\n---") == [0]


def test_the_reference_implementations_keep_a_definitions_paragraph_open() -> None:
    # markdown-it-py ends the paragraph at the definition, so that <b> would begin an HTML block.
    assert headings("[a]: /x\n<b>\n## a") == [(2, 2, "a")]


def test_unspaced_headings_count_at_document_level_only() -> None:
    blocks = scan_blocks(["##a", "- ##b", "> ##c", "```", "##d", "```", "x", "   ###e ##", "#f", "####g"])
    assert [(item.line, item.heading.level, item.heading.text) for item in blocks.unspaced] == [
        (0, 2, "a"),
        (7, 3, "e"),
    ]


def test_an_unclosed_fence_at_document_level_is_known_by_its_line() -> None:
    assert scan_blocks(["x", "```", "## a", "~~~", "``"]).unclosed_fence == 1
    assert scan_blocks(["```", "```"]).unclosed_fence is None
    assert scan_blocks(["- ```", "  ## a"]).unclosed_fence is None


def test_comments_are_found_outside_code_only() -> None:
    lines = [
        "x <!-- a --> y <!-- b -->",
        "`<!-- c -->` ``<!-- ` -->`` <!-- d -->",
        "```",
        "<!-- e -->",
        "```",
        "<!-- f -->",
        "<!--",
        "<!-- g -->",
        "",
        "    <!-- h -->",
        "- <!-- i -->",
        "<div><!-- j -->",
    ]
    found = scan_blocks(lines).comments
    assert [item.text[5:-4] for item in found] == ["a", "b", "d", "f", "i", "j"]
    assert all(lines[item.line][item.start :].startswith(item.text) for item in found)


def test_allow_comments_on_lines_of_their_own_are_known() -> None:
    lines = [
        "<!-- akm: allow[a] why -->",
        "x",
        " <!--akm: allow[a,b]-->\t",
        "x <!-- akm: allow[a] -->",
        "> <!-- akm: allow[a] -->",
    ]
    lines += ["<!-- akm: allow[a] --> <!-- x -->", "```", "<!-- akm: allow[a] -->", "```"]
    assert scan_blocks(lines).allow_lines == {0, 2}


@pytest.mark.parametrize(
    "lines",
    [
        ["- " * 100_000 + "x", *[""] * 100_000],
        [">" * 200_000],
        ["- " * 500 + "x", *["y"] * 50_000],
        ["<!--" * 60_000],
        ["`<!-- " * 40_000],
        ["<a" + " a" * 100_000 + "<"],
        ["`" * size for size in range(1, 600)],
        ["#" * 200_000 + "x", "## a " + "# " * 100_000],
        ["* " * 100_000],
    ],
    ids=lambda lines: lines[0][:6],
)
def test_large_odd_texts_end_soon(lines: list[str]) -> None:
    started = time.perf_counter()
    scan_blocks(lines)
    assert time.perf_counter() - started < 10
