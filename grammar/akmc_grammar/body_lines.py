"""Line shapes of CommonMark 0.31.2 that the block scanner asks about. Blanks are space and tab, nothing else."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from msgspec import Struct

RULE_RUN: Final = re.compile(r"(?:\*[ ]*)+|(?:-[ ]*)+|(?:_[ ]*)+")
SETEXT_UNDERLINE: Final = re.compile(r"(?:=+|-+)[ ]*")
FENCE_OPEN: Final = re.compile(r"(?P<fence>`{3,})[^`]*|(?P<tildes>~{3,}).*", re.DOTALL)
LIST_MARKER: Final = re.compile(r"(?:[*+-]|(?P<number>[0-9]{1,9})[.)])(?=[ ]|\Z)")
ATX_START: Final = re.compile(r"#{1,6}(?=[ ]|\Z)")
LINK_DEFINITION: Final = r"(?s)[ ]{0,3}\[(?:[^\[\]\\]|\\.)+\]:"
"""Compiled on use, for it is rare."""
MERGE_MARKS: Final = ("<<<<<<< ", "=======", ">>>>>>> ")
"""What git writes at the beginning of the lines around a conflict."""

_ATX_LINE: Final = re.compile(r"[ ]{0,3}(?P<hashes>#{1,6})[ \t]*", re.DOTALL)
_CLOSING_HASHES: Final = re.compile(r"(?:(?<=[ \t])|\A)#+\Z")
_UNSPACED: Final = re.compile(r"[ ]{0,3}(?P<hashes>#{2,3})(?=[^#\s])")

_BLOCK_TAGS: Final = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
]
_ATTRIBUTE: Final = r"""[ ]+[A-Za-z_:][A-Za-z0-9_.:-]*(?:[ ]*=[ ]*(?:[^ "'=<>`\x00-\x1f]+|'[^']*'|"[^"]*"))?"""
HTML_COMMENT: Final = 2
HTML_UNTIL_BLANK: Final = (6, 7)
"""The types that a blank line ends."""


class Heading(Struct, frozen=True):
    """An ATX heading: its text without hashes and blanks, and where the text stands (columns from 0)."""

    level: int
    text: str
    start: int
    end: int


@cache
def _html_starts() -> tuple[tuple[int, re.Pattern[str]], ...]:
    """The types of HTML blocks with what begins them; made on use, for most bodies have none."""
    ignoring_case = re.IGNORECASE
    return (
        (1, re.compile(r"<(?:script|pre|style|textarea)(?:[ >]|\Z)", ignoring_case)),
        (2, re.compile(r"<!--")),
        (3, re.compile(r"<\?")),
        (4, re.compile(r"<![A-Za-z]")),
        (5, re.compile(r"<!\[CDATA\[")),
        (6, re.compile(rf"</?(?:{'|'.join(_BLOCK_TAGS)})(?:[ ]|/?>|\Z)", ignoring_case)),
        (7, re.compile(rf"(?:<[A-Za-z][A-Za-z0-9-]*(?:{_ATTRIBUTE})*[ ]*/?>|</[A-Za-z][A-Za-z0-9-]*[ ]*>)[ ]*\Z")),
    )


@cache
def _html_ends() -> dict[int, re.Pattern[str]]:
    """What ends an HTML block of the types that a blank line does not end."""
    return {
        1: re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
        2: re.compile("-->"),
        3: re.compile(r"\?>"),
        4: re.compile(">"),
        5: re.compile(r"\]\]>"),
    }


def html_start(line: str, position: int, *, interrupts_paragraph: bool) -> int | None:
    """The type (1 to 7) of the HTML block that begins at ``position`` of a tab-free line."""
    if not line.startswith("<", position):
        return None
    for kind, pattern in _html_starts():
        if pattern.match(line, position):
            return None if kind == 7 and interrupts_paragraph else kind
    return None


def html_ends(kind: int, line: str, position: int) -> bool:
    """Whether a line from ``position`` on ends an HTML block of type 1 to 5."""
    pattern = _html_ends().get(kind)
    return pattern is not None and pattern.search(line, position) is not None


def closes_fence(line: str, position: int, fence: str) -> bool:
    """Whether the text at ``position`` (indentation skipped) closes a block opened by the run ``fence``."""
    rest = line[position:].rstrip(" ")
    return len(rest) >= len(fence) and not rest.strip(fence[0])


def read_heading(line: str) -> Heading | None:
    """An ATX heading line as it is written (tabs and all); ``None`` when the line has another shape."""
    match = _ATX_LINE.match(line)
    if match is None or (match.end() == match.end("hashes") and match.end() < len(line)):
        return None
    start, level = match.end(), len(match["hashes"])
    text = line[start:].rstrip(" \t")
    text = _CLOSING_HASHES.sub("", text).rstrip(" \t")
    if not text:
        return Heading(level, "", match.start("hashes"), match.end("hashes"))
    return Heading(level, text, start, start + len(text))


def read_unspaced(line: str) -> Heading | None:
    """``##text`` or ``###text``: what would be a heading with a blank after its hashes."""
    match = _UNSPACED.match(line)
    if match is None:
        return None
    text = _CLOSING_HASHES.sub("", line[match.end() :].rstrip(" \t")).rstrip(" \t")
    return Heading(len(match["hashes"]), text, match.start("hashes"), match.end() + len(text))
