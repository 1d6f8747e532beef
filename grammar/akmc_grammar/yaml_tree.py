"""A YAML document as a tree whose every node knows its place.

Trees are immutable, so the value of an alias is shared with its anchor. Duplicate keys stay as later entries: the
first of them is the value, the others are there to be pointed at. No tree has a cycle, so that the collector need not
follow its nodes (``gc=False``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct, field

from akmc_grammar.places import Place, Span

if TYPE_CHECKING:
    from akm_schemas.json_types import Json

Style: TypeAlias = Literal["plain", "single", "double", "literal", "folded"]
STYLES: Final[dict[str, Style]] = {"": "plain", "'": "single", '"': "double", "|": "literal", ">": "folded"}
"""A scalar's style by the character with which YAML begins it."""
SURROGATE: Final = "[\ud800-\udfff]"
"""A pattern of what an escape of YAML can write, and JSON cannot carry. Compiled on use: it takes its time, and is rare."""
_QUOTE_WIDTH: Final = {"plain": 0, "single": 1, "double": 1}


class Scalar(Struct, frozen=True, gc=False):
    """A leaf: ``value`` by the YAML 1.2 core schema, ``text`` its content before that; the span includes quotes."""

    value: str | int | float | bool | None
    text: str
    style: Style
    span: Span


class Sequence(Struct, frozen=True, gc=False):
    """A list."""

    items: tuple[Node, ...]
    span: Span


class Entry(Struct, frozen=True, gc=False):
    """One ``key: value``; ``key.value`` is a ``str``."""

    key: Scalar
    value: Node


class Mapping(Struct, frozen=True, gc=False):
    """A mapping in source order. Entries with a key that is no text were reported and are not here.

    ``partial`` says that a refused merge key would have brought further ones: nothing follows from their absence.
    """

    entries: tuple[Entry, ...]
    span: Span
    partial: bool = False

    def get(self, name: str) -> Node | None:
        """The value of the first entry named ``name``."""
        for entry in self.entries:
            if entry.key.value == name:
                return entry.value
        return None

    def entry(self, name: str, occurrence: int = 0) -> Entry | None:
        """The entry named ``name``; ``occurrence`` counts its duplicates from 0."""
        for entry in self.entries:
            if entry.key.value == name:
                if occurrence == 0:
                    return entry
                occurrence -= 1
        return None


class Bad(Struct, frozen=True, gc=False):
    """A node that was reported already and carries no value."""

    span: Span


Node: TypeAlias = Scalar | Sequence | Mapping | Bad


def to_json(node: Node) -> Json:
    """The JSON value of ``node``; the first of duplicate keys counts. Raises ``ValueError`` where a ``Bad`` is inside."""
    if type(node) is Scalar:  # most are
        return node.value
    match node:
        case Sequence():
            return [to_json(item) for item in node.items]
        case Mapping():
            result: dict[str, Json] = {}
            for entry in node.entries:
                result.setdefault(str(entry.key.value), to_json(entry.value))
            return result
        case _:
            raise ValueError(f"line {node.span.line} carries no value")


class YamlTree(Struct, frozen=True):
    """A locator over one document; ``first_line`` is the file's line on which its text begins."""

    root: Node | None
    first_line: int = 1
    known: dict[int, dict[str, list[Entry]]] = field(default_factory=dict)  # entries by name of mappings looked into

    def span(self, place: Place) -> Span:
        """The span of ``place``; where it is not there, a short span of the nearest node above it."""
        if place.span is not None:
            return place.span
        if self.root is None:
            return Span(self.first_line, 1, self.first_line, 1)
        node: Node = self.root
        key: Scalar | None = None
        for depth, step in enumerate(place.path, 1):
            occurrence = place.occurrence if depth == len(place.path) else 0
            match node:
                case Mapping() if isinstance(step, str):
                    named = self._named(node).get(step, [])
                    if not 0 <= occurrence < len(named):
                        return _head(node)
                    entry = named[occurrence]
                    key, node = entry.key, entry.value
                case Sequence() if isinstance(step, int) and 0 <= step < len(node.items):
                    key, node = None, node.items[step]
                case _:
                    return _head(node)
        target: Node = key if place.part == "key" and key is not None else node
        return _narrow(target, place) if place.offset is not None else target.span

    def _named(self, node: Mapping) -> dict[str, list[Entry]]:
        """The entries of ``node`` by name: there may be as many findings about it as it has entries."""
        found = self.known.get(id(node))
        if found is None:
            found = self.known[id(node)] = {}
            for entry in node.entries:
                found.setdefault(str(entry.key.value), []).append(entry)
        return found


def _head(node: Node) -> Span:
    """A short span that stands for ``node``: its first key, or the head of its first item."""
    match node:
        case Mapping() if node.entries:
            return node.entries[0].key.span
        case Sequence() if node.items:
            return _head(node.items[0])
        case _:
            return node.span


def _narrow(node: Node, place: Place) -> Span:
    """Code points ``offset``..``offset + length`` of a scalar that is written as it reads; its whole span otherwise."""
    span = node.span
    if not isinstance(node, Scalar) or place.offset is None or span.line != span.end_line:
        return span
    quote = _QUOTE_WIDTH.get(node.style)
    # A text with escapes (or one reached through an alias) is longer or shorter than what is written.
    if quote is None or span.end_column - span.column != len(node.text) + 2 * quote:
        return span
    start = min(max(place.offset, 0), len(node.text))
    end = len(node.text) if place.length is None else min(start + max(place.length, 0), len(node.text))
    base = span.column + quote
    return Span(span.line, base + start, span.line, base + end)
