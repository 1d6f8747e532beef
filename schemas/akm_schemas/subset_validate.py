"""Evaluate a schema of the enforced subset on a value (spec 1, section 2.4).

JSON's semantics, not Python's. The schema has passed ``subset_check.check_schema``. Messages say types, sizes and what
the schema expects, never the value: it may be a param, and those are not echoed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Final, TypeAlias, cast

from msgspec import Struct, field

from akm_schemas.bounds import SCHEMA_CHECKS, SCHEMA_DEPTH, SCHEMA_ERRORS
from akm_schemas.canonical import canonical_text, number_text
from akm_schemas.json_paths import pointer, quoted
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.json_values import ScalarKey, a_type, equal_counted, has_type, json_equal, json_type, scalar_key

__all__ = [
    "Budget",
    "BudgetExhausted",
    "Miss",
    "Validation",
    "Validator",
    "has_type",
    "json_equal",
    "json_type",
    "validate",
]

_LOOKUPS: Final = 32  # so many look-ups of a name cost as much as one check
_SHOWN_CHARS: Final = 60
_SHOWN_BRANCHES: Final = 3
_EXPLAINING: Final = 1000  # checks for telling why no branch of a combinator fits

_Path: TypeAlias = tuple[str | int, ...]


class Miss(Struct, frozen=True):
    """``pointer`` is the RFC 6901 pointer of the value at fault, empty at the root."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or 'the value'}: {self.message}"


class Validation(Struct, frozen=True):
    """The verdict: at most SCHEMA_ERRORS ``errors``, and how many ``more`` there were."""

    errors: tuple[Miss, ...]
    more: int = 0

    @property
    def ok(self) -> bool:
        """Whether the value satisfies the schema."""
        return not self.errors

    def lines(self) -> list[str]:
        """The errors as text, one line for each, a last line saying how many more there are."""
        shown = [str(miss) for miss in self.errors]
        return [*shown, f"and {self.more} more"] if self.more else shown


class BudgetExhausted(Exception):
    """More checks or levels than one validation may use."""


class Budget(Struct):
    """What is left of a number of checks; one check is one schema applied to one value."""

    left: int = SCHEMA_CHECKS.high

    def spend(self, checks: int) -> None:
        """Take ``checks`` off; raises BudgetExhausted below zero."""
        self.left -= checks
        if self.left < 0:
            raise BudgetExhausted


def validate(schema: JsonObject, value: Json, *, budget: Budget | None = None) -> Validation:
    """Whether ``value`` satisfies ``schema``; running out of checks or levels is an error, never "valid".

    ``budget`` lets several validations share one allowance; without it each has SCHEMA_CHECKS checks.
    """
    sink = _Sink(SCHEMA_ERRORS.high)
    try:
        _Evaluation(budget or Budget(), explain=True).apply(schema, value, (), sink, 1)
    except BudgetExhausted:
        kept = sink.kept[: SCHEMA_ERRORS.high - 1]
        return Validation((*kept, Miss("", _EXHAUSTED)), sink.count - len(kept))
    return Validation(tuple(sink.kept), sink.count - len(sink.kept))


_EXHAUSTED: Final = (
    f"not decided: one validation may take {SCHEMA_CHECKS.high} checks on {SCHEMA_DEPTH.high} levels; "
    "give a smaller value or a simpler schema"
)


class Validator:
    """Verdicts on many values: the look-up tables of the enums it meets are made once, and live as long as it does."""

    def __init__(self) -> None:
        self._enums: dict[int, _Enum] = {}

    def accepts(self, schema: JsonObject, value: Json) -> bool:
        """``validate(schema, value).ok``, for values nested about as deep as a schema may be."""
        for kind in (_Hasty, _Evaluation):
            try:
                kind(Budget(), explain=False, enums=self._enums).apply(schema, value, (), _Sink(0), 1)
            except _Missed:
                return False
            except BudgetExhausted:
                continue
            return True
        return False


class _Missed(Exception):
    """Ends an evaluation of which only the verdict is wanted."""


class _Sink(Struct):
    """Keeps the first ``room`` misses and counts the rest; with no room the first miss ends the evaluation."""

    room: int
    kept: list[Miss] = field(default_factory=list)
    count: int = 0

    def add(self, path: _Path, message: Callable[[], str]) -> None:
        if not self.room:
            raise _Missed
        self.count += 1
        if len(self.kept) < self.room:
            self.kept.append(Miss(pointer(path), message()))


