"""The fast way from YAML text to a tree: what hardly any document has is left to the explaining way.

It builds the nodes while the C parser hands out its events. Before: any text. After: the very tree that ``scan`` and
``Composer`` make of it, or ``None`` where there may be something to report or to expand: an anchor, an alias, a tag, a
second document, a key that is no text or is there twice, a value that JSON cannot carry, a passed bound, no YAML. A
property test holds the two ways together.
"""

from __future__ import annotations

import re
from typing import Any, Final

from akm_schemas.bounds import YAML_NODES, Bound
from akmc_grammar.places import Span
from akmc_grammar.yaml_core import NUMBER_STARTS, WORDS, NotJson, resolve_plain
from akmc_grammar.yaml_events import plain_parser
from akmc_grammar.yaml_spans import block_end
from akmc_grammar.yaml_tree import STYLES, SURROGATE, Entry, Mapping, Node, Scalar, Sequence


class _Unusual(Exception):
    """Something that the explaining way has to look at."""


def compose_plain(text: str, *, first_line: int, depth: Bound) -> Node | None:
    """The tree of one usual document, else ``None``. ``first_line`` is the file's line on which ``text`` begins."""
    parser = plain_parser(text)
    if parser is None:
        return None
    try:
        return _Plain(parser.get_event, text, first_line, depth).document()
    except _Unusual:
        return None
    except Exception:  # noqa: BLE001 (whatever the parser raises, the explaining way meets it again and says it)
        return None


class _Plain:
    """Builds one tree; ``next_event`` is the parser's own. Every method raises ``_Unusual``."""

    def __init__(self, next_event: Any, text: str, first_line: int, depth: Bound) -> None:
        from ruamel.yaml import events

        self.next_event = next_event
        self.lines = text.split("\n")
        self.count = len(self.lines)
        self.first = first_line
        self.levels = depth.high
        self.nodes = 0
        self.kinds: Final = events
        self.leaf, self.alias, self.mapping_start = events.ScalarEvent, events.AliasEvent, events.MappingStartEvent

    def document(self) -> Node | None:
        """The root of a stream of one document."""
        following = self.next_event
        following()  # the stream's start
        if type(following()) is not self.kinds.DocumentStartEvent:
            return None
        event = following()
        root = self.scalar(event) if type(event) is self.kinds.ScalarEvent else self.collection(event, 1)
        following()  # the document's end
        if type(following()) is not self.kinds.StreamEndEvent or self.nodes > YAML_NODES.high:
            return None
        return root

    def scalar(self, event: Any) -> Scalar:
        """A leaf."""
        if event.anchor is not None or event.ctag is not None:  # ``tag`` would make a text of it
            raise _Unusual
        text: str = event.value
        style: str | None = event.style
        start, end, first = event.start_mark, event.end_mark, self.first
        line, last, column = start.line, end.line, end.column
        if style == "|" or style == ">":
            last, column = block_end(self.lines, line, last, column)
        if last >= self.count:
            raise _Unusual
        span = Span(line + first, start.column + 1, last + first, column + 1)
        if style:
            if not text.isascii() and re.search(SURROGATE, text):
                raise _Unusual
            return Scalar(text, text, STYLES[style], span)
        if text not in WORDS and text[0] not in NUMBER_STARTS:
            return Scalar(text, text, "plain", span)
        value = resolve_plain(text)
        if isinstance(value, NotJson):
            raise _Unusual
        return Scalar(value, text, "plain", span)

    def collection(self, event: Any, level: int) -> Mapping | Sequence:
        """A mapping or a list, up to its end."""
        kind = type(event)
        if level > self.levels or kind is self.alias or event.anchor is not None or event.ctag is not None:
            raise _Unusual
        return self.mapping(event, level) if kind is self.mapping_start else self.sequence(event, level)

    def mapping(self, start: Any, level: int) -> Mapping:
        """The entries up to the mapping's end."""
        following, leaf, scalar = self.next_event, self.leaf, self.scalar
        entries: list[Entry] = []
        names: set[str] = set()
        value: Node | None = None
        while True:
            event = following()
            if type(event) is not leaf:
                break
            key = scalar(event)
            name = key.value
            if type(name) is not str or (name == "<<" and key.style == "plain"):
                raise _Unusual
            names.add(name)
            event = following()
            if type(event) is leaf:
                value = scalar(event)
                if not value.text and value.span.line != key.span.end_line:  # the parsers place it too late
                    raise _Unusual
            else:
                value = self.collection(event, level + 1)
            entries.append(Entry(key, value))
        if type(event) is not self.kinds.MappingEndEvent or len(names) != len(entries):
            raise _Unusual
        self.nodes += 1 + 2 * len(entries)
        return Mapping(tuple(entries), self.cover(start, event, value))

    def sequence(self, start: Any, level: int) -> Sequence:
        """The items up to the list's end."""
        following, leaf, ending = self.next_event, self.leaf, self.kinds.SequenceEndEvent
        items: list[Node] = []
        while True:
            event = following()
            if type(event) is leaf:
                items.append(self.scalar(event))
            elif type(event) is ending:
                break
            else:
                items.append(self.collection(event, level + 1))
        self.nodes += 1 + len(items)
        return Sequence(tuple(items), self.cover(start, event, items[-1] if items else None))

    def cover(self, start: Any, end: Any, tail: Node | None) -> Span:
        """From the first mark to the last one: in block style the parsers look too far, and ``tail`` is the last node."""
        first, mark = self.first, start.start_mark
        if start.flow_style:
            last = end.end_mark
            return Span(mark.line + first, mark.column + 1, last.line + first, last.column + 1)
        if tail is None:
            raise _Unusual
        span = tail.span
        return Span(mark.line + first, mark.column + 1, span.end_line, span.end_column)
