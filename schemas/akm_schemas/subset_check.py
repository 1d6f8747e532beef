"""Check a schema against the enforced subset (spec 1, section 2.4).

``check_schema`` takes any JSON and never raises; its faults carry a path inside the schema, which the callers map to a
line of the source or to a part of the plan, and a kind, which they map to a rule.
"""

from __future__ import annotations

import hashlib
from typing import Final, cast

from msgspec import Struct, field

from akm_schemas.bounds import SAFE_INTEGER, SCHEMA_BYTES, SCHEMA_CHECKS, SCHEMA_DEPTH
from akm_schemas.canonical import CanonicalError, canonical_bytes
from akm_schemas.json_paths import quoted
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.json_values import has_type
from akm_schemas.subset_faults import (
    TYPE_NAMES,
    FaultKind,
    KeywordFix,
    SchemaFault,
    SchemaPath,
    bad_type_name,
    foreign_keyword,
    found,
)
from akm_schemas.subset_keywords import COUNTS, ENFORCED, LIMITS, SCHEMA_LISTS, TYPES, is_annotation
from akm_schemas.subset_validate import Budget, validate

__all__ = ["FaultKind", "KeywordFix", "SchemaFault", "SchemaPath", "check_schema"]

_ALLOWANCE: Final = 2 * SCHEMA_CHECKS.high  # checks for all defaults and enum members of one schema


def check_schema(schema: Json) -> list[SchemaFault]:
    """Every fault of ``schema`` in document order; empty when it is a schema of the enforced subset.

    Size and nesting (SCHEMA_BYTES of canonical JSON, SCHEMA_DEPTH nested arrays and objects) come first: a schema over
    a bound is not looked at any further. A default or an enum is compared with its schema only where that has no fault.
    """
    try:
        text = canonical_bytes(schema)
    except CanonicalError as error:
        deep = _deeper_than(schema, SCHEMA_DEPTH.high)
        if deep is not None:
            return [_too_deep(deep)]
        return [SchemaFault("malformed", (), "value", f"the schema is not JSON: {error}", "use JSON values only")]
    digest = hashlib.sha256(text).digest()
    if digest in _CLEAN:
        return []
    over = _over_bounds(schema, text)
    if over is not None:
        return [over]
    checker = _Checker()
    checker.schema(schema, ())
    if not checker.faults:
        if len(_CLEAN) >= _CLEAN_ROOM:
            _CLEAN.clear()
        _CLEAN.add(digest)
    return checker.faults


# Schemas found clean, by the SHA-256 of their canonical JSON: the same ones come again for each step that shares one,
# and when a plan is decoded that was just compiled.
_CLEAN: Final[set[bytes]] = set()
_CLEAN_ROOM: Final = 4096


def _over_bounds(schema: Json, text: bytes) -> SchemaFault | None:
    if text.count(b"{") + text.count(b"[") > SCHEMA_DEPTH.high:
        deep = _deeper_than(schema, SCHEMA_DEPTH.high)
        if deep is not None:
            return _too_deep(deep)
    if len(text) > SCHEMA_BYTES.high:
        message = f"the schema has {len(text)} bytes as JSON, at most {SCHEMA_BYTES.high} are allowed"
        return SchemaFault("bound", (), "value", message, "shorten its descriptions or split it over several steps")
    return None


def _too_deep(path: SchemaPath) -> SchemaFault:
    message = f"the schema nests deeper than {SCHEMA_DEPTH.high} levels"
    return SchemaFault("bound", path, "value", message, "flatten it, or move the inner part to a step of its own")


def _deeper_than(value: Json, levels: int) -> SchemaPath | None:
    """The path of an array or object that is nested deeper than ``levels``; the first one, level by level."""
    level: list[tuple[SchemaPath, Json]] = [((), value)]
    while level := [(path, item) for path, item in level if isinstance(item, (dict, list))]:
        if len(level[0][0]) >= levels:
            return level[0][0]
        level = [
            ((*path, name), child)
            for path, item in level
            for name, child in (item.items() if isinstance(item, dict) else enumerate(item))
        ]
    return None


