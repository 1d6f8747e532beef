"""A CommonMark block scanner that keeps only what a workflow's body is made of: headings at document level.

It follows the two phases of the reference implementations: match the open containers (block quotes, list items), then
look for new block starts; a line that starts nothing continues a paragraph, lazily if need be. What is not tracked
because no heading depends on it: tight and loose lists, list types, inline text.

Deviations from CommonMark, on purpose: only LF ends a line, so a lone CR, U+0085, U+2028 and form feed are ordinary
characters; a paragraph that begins with a link reference definition never becomes a setext heading (for the reference
implementations it may, when text follows the definition).
Source: CommonMark 0.31.2, section 4 and appendix "A parsing strategy"; spec 1, sections 2.2 and 2.6.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from akmc_grammar import body_lines as shapes
from akmc_grammar.body_comments import Comment, find_comments, is_allow_line

Leaf: TypeAlias = Literal["none", "paragraph", "fence", "html", "code"]

_INDENTED: Final = 4
_LOOKED_AFTER: Final = 1024  # lines between two looks at how much was found
_EMPTY_ITEMS: Final = frozenset(("-", "- ", "*", "* ", "+", "+ "))
_SPACES: Final = re.compile("[ ]*").match
# Lines that begin otherwise can start no block: they are paragraph text wherever a paragraph may stand.
_BLOCK_STARTERS: Final = frozenset(" \t#>`~<=-+*_0123456789")


class Marker(Struct, frozen=True):
    """A heading on line ``line`` (index from 0)."""

    line: int
    heading: shapes.Heading


class Blocks(Struct):
    """What was found, in source order; lines are indexes from 0. ``setext`` is (first text line, underline) pairs.

    ``beyond`` is the line of the heading that was one too many; nothing behind it was looked at.
    """

    headings: list[Marker] = field(default_factory=list)
    unspaced: list[Marker] = field(default_factory=list)
    setext: list[tuple[int, int]] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    allow_lines: set[int] = field(default_factory=set)
    merge_marks: list[int] = field(default_factory=list)
    unclosed_fence: int | None = None
    beyond: int | None = None

    def stops_at(self, most: int) -> bool:
        """Whether there are more than ``most`` lines that findings may speak of; sets ``beyond`` then."""
        if len(self.headings) + len(self.unspaced) + len(self.setext) + len(self.merge_marks) <= most:
            return False
        spaced = (marker.line for marker in (*self.headings, *self.unspaced))
        self.beyond = sorted((*spaced, *(line for _, line in self.setext), *self.merge_marks))[most]
        return True


class _Container(Struct):
    """An open block quote (``width`` 0) or list item (``width`` columns of indentation continue it)."""

    width: int
    empty: bool = False


def scan_blocks(lines: Sequence[str], *, most: int | None = None) -> Blocks:
    """Scan ``lines`` (without their ends), up to the mark behind the first ``most`` ones."""
    scanner = _Scanner()
    found = scanner.found
    after_blank = False
    look = _LOOKED_AFTER
    for number, line in enumerate(lines):
        if not line and after_blank:
            continue
        if line and scanner.plain(number, line):
            after_blank = False
            continue
        blank = not line.strip(" \t")
        # A second blank line finds nothing left to close, however deep the lists around it are.
        if not (blank and after_blank):
            scanner.line(number, line)
        after_blank = blank
        if most is not None and number >= look:
            look = number + _LOOKED_AFTER
            if found.stops_at(most):
                return found
    if scanner.leaf == "fence" and not scanner.containers:
        found.unclosed_fence = scanner.opened
    if most is not None:
        found.stops_at(most)
    return found


class _Scanner:
    """The state between two lines: open containers, the open leaf, and the line on which that leaf began."""

    def __init__(self) -> None:
        self.found = Blocks()
        self.containers: list[_Container] = []
        self.leaf: Leaf = "none"
        self.opened = 0
        self.fence = ""
        self.html = 0
        self.defines_link = False
        self.no_rule_before = 0

    def plain(self, number: int, line: str) -> bool:
        """Take the commonest lines without the two phases: text at the margin, bullets there, and empty ones.

        A line at the margin continues no container (at most, lazily, the paragraph in one). ``False``: look closer.
        """
        if line[0] not in _BLOCK_STARTERS:
            if self.leaf != "paragraph":
                if self.containers:
                    self.containers.clear()
                elif self.leaf in ("fence", "html"):
                    return self.leaf == "fence"  # such a line is code and closes nothing
                self.leaf = "none"
            self.text(number, line)
            return True
        if line[0] in "-*+" and line[1:2] == " " and line[2:3] not in _BLOCK_STARTERS and len(line) > 2:
            if not self.containers and self.leaf in ("fence", "html"):
                return False
            if self.containers and self.containers[0].width == 0:
                return False
            self.containers[:] = [_Container(2)]
            self.leaf = "none"
            self.text(number, line)
            return True
        if line in _EMPTY_ITEMS and self.leaf != "paragraph":
            if self.containers[0].width == 0 if self.containers else self.leaf in ("fence", "html"):
                return False
            self.containers[:] = [_Container(2, empty=True)]
            self.leaf = "none"
            return True
        return False

    def text(self, number: int, raw: str) -> None:
        """The line is text of a paragraph."""
        if self.leaf != "paragraph":
            self.leaf, self.opened = "paragraph", number
            self.defines_link = "]:" in raw and re.match(shapes.LINK_DEFINITION, raw) is not None
        if "<!--" in raw:
            self._comments(number, raw)

    def line(self, number: int, raw: str) -> None:
        """Take one line through both phases."""
        line = raw.expandtabs(4) if "\t" in raw else raw
        self.no_rule_before = 0
        matched, position = self._continue_containers(line)
        all_matched = matched == len(self.containers)
        if all_matched and self._continue_leaf(number, raw, line, position):
            return
        if raw.startswith(shapes.MERGE_MARKS):
            self.found.merge_marks.append(number)
        self._start_blocks(number, raw, line, position, matched)

    def _continue_containers(self, line: str) -> tuple[int, int]:
        """How many open containers the line continues, and where their content begins."""
        position = 0
        for matched, container in enumerate(self.containers):
            first = _skip(line, position)
            if container.width == 0:
                if first - position >= _INDENTED or not line.startswith(">", first):
                    return matched, position
                position = first + 2 if line.startswith(" ", first + 1) else first + 1
            elif first == len(line):
                if container.empty:
                    return matched, position
                position = first
            elif first - position >= container.width:
                position += container.width
            else:
                return matched, position
        return len(self.containers), position

    def _continue_leaf(self, number: int, raw: str, line: str, position: int) -> bool:
        """Whether the open leaf takes the line whole (its containers all go on)."""
        first = _skip(line, position)
        if self.leaf == "fence":
            if first - position < _INDENTED and shapes.closes_fence(line, first, self.fence):
                self.leaf = "none"
            return True
        if self.leaf == "html":
            if self.html in shapes.HTML_UNTIL_BLANK:
                if first == len(line):
                    self.leaf = "none"
                elif "<!--" in raw:
                    self._comments(number, raw)
            elif shapes.html_ends(self.html, line, position):
                self.leaf = "none"
            return True
        if self.leaf == "code":
            if first == len(line) or first - position >= _INDENTED:
                return True
            self.leaf = "none"
        return False

    def _start_blocks(self, number: int, raw: str, line: str, position: int, matched: int) -> None:
        """Look for block starts behind the continued containers; whatever is left is text."""
        lazy = self.leaf == "paragraph"
        in_paragraph = lazy and matched == len(self.containers)
        while True:
            first = _skip(line, position)
            if first == len(line):
                self._close(matched)
                self.leaf = "none"
                return
            if first - position >= _INDENTED:
                if not lazy:
                    self._open_leaf("code", number, matched)
                    return
                break
            if line[first] not in _BLOCK_STARTERS:
                break
            if line[first] == ">":
                container = _Container(0)
                position = first + 2 if line.startswith(" ", first + 1) else first + 1
            elif self._leaf_start(number, raw, line, first, matched, in_paragraph, lazy):
                return
            else:
                item = _list_item(line, position, first, in_paragraph)
                if item is None:
                    break
                container, position = item
            self._close(matched)
            self._fill()
            self.containers.append(container)
            matched, lazy, in_paragraph, self.leaf = len(self.containers), False, False, "none"
        self._take_text(number, raw, matched)

    def _take_text(self, number: int, raw: str, matched: int) -> None:
        """Paragraph text: lazily of the old paragraph, or where the containers now stand."""
        if self.leaf == "paragraph" and matched < len(self.containers):
            self.text(number, raw)
            return
        self._close(matched)
        if self.leaf != "paragraph":
            self.leaf = "none"
        if not self.containers:
            unspaced = shapes.read_unspaced(raw)
            if unspaced is not None:
                self.found.unspaced.append(Marker(number, unspaced))
        self._fill()
        self.text(number, raw)

    def _leaf_start(
        self, number: int, raw: str, line: str, first: int, matched: int, in_paragraph: bool, lazy: bool
    ) -> bool:
        """Whether a heading, fence, HTML block, underline or thematic break begins at ``first``."""
        character = line[first]
        if character == "#" and shapes.ATX_START.match(line, first):
            self._open_leaf("none", number, matched)
            heading = None if self.containers else shapes.read_heading(raw)
            if heading is not None:
                self.found.headings.append(Marker(number, heading))
            return True
        if character in "`~":
            fence = shapes.FENCE_OPEN.fullmatch(line, first)
            if fence is not None:
                self._open_leaf("fence", number, matched)
                self.fence = fence["fence"] or fence["tildes"]
                return True
        elif character == "<":
            kind = shapes.html_start(line, first, interrupts_paragraph=lazy)
            if kind is not None:
                self._open_html(kind, number, raw, line, first, matched)
                return True
        elif in_paragraph and character in "=-" and shapes.SETEXT_UNDERLINE.fullmatch(line, first):
            if not self.containers and character == "-" and not self.defines_link:
                self.found.setext.append((self.opened, number))
            self.leaf = "none"
            return True
        return character in "*-_" and self._thematic_break(number, line, first, matched)

    def _thematic_break(self, number: int, line: str, first: int, matched: int) -> bool:
        """A rule of three or more marks. A run that fails is not tried again from inside (``- - - x``)."""
        if first < self.no_rule_before:
            return False
        run = shapes.RULE_RUN.match(line, first)
        end = first if run is None else run.end()
        if end == len(line) and line.count(line[first], first) >= 3:
            self._open_leaf("none", number, matched)
            return True
        self.no_rule_before = end
        return False

    def _open_html(self, kind: int, number: int, raw: str, line: str, first: int, matched: int) -> None:
        self._open_leaf("html", number, matched)
        self.html = kind
        if kind in (shapes.HTML_COMMENT, *shapes.HTML_UNTIL_BLANK) and "<!--" in raw:
            self._comments(number, raw)
        if shapes.html_ends(kind, line, first):
            self.leaf = "none"

    def _open_leaf(self, leaf: Leaf, number: int, matched: int) -> None:
        self._close(matched)
        self._fill()
        self.leaf, self.opened = leaf, number

    def _close(self, matched: int) -> None:
        """Close the containers that the line did not continue."""
        del self.containers[matched:]

    def _fill(self) -> None:
        """The innermost container has content now; the ones around it have had it since that one began."""
        if self.containers:
            self.containers[-1].empty = False

    def _comments(self, number: int, raw: str) -> None:
        if is_allow_line(raw):
            self.found.allow_lines.add(number)
        self.found.comments += find_comments(number, raw)


def _skip(line: str, position: int) -> int:
    """The index of the first character from ``position`` on that is no space."""
    if line[position : position + 1] != " ":
        return position
    match = _SPACES(line, position)
    return position if match is None else match.end()


def _list_item(line: str, position: int, first: int, in_paragraph: bool) -> tuple[_Container, int] | None:
    """The list item that begins at ``first`` and where its content begins, or ``None``."""
    marker = shapes.LIST_MARKER.match(line, first)
    if marker is None:
        return None
    content = _skip(line, marker.end())
    blank = content == len(line)
    # An empty item, or a numbered one that does not begin with 1, does not interrupt a paragraph.
    if in_paragraph and (blank or (marker["number"] is not None and int(marker["number"]) != 1)):
        return None
    if blank or content - marker.end() > _INDENTED:
        content = marker.end() + 1
    return _Container(content - position, empty=blank), min(content, len(line))
