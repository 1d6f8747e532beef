"""Lines to a body: title, preamble, sections with instructions and gate, by the grammar ``body.lark``.

The scanner classifies lines, the LALR parser orders them, this module cuts the texts. Nothing is judged here: the
rules are in ``sections.py``. Source: spec 1, section 2.2.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import cast

from msgspec import Struct

from akm_schemas.bounds import BODY_MARKS
from akmc_grammar._generated import body_table
from akmc_grammar.body_comments import Comment
from akmc_grammar.body_lines import MERGE_MARKS
from akmc_grammar.body_scanner import Blocks, Marker, scan_blocks
from akmc_grammar.lalr import Child, Token, Tree, parse
from akmc_grammar.places import Span

GATE = "gate"
_NEAR_GATES = frozenset({"gate", "gates"})


class GateText(Struct, frozen=True):
    """The gate heading's span, and the rubric below it (``""`` when blank)."""

    span: Span
    rubric: str


class Section(Struct, frozen=True):
    """One level-2 heading and what is below it.

    ``heading_span`` covers the heading's text (the hashes of one without text), ``span`` the section with its heading.
    ``near_gates`` are level-3 headings that are almost the marker; ``first_text_line`` is the first line with text.
    """

    heading: str
    heading_span: Span
    instructions: str
    gate: GateText | None
    extra_gates: tuple[Span, ...]
    near_gates: tuple[tuple[str, Span], ...]
    first_text_line: tuple[str, Span] | None
    span: Span


class Body(Struct, frozen=True):
    """A body. ``title`` is the first level-1 heading of the preamble; ``top_headings`` all level-1 headings anywhere.

    ``setext`` holds underlined level-2 headings (text, place of the text), ``unspaced`` the lines ``##text`` and
    ``###text`` (as written, the place of the whole); ``unclosed_fence`` the opening line of a fence at document level
    that runs to the end; ``comments`` the one-line HTML comments outside code. ``low_headings`` are the single words
    that stand as headings below level 2, ``conflicts`` the first and last lines of merges that nobody resolved. A body with ``beyond`` was read only up to
    that line, the heading that passes ``BODY_MARKS``.
    """

    title: str | None
    title_span: Span | None
    preamble: str
    sections: tuple[Section, ...]
    setext: tuple[tuple[str, Span], ...]
    unspaced: tuple[tuple[str, Span], ...]
    unclosed_fence: Span | None
    comments: tuple[tuple[str, Span], ...]
    top_headings: tuple[tuple[str, Span], ...] = ()
    low_headings: tuple[tuple[str, Span], ...] = ()
    conflicts: tuple[tuple[Span, Span], ...] = ()
    beyond: Span | None = None


def read_body(lines: Sequence[str], first_line: int) -> Body:
    """Read ``lines`` (without their ends); ``first_line`` is the file's number of the first of them."""
    return _Reader(lines, first_line, scan_blocks(lines, most=BODY_MARKS.high)).body()