class _Checker(Struct):
    """One walk over a schema. Each method returns nothing and adds what it finds to ``faults``."""

    faults: list[SchemaFault] = field(default_factory=list)
    budget: Budget = field(default_factory=lambda: Budget(_ALLOWANCE))

    def schema(self, schema: Json, path: SchemaPath) -> None:
        """Check ``schema``, which stands at ``path``."""
        if not isinstance(schema, dict):
            hint = "write a mapping such as {type: string}; an empty one, {}, accepts everything"
            self._malformed(path, f"a schema has to be a mapping, found {found(schema)}", hint)
            return
        before = len(self.faults)
        for keyword, value in schema.items():
            self._keyword(keyword, value, schema, (*path, keyword))
        if len(self.faults) == before:
            self._enum_members(schema, path)
            self._default(schema, path)

    def _keyword(self, keyword: str, value: Json, schema: JsonObject, path: SchemaPath) -> None:
        if keyword in COUNTS:
            self._count(keyword, value, path)
        elif keyword in LIMITS:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                self._malformed(path, f"`{keyword}` has to be a number, found {found(value)}", "write a number")
        elif keyword in SCHEMA_LISTS:
            self._schema_list(keyword, value, path)
        elif keyword in ENFORCED:
            _CHECKS[keyword](self, value, path)
        elif not is_annotation(keyword):
            self.faults.append(foreign_keyword(keyword, schema, path))

    def type_(self, value: Json, path: SchemaPath) -> None:
        """``type``: a name or a non-empty list of different names."""
        if not isinstance(value, list):
            self._type_name(value, path)
        elif not value:
            self._malformed(path, "`type` is an empty list, which no value satisfies", f"name one of: {TYPE_NAMES}")
        else:
            for index, name in enumerate(value):
                self._type_name(name, (*path, index))
            self._repeated("type", value, path)

    def _type_name(self, name: Json, path: SchemaPath) -> None:
        if not isinstance(name, str) or name not in TYPES:
            self.faults.append(bad_type_name(name, path))

    def enum(self, value: Json, path: SchemaPath) -> None:
        """``enum``: a non-empty list of any values."""
        if not isinstance(value, list):
            self._malformed(path, f"`enum` has to be a list of values, found {found(value)}", "put it in a list: [...]")
        elif not value:
            self._malformed(path, "`enum` is an empty list, which no value satisfies", "list the allowed values")

    def properties(self, value: Json, path: SchemaPath) -> None:
        """``properties``: a mapping of names to schemas."""
        if not isinstance(value, dict):
            hint = "write each property as `name: schema`"
            self._malformed(path, f"`properties` has to be a mapping of names to schemas, found {found(value)}", hint)
            return
        for name, child in value.items():
            self.schema(child, (*path, name))

    def required(self, value: Json, path: SchemaPath) -> None:
        """``required``: a list of different names."""
        if not isinstance(value, list):
            hint = "`required` stands on the object and lists names: required: [name]"
            self._malformed(path, f"`required` has to be a list of property names, found {found(value)}", hint)
            return
        for index, name in enumerate(value):
            if not isinstance(name, str):
                message = f"`required` lists property names, found {found(name)}"
                self._malformed((*path, index), message, "write the name as text")
        self._repeated("required", value, path)

    def items(self, value: Json, path: SchemaPath) -> None:
        """``items``: one schema for every element."""
        if isinstance(value, list):
            message = "a list of schemas in `items` (a tuple) is not enforced"
            help_ = "give one schema for every element, or use an object with named properties"
            self.faults.append(SchemaFault("unsupported-keyword", path, "key", message, help_))
        else:
            self.schema(value, path)

    def additional_properties(self, value: Json, path: SchemaPath) -> None:
        """``additionalProperties``: ``false``, or ``true``, which says nothing."""
        if isinstance(value, dict):
            message = "a schema in `additionalProperties` is not enforced, only `false` is"
            help_ = "list the names under `properties`, or use an array of objects with a name and a value"
            self.faults.append(SchemaFault("unsupported-keyword", path, "key", message, help_))
        elif not isinstance(value, bool):
            message = f"`additionalProperties` has to be true or false, found {found(value)}"
            self._malformed(path, message, "write false to close the object")

    def _count(self, keyword: str, value: Json, path: SchemaPath) -> None:
        whole = not isinstance(value, bool) and isinstance(value, (int, float)) and value == value // 1
        if not whole or not 0 <= cast(float, value) <= SAFE_INTEGER:
            message = f"`{keyword}` has to be a whole number from 0, found {found(value)}"
            self._malformed(path, message, "write a whole number")

    def _schema_list(self, keyword: str, value: Json, path: SchemaPath) -> None:
        if not isinstance(value, list) or not value:
            message = f"`{keyword}` has to be a non-empty list of schemas, found {found(value)}"
            self._malformed(path, message, "list one schema or more")
            return
        for index, child in enumerate(value):
            self.schema(child, (*path, index))

    def _repeated(self, keyword: str, names: list[Json], path: SchemaPath) -> None:
        seen: set[str] = set()
        for index, name in enumerate(names):
            if not isinstance(name, str):
                continue
            if name in seen:
                self._malformed((*path, index), f"`{keyword}` lists {quoted(name)} twice", "remove one of the two")
            seen.add(name)

    def _enum_members(self, schema: JsonObject, path: SchemaPath) -> None:
        rest = {keyword: value for keyword, value in schema.items() if keyword != "enum"}
        constraints = ENFORCED & rest.keys()
        if "enum" not in schema or not constraints:
            return
        names = rest.get("type", [])
        types = cast("list[str]", names if isinstance(names, list) else [names])
        for index, member in enumerate(cast("list[Json]", schema["enum"])):
            if constraints == {"type"} and any(has_type(member, name) for name in types):
                continue  # the usual case, decided without an evaluation for each member
            self._conforms(rest, member, (*path, "enum", index), "this member of `enum`")

    def _default(self, schema: JsonObject, path: SchemaPath) -> None:
        if "default" in schema:
            self._conforms(schema, schema["default"], (*path, "default"), "the `default`")

    def _conforms(self, schema: JsonObject, value: Json, path: SchemaPath, what: str) -> None:
        if self.budget.left < 0:
            return
        verdict = validate(schema, value, budget=self.budget)
        if self.budget.left < 0:
            message = f"checking the defaults and enums of this schema takes more than {_ALLOWANCE} checks"
            self.faults.append(SchemaFault("bound", path, "value", message, "simplify the schema"))
        elif not verdict.ok:
            first = verdict.errors[0]
            place = f"{first.pointer}: " if first.pointer else ""
            message = f"{what} does not satisfy its own schema: {place}{first.message}"
            self.faults.append(SchemaFault("bad-default", path, "value", message, "change the value or the schema"))

    def _malformed(self, path: SchemaPath, message: str, help_: str) -> None:
        self.faults.append(SchemaFault("malformed", path, "value", message, help_))


_CHECKS: Final = {
    "type": _Checker.type_,
    "enum": _Checker.enum,
    "properties": _Checker.properties,
    "required": _Checker.required,
    "items": _Checker.items,
    "additionalProperties": _Checker.additional_properties,
    "not": _Checker.schema,
}
