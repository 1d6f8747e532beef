"""Following a path through a schema, statically.

A view is what is known of a value: alternatives, of which at least one holds, each a conjunction of schemas. The empty
conjunction says nothing. A path breaks only when no alternative can carry it; whatever is malformed, negated or too
branchy to expand counts as "may be anything", so that no schema is ever misjudged.

Thousands of references may lead into one schema of thousands of members. So a view keeps what has been worked out of
it, and the views that paths have led to: each member is looked at once, however many references there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from akm_schemas.canonical import canonical_bytes
from akm_schemas.json_types import Json, JsonObject

# Disjoint kinds of value: "number" are those with a fraction here, so that a schema of integers is called that.
TYPES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
SCALARS: Final = frozenset({"boolean", "integer", "number", "string"})

_COMBINATORS: Final = frozenset({"allOf", "anyOf", "oneOf"})
# an analysis budget, not a limit of the language: beyond it a schema counts as "may be anything"
_ALTERNATIVES: Final = 128

_ONE: Final = {name: frozenset({name, "integer"} if name == "number" else {name}) for name in TYPES}
_ARTICLES: Final = {
    "array": "an array",
    "boolean": "a boolean",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}


class Broken(Struct, frozen=True):
    """A path that no value of the schema can carry: ``step`` counts the path's parts that still went well, ``found``
    says what is there, ``names`` are the properties of closed objects there, sorted (empty for other kinds)."""

    step: int
    found: str
    names: tuple[str, ...] = ()


def view_of(schema: JsonObject) -> View:
    """The view of one schema."""
    return View(((_Schema(schema),),))


def follow(view: View, path: Iterable[str | int]) -> View | Broken:
    """The view at the end of ``path``, or where it breaks."""
    for step, part in enumerate(path):
        below = view.below(part)
        if isinstance(below, Broken):
            return replace(below, step=step)
        view = below
    return view


def described(types: frozenset[str]) -> str:
    """Kinds of value as words: ``an array or an object``."""
    told = types - {"integer"} if "number" in types else types
    return " or ".join(_ARTICLES[name] for name in sorted(told))


class _Refusal(Struct, frozen=True, eq=False):
    """Why an alternative cannot carry a path. Compared by identity: there is one for each thing that refuses."""

    found: str
    names: tuple[str, ...] = ()


_NO_MEMBER: Final = _Refusal("one of the values of its enum")


class _Schema(Struct, frozen=True, eq=False, dict=True):
    """One schema, and what has been worked out of it."""

    schema: JsonObject

    @cached_property
    def types(self) -> frozenset[str]:
        """The kinds that its ``type`` and ``enum`` admit."""
        named = self.schema.get("type")
        if isinstance(named, str) and "enum" not in self.schema and named in _ONE:
            return _ONE[named]
        names = [named] if isinstance(named, str) else named if isinstance(named, list) and named else None
        types = TYPES
        if names is not None:
            known = {name for name in names if isinstance(name, str)}
            if "number" in known:
                known.add("integer")
            types = frozenset(known) if known <= TYPES else TYPES
        return types & {_kind(member) for member in self.members} if self.members else types

    @cached_property
    def members(self) -> list[Json]:
        """The values of its enum; empty when it has none."""
        members = self.schema.get("enum")
        return members if isinstance(members, list) else []

    @cached_property
    def keyed(self) -> dict[bytes, Json] | None:
        """The values of its enum by their canonical JSON, ``None`` when it has no enum."""
        if not isinstance(self.schema.get("enum"), list):
            return None
        return {canonical_bytes(member): member for member in self.members}

    @cached_property
    def options(self) -> list[Conjunction] | None:
        """Its alternatives without combinators; ``None`` when there are too many."""
        if self.schema.keys().isdisjoint(_COMBINATORS):
            return [(self,)]
        parts: list[list[Conjunction] | None] = [[(self,)]]
        if isinstance(members := self.schema.get("allOf"), list):
            parts.append(_product(map(_options, members)))
        for key in ("anyOf", "oneOf"):
            if isinstance(members := self.schema.get(key), list) and members:
                parts.append(_union(map(_options, members)))
        return _product(parts)

    @cached_property
    def properties(self) -> dict[str, _Schema]:
        """The schemas of its properties."""
        return {name: _Schema(schema) for name, schema in self._named.items() if isinstance(schema, dict)}

    @cached_property
    def member_parts(self) -> dict[str | int, _Schema]:
        """The schemas of the parts that members of its enum have."""
        found: dict[str | int, list[Json]] = {}
        for member in self.members:
            if isinstance(member, dict):
                for name, value in member.items():
                    found.setdefault(name, []).append(value)
            elif isinstance(member, list):
                for index, value in enumerate(member):
                    found.setdefault(index, []).append(value)
        return {part: _Schema({"enum": values}) for part, values in found.items()}

    def elements(self, index: int) -> Iterator[_Schema]:
        """What it says of one element of an array."""
        if self._items is not None:
            yield self._items
        if index in self.member_parts:
            yield self.member_parts[index]

    @property
    def is_strict(self) -> bool:
        """Whether there are parts that it refuses."""
        return bool(self.members) or self._closed is not None

    def refusal(self, part: str | int) -> _Refusal | None:
        """Why an object or array of this schema cannot have that part; ``None`` when it can."""
        if isinstance(part, str) and self._closed is not None and part not in self._named:
            return self._closed
        return _NO_MEMBER if self.members and part not in self.member_parts else None

    @cached_property
    def _closed(self) -> _Refusal | None:
        if self.schema.get("additionalProperties") is not False:
            return None
        return _Refusal("a closed object", tuple(sorted(self._named)))

    @cached_property
    def _named(self) -> JsonObject:
        properties = self.schema.get("properties")
        return properties if isinstance(properties, dict) else {}

    @cached_property
    def _items(self) -> _Schema | None:
        items = self.schema.get("items")
        return _Schema(items) if isinstance(items, dict) else None


Conjunction: TypeAlias = tuple[_Schema, ...]


class _Alternative(Struct, frozen=True, eq=False, dict=True):
    """A conjunction of schemas whose combinators have been expanded."""

    schemas: Conjunction

    @cached_property
    def types(self) -> frozenset[str]:
        """The kinds of value that all its schemas admit."""
        return TYPES.intersection(*(schema.types for schema in self.schemas))

    def below(self, part: str | int) -> Conjunction | _Refusal:
        """What is known of one part of a value."""
        if ("object" if isinstance(part, str) else "array") not in self.types:
            return self._misfit
        for schema in self._strict:
            if (refusal := schema.refusal(part)) is not None:
                return refusal
        if isinstance(part, str):
            return tuple(self._named.get(part, ()))
        return tuple(element for schema in self.schemas for element in schema.elements(part))

    @cached_property
    def _misfit(self) -> _Refusal:
        return _Refusal(described(self.types))

    @cached_property
    def _strict(self) -> list[_Schema]:
        return [schema for schema in self.schemas if schema.is_strict]

    @cached_property
    def _named(self) -> dict[str, list[_Schema]]:
        """What its schemas say of each part that has a name."""
        found: dict[str, list[_Schema]] = {}
        for schema in self.schemas:
            for name, below in schema.properties.items():
                found.setdefault(name, []).append(below)
            for part, below in schema.member_parts.items():
                if isinstance(part, str):
                    found.setdefault(part, []).append(below)
        return found


class View(Struct, frozen=True, eq=False, dict=True):
    """What is known of a value, and what has been worked out of that."""

    alternatives: tuple[Conjunction, ...]
    _below: dict[str | int, View | Broken] = field(default_factory=dict)
    _joined: dict[tuple[_Refusal, ...], Broken] = field(default_factory=dict)

    @cached_property
    def types(self) -> frozenset[str]:
        """The kinds of value that are admitted."""
        return frozenset[str]().union(*(alternative.types for alternative in self._live))

    @cached_property
    def values(self) -> list[Json] | None:
        """Every value, in the order of the enums, where each alternative has one; ``None`` otherwise."""
        found: dict[bytes, Json] = {}
        for alternative in self._live:
            enums = [schema.keyed for schema in alternative.schemas if schema.keyed is not None]
            if not enums and alternative.types != {"null"}:
                return None
            first = enums[0] if enums else {b"null": None}
            for key, value in first.items():
                if _kind(value) in alternative.types and all(key in other for other in enums):
                    found.setdefault(key, value)
        return list(found.values()) or None

    @cached_property
    def array(self) -> View:
        """The view of an array whose items are all of this view."""
        lists: list[Conjunction] = []
        for conjunction in self.alternatives:
            items: JsonObject = {"allOf": [schema.schema for schema in conjunction]}
            lists.append((_Schema({"type": "array", "items": items}),))
        return View(tuple(lists))

    def below(self, part: str | int) -> View | Broken:
        """The view of one part of the value, or why there is none."""
        key = part if isinstance(part, str) or self._tells_elements_apart else 0
        if key not in self._below:
            self._below[key] = self._part(part)
        return self._below[key]

    def _part(self, part: str | int) -> View | Broken:
        answers = [alternative.below(part) for alternative in self._live]
        carried = [answer for answer in answers if not isinstance(answer, _Refusal)]
        if carried:
            return View(tuple(carried))
        refusals = tuple(answer for answer in answers if isinstance(answer, _Refusal))
        if refusals not in self._joined:
            names = {name for refusal in refusals for name in refusal.names}
            founds = dict.fromkeys(refusal.found for refusal in refusals)
            self._joined[refusals] = Broken(0, " or ".join(founds), tuple(sorted(names)))
        return self._joined[refusals]

    @cached_property
    def _live(self) -> list[_Alternative]:
        """The alternatives without combinators, those that admit no value left out."""
        flat = _union(_product(schema.options for schema in conjunction) for conjunction in self.alternatives)
        live = [alternative for alternative in map(_Alternative, flat or ()) if alternative.types]
        return live or [_Alternative(())]

    @cached_property
    def _tells_elements_apart(self) -> bool:
        return any(schema.member_parts for alternative in self._live for schema in alternative.schemas)


def _options(schema: Json) -> list[Conjunction] | None:
    return _Schema(schema).options if isinstance(schema, dict) else [()]


def _union(parts: Iterable[list[Conjunction] | None]) -> list[Conjunction] | None:
    """The alternatives of all parts; ``None`` when there are too many."""
    found: list[Conjunction] = []
    for options in parts:
        if options is None or len(found) + len(options) > _ALTERNATIVES:
            return None
        found.extend(options)
    return found


def _product(parts: Iterable[list[Conjunction] | None]) -> list[Conjunction] | None:
    """The alternatives of a conjunction of parts; ``None`` when there are too many."""
    found: list[list[_Schema]] = [[]]
    for options in parts:
        if options is None or len(found) * len(options) > _ALTERNATIVES:
            return None
        if len(options) == 1:  # nearly always: copies would make a conjunction of thousands quadratic
            for conjunction in found:
                conjunction.extend(options[0])
        else:
            found = [[*left, *right] for left in found for right in options]
    return [tuple(conjunction) for conjunction in found]


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if value == int(value) else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