class _Enum(Struct):
    """The look-up tables of an enum; ``members`` is held for its id to stay its own.

    ``ends`` has, for each array and object, the number of nodes up to its end; ``_Hasty`` fills it.
    """

    members: list[Json]
    scalars: frozenset[ScalarKey]
    nested: list[Json]
    ends: dict[Hashable, int] = field(default_factory=dict)
    nodes: int = 0


class _Evaluation(Struct):
    """One validation: its budget, and the look-up tables of the enums met so far."""

    budget: Budget
    explain: bool
    enums: dict[int, _Enum] = field(default_factory=dict)

    def apply(self, schema: JsonObject, value: Json, path: _Path, sink: _Sink, level: int) -> None:
        """Report every miss of ``value`` against ``schema`` to ``sink``; ``level`` counts nested schemas from 1."""
        self.budget.spend(1)
        if level > SCHEMA_DEPTH.high:
            raise BudgetExhausted
        if "type" in schema and not _type_holds(schema["type"], value, path, sink):
            return  # the other keywords would only say the same again
        if "enum" in schema:
            self._enum(cast("list[Json]", schema["enum"]), value, path, sink)
        if isinstance(value, str):
            _size(schema, "Length", len(value), "characters", path, sink)
        elif isinstance(value, list):
            self._array(schema, value, path, sink, level)
        elif isinstance(value, dict):
            self._object(schema, value, path, sink, level)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            _range(schema, value, path, sink)
        self._combinators(schema, value, path, sink, level)

    def _enum(self, members: list[Json], value: Json, path: _Path, sink: _Sink) -> None:
        table = self.enums.get(id(members))
        if table is None:
            scalars = frozenset(scalar_key(member) for member in members if not isinstance(member, (dict, list)))
            table = _Enum(members, scalars, [member for member in members if isinstance(member, (dict, list))])
            self.enums[id(members)] = table
        allowed = self._nested(table, value) if isinstance(value, (dict, list)) else scalar_key(value) in table.scalars
        if not allowed:
            sink.add(path, lambda: f"found {a_type(json_type(value))}, expected one of: {_shown(members)}")

    def _nested(self, table: _Enum, value: Json) -> bool:
        return any(equal_counted(member, value, lambda: self.budget.spend(1)) for member in table.nested)

    def _array(self, schema: JsonObject, value: list[Json], path: _Path, sink: _Sink, level: int) -> None:
        _size(schema, "Items", len(value), "items", path, sink)
        items = schema.get("items")
        if isinstance(items, dict):
            for index, item in enumerate(value):
                self.apply(items, item, (*path, index), sink, level + 1)

    def _object(self, schema: JsonObject, value: JsonObject, path: _Path, sink: _Sink, level: int) -> None:
        required = cast("list[str]", schema.get("required", []))
        properties = cast("dict[str, JsonObject]", schema.get("properties", {}))
        self.budget.spend((len(required) + len(properties)) // _LOOKUPS)
        for name in required:
            if name not in value:
                sink.add(path, partial(_missing, name))
        for name, child in properties.items():
            if name in value:
                self.apply(child, value[name], (*path, name), sink, level + 1)
        if schema.get("additionalProperties") is False:
            self.budget.spend(len(value) // _LOOKUPS)
            for name in value:
                if name not in properties:
                    sink.add(path, partial(_unexpected, name, properties))

    def _combinators(self, schema: JsonObject, value: Json, path: _Path, sink: _Sink, level: int) -> None:
        for branch in cast("Sequence[JsonObject]", schema.get("allOf", ())):
            self.apply(branch, value, path, sink, level + 1)
        if "anyOf" in schema:
            branches = cast("list[JsonObject]", schema["anyOf"])
            if not any(self._fits(branch, value, level) for branch in branches):
                sink.add(path, lambda: self._none_fits("anyOf", branches, value, level))
        if "oneOf" in schema:
            alternatives = cast("list[JsonObject]", schema["oneOf"])
            fitting = sum(self._fits(branch, value, level) for branch in alternatives)
            if fitting == 0:
                sink.add(path, lambda: self._none_fits("oneOf", alternatives, value, level))
            elif fitting > 1:
                sink.add(path, lambda: f"fits {fitting} of the schemas in `oneOf`, exactly one has to fit")
        if "not" in schema and self._fits(cast(JsonObject, schema["not"]), value, level):
            sink.add(path, lambda: "fits the schema that `not` rules out")

    def _fits(self, schema: JsonObject, value: Json, level: int) -> bool:
        try:
            self.apply(schema, value, (), _Sink(0), level + 1)
        except _Missed:
            return False
        return True

    def _none_fits(self, keyword: str, branches: list[JsonObject], value: Json, level: int) -> str:
        """The message, with the first reason of the first branches; an explanation never explains within itself."""
        text = f"fits none of the {len(branches)} schemas in `{keyword}`"
        if not self.explain:
            return text
        reasons = []
        for number, branch in enumerate(branches[:_SHOWN_BRANCHES], 1):
            sink = _Sink(1)
            try:
                _Evaluation(Budget(_EXPLAINING), explain=False).apply(branch, value, (), sink, level + 1)
            except BudgetExhausted:
                continue
            miss = sink.kept[0]
            reasons.append(f"{number}: {miss.pointer} {miss.message}" if miss.pointer else f"{number}: {miss.message}")
        return f"{text} ({'; '.join(reasons)})" if reasons else text


class _Hasty(_Evaluation):
    """An evaluation that looks arrays and objects up, instead of comparing them with one member after the other.

    It spends as if each comparison visited the whole member, never less than ``_Evaluation``: its verdict stands
    unless its budget ends.
    """

    def _nested(self, table: _Enum, value: Json) -> bool:
        if not table.ends:
            for member in table.nested:
                table.nodes += _nodes(member)
                table.ends.setdefault(_key(member), table.nodes)
        end = table.ends.get(_key(value))
        self.budget.spend(table.nodes if end is None else end)
        return end is not None


def _key(value: Json) -> Hashable:
    """``scalar_key`` for any value."""
    if isinstance(value, dict):
        return ("object", frozenset((name, _key(item)) for name, item in value.items()))
    return ("array", *map(_key, value)) if isinstance(value, list) else scalar_key(value)


def _nodes(value: Json) -> int:
    """How many nodes a comparison with an equal value visits."""
    if isinstance(value, dict):
        return 1 + sum(map(_nodes, value.values()))
    return 1 + sum(map(_nodes, value)) if isinstance(value, list) else 1


def _type_holds(names: Json, value: Json, path: _Path, sink: _Sink) -> bool:
    wanted = cast("list[str]", names if isinstance(names, list) else [names])
    if any(has_type(value, name) for name in wanted):
        return True
    sink.add(path, lambda: f"found {a_type(json_type(value))}, expected {' or '.join(map(a_type, sorted(wanted)))}")
    return False


def _size(schema: JsonObject, what: str, size: int, unit: str, path: _Path, sink: _Sink) -> None:
    low, high = cast("float | None", schema.get(f"min{what}")), cast("float | None", schema.get(f"max{what}"))
    if low is not None and size < low:
        sink.add(path, lambda: f"has {size} {unit}, at least {number_text(low)} are expected")
    if high is not None and size > high:
        sink.add(path, lambda: f"has {size} {unit}, at most {number_text(high)} are allowed")


def _range(schema: JsonObject, value: float, path: _Path, sink: _Sink) -> None:
    low, high = cast("float | None", schema.get("minimum")), cast("float | None", schema.get("maximum"))
    if low is not None and value < low:
        sink.add(path, lambda: f"a number below the minimum of {number_text(low)}")
    if high is not None and value > high:
        sink.add(path, lambda: f"a number above the maximum of {number_text(high)}")


def _shown(members: list[Json]) -> str:
    """The members of an enum, as many as fit a message."""
    text = ""
    for count, member in enumerate(members):
        shown = canonical_text(member)
        if count and len(text) + len(shown) > _SHOWN_CHARS:
            return f"{text} and {len(members) - count} more"
        shown = shown if len(shown) <= _SHOWN_CHARS else shown[: _SHOWN_CHARS - 3] + "..."
        text = f"{text}, {shown}" if text else shown
    return text


def _missing(name: str) -> str:
    return f"the required property {quoted(name)} is missing"


def _unexpected(name: str, properties: dict[str, JsonObject]) -> str:
    known = ", ".join(quoted(other) for other in sorted(properties)[:8]) or "(none)"
    more = f" and {len(properties) - 8} more" if len(properties) > 8 else ""
    return f"the property {quoted(name)} is not among the allowed ones: {known}{more}"
