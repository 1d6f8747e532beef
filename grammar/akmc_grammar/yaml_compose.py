"""Events to a tree: scalars resolved, aliases expanded within bounds, everything JSON cannot carry reported.

Holds before: the events of one text, within the bounds of depth and nodes as written. Holds after: a tree whose
expanded size and depth are within the same bounds, or nothing. Source: spec 1, sections 2.1, 2.5, 2.6 and 3.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from akm_schemas.bounds import YAML_NODES, Bound
from akmc_grammar.diagnostics import Note, Sink
from akmc_grammar.places import Place, Span
from akmc_grammar.yaml_core import NotJson, resolve_plain
from akmc_grammar.yaml_events import Event, Mark
from akmc_grammar.yaml_spans import Spans, shown
from akmc_grammar.yaml_tree import STYLES, SURROGATE, Bad, Entry, Mapping, Node, Scalar, Sequence

_KIND_WORDS: Final[dict[type, str]] = {Sequence: "a list", Mapping: "a mapping"}
MERGE_KEY: Final = "<<"


class OutOfBounds(Exception):
    """An alias whose expansion passes ``bound`` (or never ends, then ``bound`` is ``None``), at ``span``."""

    def __init__(self, span: Span, bound: Bound | None) -> None:
        super().__init__()
        self.span, self.bound = span, bound


class UndefinedAlias(Exception):
    """An alias without an anchor before it."""

    def __init__(self, span: Span, name: str) -> None:
        super().__init__()
        self.span, self.name = span, name


class _Built(Struct, frozen=True):
    """A node with its expanded number of nodes and levels of collections."""

    node: Node
    size: int
    height: int


class Composer:
    """Builds the tree of one document. ``events`` begin behind the document start."""

    def __init__(
        self,
        events: tuple[Event, ...],
        text: str,
        *,
        file: str,
        sink: Sink,
        first_line: int,
        strict: bool,
        depth: Bound,
    ) -> None:
        self._events = iter(events)
        self._spans = Spans(text, first_line)
        self._file = file
        self._sink = sink
        self._strict = strict
        self._depth = depth
        self._anchors: dict[str, _Built | None] = {}
        self._total = 0

    def compose(self) -> Node:
        """The root node. Raises ``OutOfBounds`` or ``UndefinedAlias``."""
        return self._node(next(self._events), 1).node

    def _node(self, event: Event, level: int) -> _Built:
        if event.kind == "alias":
            return self._alias(event, level)
        self._total += 1
        if event.anchor is not None:
            self._anchors[event.anchor] = None
            if self._strict:
                where = self._spans.anchor(event)
                self._report(
                    "yaml-anchor", where, f'the anchor "&{shown(event.anchor)}" is refused here', "repeat the value"
                )
        start = self._spans.content_start(event)
        if event.kind == "scalar":
            built = _Built(self._scalar(event, start), 1, 0)
        elif event.kind == "sequence":
            built = self._sequence(event, start, level)
        else:
            built = self._mapping(event, start, level)
        if event.tag is not None:
            built = replace(built, node=self._tagged(event))
        if event.anchor is not None:
            self._anchors[event.anchor] = built
        return built

    def _alias(self, event: Event, level: int) -> _Built:
        span = self._spans.span(event.start, event.end)
        name = event.anchor or ""
        if self._strict:
            self._report("yaml-alias", span, f'the alias "*{shown(name)}" is refused here', "write the value out")
            return _Built(Bad(span), 1, 0)
        if name not in self._anchors:
            raise UndefinedAlias(span, name)
        target = self._anchors[name]
        if target is None:
            raise OutOfBounds(span, None)
        self._total += target.size
        if self._total > YAML_NODES.high:
            raise OutOfBounds(span, YAML_NODES)
        if level - 1 + target.height > self._depth.high:
            raise OutOfBounds(span, self._depth)
        # The alias is where the value is used; what is inside it keeps its places at the anchor.
        return replace(target, node=replace(target.node, span=span))

    def _scalar(self, event: Event, start: Mark) -> Node:
        span = self._spans.scalar(event, start)
        text = event.value
        if not text.isascii() and re.search(SURROGATE, text):
            # JSON writers escape astral characters as a pair of surrogates; only a lone one has no meaning.
            text = _paired(text)
            if re.search(SURROGATE, text):
                self._report("non-json-value", span, "found half of a surrogate pair", "write the whole character")
                return Bad(span)
        style = STYLES[event.style]
        if style != "plain":
            return Scalar(text, text, style, span)
        value = resolve_plain(text)
        if isinstance(value, NotJson):
            words = f'"{shown(text)}" is {value.reason}'
            self._report("non-json-value", span, words, "quote it if it is a text, else write a number")
            return Bad(span)
        return Scalar(value, text, style, span)

    def _sequence(self, event: Event, start: Mark, level: int) -> _Built:
        items: list[Node] = []
        size, height = 1, 0
        last = start
        for item in self._events:
            if item.kind == "end":
                last = item.end if event.flow else last
                break
            built = self._node(item, level + 1)
            items.append(built.node)
            size, height = size + built.size, max(height, built.height)
        end = None if event.flow or not items else items[-1].span
        return _Built(Sequence(tuple(items), self._spans.cover(start, last, end)), size, height + 1)

    def _mapping(self, event: Event, start: Mark, level: int) -> _Built:
        entries: list[Entry] = []
        seen: dict[str, Span] = {}
        size, height = 1, 0
        last, tail = start, None
        merges = False
        for item in self._events:
            if item.kind == "end":
                last = item.end if event.flow else last
                break
            key = self._node(item, level + 1)
            value = self._node(next(self._events), level + 1)
            if self._spans.is_late(value.node.span, key.node.span):
                value = replace(value, node=replace(value.node, span=self._spans.behind_colon(key.node.span)))
            size, height = size + key.size + value.size, max(height, key.height, value.height)
            tail = value.node.span
            name = self._key(key.node, seen)
            if name is not None:
                entries.append(Entry(name, value.node))
            else:
                merges = merges or (isinstance(key.node, Scalar) and key.node.value == MERGE_KEY)
        span = self._spans.cover(start, last, None if event.flow else tail)
        return _Built(Mapping(tuple(entries), span, merges), size, height + 1)

    def _key(self, key: Node, seen: dict[str, Span]) -> Scalar | None:
        """``key`` when it can stand in the tree; reports one that is no text, a merge key, and a duplicate."""
        if isinstance(key, Bad):
            return None
        if not isinstance(key, Scalar) or not isinstance(key.value, str):
            found = f'"{shown(key.text)}"' if isinstance(key, Scalar) else _KIND_WORDS[type(key)]
            self._report(
                "non-json-value", key.span, f"found {found} as a key, expected a text", "put the key in quotes"
            )
            return None
        if self._strict and key.style == "plain" and key.value == MERGE_KEY:
            self._report("yaml-merge-key", key.span, 'the merge key "<<" is refused here', "write the keys out")
            return None
        first = seen.setdefault(key.value, key.span)
        if first is not key.span:
            self._sink.report(
                "duplicate-key",
                Place(self._file, span=key.span),
                f'"{shown(key.value)}" is already set in this mapping',
                notes=[Note("first set here", Place(self._file, span=first))],
                help="keep one of the two",
            )
        return key

    def _tagged(self, event: Event) -> Bad:
        span, written = self._spans.tag(event)
        words = f'the tag "{shown(written)}" is refused: values are plain JSON'
        self._report("yaml-custom-tag", span, words, "remove the tag, or quote the value if it is text")
        return Bad(span)

    def _report(self, rule: str, span: Span, message: str, help_line: str) -> None:
        self._sink.report(rule, Place(self._file, span=span), message, help=help_line)


def _paired(text: str) -> str:
    """``text`` with pairs of escaped surrogates joined to the characters they mean."""
    return re.sub(
        "[\ud800-\udbff][\udc00-\udfff]",
        lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"),
        text,
    )