class _Reader:
    """Cuts the texts of one body. Line indexes count from 0 here; an end is the line behind the last."""

    def __init__(self, lines: Sequence[str], first_line: int, blocks: Blocks) -> None:
        self.lines = lines
        self.first_line = first_line
        self.blocks = blocks
        self.markers = {marker.line: marker for marker in blocks.headings}
        self.near = [marker for marker in blocks.headings if _is_near_gate(marker)]
        self.near_lines = [marker.line for marker in self.near]

    def body(self) -> Body:
        preamble, *sections = _trees(parse(body_table, self._classes()).children)
        top = [marker for marker in self.blocks.headings if marker.heading.level == 1]
        low = [marker for marker in self.blocks.headings if marker.heading.level > 2 and _is_word(marker.heading.text)]
        starts = [_tokens(tree)[0].line for tree in sections]
        ends = [*starts[1:], len(self.lines)]
        preamble_end = starts[0] if starts else len(self.lines)
        title = next((marker for marker in top if marker.line < preamble_end and marker.heading.text), None)
        fence = self.blocks.unclosed_fence
        return Body(
            title=None if title is None else title.heading.text,
            title_span=None if title is None else self._heading_span(title),
            preamble=self._text(0, _tokens(preamble)[-1].end_line if preamble.children else 0),
            sections=tuple(self._section(tree, end) for tree, end in zip(sections, ends, strict=False)),
            setext=tuple(self._setext(start, underline) for start, underline in self.blocks.setext),
            unspaced=tuple(self._unspaced(marker) for marker in self.blocks.unspaced),
            unclosed_fence=None if fence is None else self._line_span(fence),
            comments=tuple(self._comment(comment) for comment in self.blocks.comments),
            top_headings=tuple((marker.heading.text, self._heading_span(marker)) for marker in top),
            low_headings=tuple((marker.heading.text, self._heading_span(marker)) for marker in low),
            conflicts=tuple(self._conflicts()),
            beyond=None if self.blocks.beyond is None else self._line_span(self.blocks.beyond),
        )

    def _conflicts(self) -> Iterator[tuple[Span, Span]]:
        """Each ``<<<<<<<`` with the ``>>>>>>>`` that follows a ``=======``; one mark alone may be anything."""
        opened, divided = -1, False
        for number in self.blocks.merge_marks:
            line = self.lines[number]
            if line[0] == "<":
                opened, divided = number, False
            elif line.rstrip() == MERGE_MARKS[1]:
                divided = opened >= 0
            elif line[0] == ">" and divided:
                yield self._line_span(opened), self._line_span(number)
                opened, divided = -1, False

    def _classes(self) -> Iterator[Token]:
        """The terminals of ``body.lark``."""
        position = 0
        for marker in self.blocks.headings:
            level = marker.heading.level
            if level != 2 and not (level == 3 and marker.heading.text == GATE):
                continue
            if marker.line > position:
                yield Token("TEXT", position, marker.line)
            yield Token("H2" if level == 2 else "GATE", marker.line, marker.line + 1)
            position = marker.line + 1
        if position < len(self.lines):
            yield Token("TEXT", position, len(self.lines))

    def _section(self, tree: Tree, end: int) -> Section:
        gate_tree = tree.children[2]
        start, text_end = _tokens(tree)[0].line, end
        gate: GateText | None = None
        extra: tuple[Span, ...] = ()
        if isinstance(gate_tree, Tree):
            text_end = _tokens(gate_tree)[0].line
            gate = GateText(self._heading_span(self.markers[text_end]), self._text(text_end + 1, end))
            repeated = (token for token in _tokens(_trees(gate_tree.children[1:])[0]) if token.type == "GATE")
            extra = tuple(self._heading_span(self.markers[token.line]) for token in repeated)
        near = self.near[bisect_left(self.near_lines, start) : bisect_left(self.near_lines, end)]
        return Section(
            heading=self.markers[start].heading.text,
            heading_span=self._heading_span(self.markers[start]),
            instructions=self._text(start + 1, text_end),
            gate=gate,
            extra_gates=extra,
            near_gates=tuple((marker.heading.text, self._heading_span(marker)) for marker in near),
            first_text_line=self._first_text_line(start + 1, end),
            span=Span(start + self.first_line, 1, end - 1 + self.first_line, len(self.lines[end - 1]) + 1),
        )

    def _text(self, start: int, end: int) -> str:
        """The lines byte for byte, without allow comments that have a line of their own and blank lines at the ends."""
        hidden = self.blocks.allow_lines
        kept = [line for number, line in enumerate(self.lines[start:end], start) if number not in hidden]
        first, last = 0, len(kept)
        while first < last and _is_blank(kept[first]):
            first += 1
        while last > first and _is_blank(kept[last - 1]):
            last -= 1
        return "\n".join(kept[first:last])

    def _first_text_line(self, start: int, end: int) -> tuple[str, Span] | None:
        for number in range(start, end):
            if not _is_blank(self.lines[number]) and number not in self.blocks.allow_lines:
                return self.lines[number], self._line_span(number)
        return None

    def _setext(self, start: int, underline: int) -> tuple[str, Span]:
        text = " ".join(line.strip(" \t") for line in self.lines[start:underline])
        head, last = self._line_span(start), self._line_span(underline - 1)
        return text, Span(head.line, head.column, last.end_line, last.end_column)

    def _unspaced(self, marker: Marker) -> tuple[str, Span]:
        heading = marker.heading
        return self.lines[marker.line][heading.start : heading.end], self._heading_span(marker)

    def _comment(self, comment: Comment) -> tuple[str, Span]:
        return comment.text, self._span(comment.line, comment.start, comment.start + len(comment.text))

    def _heading_span(self, marker: Marker) -> Span:
        return self._span(marker.line, marker.heading.start, marker.heading.end)

    def _line_span(self, number: int) -> Span:
        """The line without its indentation and blanks at the end."""
        line = self.lines[number]
        return self._span(number, len(line) - len(line.lstrip(" \t")), len(line.rstrip(" \t")))

    def _span(self, number: int, start: int, end: int) -> Span:
        return Span(number + self.first_line, start + 1, number + self.first_line, end + 1)


def _trees(children: list[Child]) -> list[Tree]:
    """``children`` that the grammar says are all rules."""
    return cast("list[Tree]", children)


def _tokens(tree: Tree) -> list[Token]:
    """The children of a rule whose leading ones (or all) the grammar says are terminals."""
    return cast("list[Token]", tree.children)


def _is_blank(line: str) -> bool:
    return not line.strip(" \t")


def _is_word(text: str) -> bool:
    return text != GATE and " " not in text


def _is_near_gate(marker: Marker) -> bool:
    """A level-3 heading that differs from the marker by case, plural or a colon only."""
    text = marker.heading.text
    return marker.heading.level == 3 and text != GATE and text.rstrip(":.").casefold() in _NEAR_GATES
