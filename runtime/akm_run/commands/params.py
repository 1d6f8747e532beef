"""Params of a new run: read from flags and a file by their declared types (spec 3, sections 1 and 5).

No message shows a value: it may be a secret.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

from msgspec import UNSET, Struct, field

from akm_run.bindings import missing_params, with_defaults
from akm_run.console import listed
from akm_run.faults import UsageFault
from akm_run.resolution import Found, resolve
from akm_run.routing import routers_of
from akm_run.values import is_text
from akm_schemas.bounds import MAP_ITEMS, SAFE_INTEGER, STRICT_JSON_DEPTH
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import Plan
from akm_schemas.spelling import nearest
from akm_schemas.strict_json import JsonFault, parse_json
from akm_schemas.subset_validate import validate

_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
# Without a type: what is written as an object or array is one, any other word is text first
_UNTYPED: Final = ("object", "array", "string", "number", "boolean", "null")
# ... unless a keyword that speaks of one type only tells what the author has in mind
_HINTS: Final = (
    ("object", frozenset({"properties", "required", "additionalProperties"})),
    ("array", frozenset({"items", "minItems", "maxItems", "uniqueItems"})),
    ("number", frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})),
    ("string", frozenset({"minLength", "maxLength", "pattern", "format"})),
)
_NOTHING: Final = object()


class Flag(Struct):
    """What stood behind one flag, in order; ``None`` for the flag alone."""

    words: list[str | None] = field(default_factory=list)


def collect_flags(tokens: Sequence[str], declared: Mapping[str, JsonObject]) -> dict[str, Flag]:
    """Flags of declared params with their words; raises UsageFault for anything else."""
    flags: dict[str, Flag] = {}
    position = 0
    while position < len(tokens):
        token = tokens[position]
        position += 1
        if not token.startswith("--") or token == "--":
            raise UsageFault("found a word that belongs to no flag", _help_for_word(tokens[: position - 1], declared))
        name, equals, word = token[2:].partition("=")
        if name not in declared:
            raise UsageFault(f'unknown flag "--{name}"', _help_for(name, declared))
        value: str | None = word if equals else None
        if not equals and position < len(tokens) and _is_value(tokens[position], declared[name]):
            value = tokens[position]
            position += 1
        flags.setdefault(name, Flag()).words.append(value)
    return flags


def _known(declared: Mapping[str, JsonObject]) -> str:
    return f"declared params: {listed(declared)}"


def _help_for_word(before: Sequence[str], declared: Mapping[str, JsonObject]) -> str:
    """What to say of a word that follows ``before``: it may be meant for a flag that took none."""
    name = before[-1][2:] if before and before[-1].startswith("--") else ""
    if name in declared:
        return f"write --{name}=VALUE where it begins with -"
    return f"params are given as --NAME VALUE; {_known(declared)}"


def _help_for(name: str, declared: Mapping[str, JsonObject]) -> str:
    close = nearest(name, declared)
    return f'did you mean "--{close}"?' if close else _known(declared)


def _is_value(token: str, schema: JsonObject) -> bool:
    if not token.startswith("-") or token == "-":
        return True
    numeric = any(name in ("integer", "number") for name in types_of(schema))
    return numeric and _NUMBER.fullmatch(token) is not None


def types_of(schema: JsonObject) -> tuple[str, ...]:
    """The types to try, in the order written; without any, those first that the other keywords speak of."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    if isinstance(declared, list):
        return tuple(str(name) for name in declared)
    hinted = tuple(name for name, keywords in _HINTS if not keywords.isdisjoint(schema))
    return hinted + tuple(name for name in _UNTYPED if name not in hinted)


def read_flag(name: str, flag: Flag, schema: JsonObject) -> Json:
    """The value of a param; raises UsageFault that names the flag and what was expected."""
    types = types_of(schema)
    if any(word is not None and not is_text(word) for word in flag.words):
        raise UsageFault(f"--{name}: the value is not valid UTF-8")
    if len(flag.words) > 1:
        return _checked(name, schema, list(_repeated(name, flag, schema, types)))
    word = flag.words[0]
    if word is None:
        if "boolean" not in types:
            raise UsageFault(
                f"--{name} needs a value ({described(schema)})", f"write --{name}=VALUE where it begins with -"
            )
        return _checked(name, schema, [True])
    lone = "array" in types and len(types) == 1
    return _checked(name, schema, list(_readings(word, types, schema, lone=lone)), flag.words)


def _repeated(name: str, flag: Flag, schema: JsonObject, types: tuple[str, ...]) -> Iterator[Json]:
    if "array" not in types or ("type" not in schema):
        raise UsageFault(
            f"--{name} is given {len(flag.words)} times ({described(schema)})", "only arrays take a flag more than once"
        )
    items = schema.get("items")
    item_schema = items if isinstance(items, dict) else {}
    values: list[Json] = []
    for number, word in enumerate(flag.words, 1):
        value = _NOTHING if word is None else _element(word, item_schema)
        if value is _NOTHING:
            raise UsageFault(f"--{name}: value {number} is no item of the array; expected {described(item_schema)}")
        values.append(cast(Json, value))
    yield values


def _element(word: str, schema: JsonObject) -> object:
    types = types_of(schema)
    for value in _readings(word, types, schema, lone=False):
        if validate(schema, value).ok:
            return value
    return _NOTHING


def _readings(word: str, types: tuple[str, ...], schema: JsonObject, *, lone: bool) -> Iterator[Json]:
    """The values that ``word`` can stand for, in the order of ``types``; ``lone``: it may be an array's only item."""
    for name in types:
        value = _reading(word, name)
        if value is not _NOTHING:
            yield cast(Json, value)
        elif name == "array" and lone and not word.lstrip().startswith("["):
            items = schema.get("items")
            element = _element(word, items if isinstance(items, dict) else {})
            if element is not _NOTHING:
                yield [cast(Json, element)]


def _reading(word: str, name: str) -> object:
    match name:
        case "string":
            return word
        case "boolean":
            return {"true": True, "false": False}.get(word, _NOTHING)
        case "null":
            return None if word == "null" else _NOTHING
        case "integer" | "number":
            return _number(word, integer=name == "integer")
    value = _json(word)
    return value if isinstance(value, list if name == "array" else dict) else _NOTHING


def _number(word: str, *, integer: bool) -> object:
    if not _NUMBER.fullmatch(word):
        return _NOTHING
    if re.fullmatch(r"-?[0-9]+", word, re.ASCII):
        if len(word) > len(str(SAFE_INTEGER)) + 1 or abs(int(word)) > SAFE_INTEGER:
            return _NOTHING
        return int(word)
    value = float(word)
    if not math.isfinite(value) or (integer and not value.is_integer()):
        return _NOTHING
    return int(value) if value.is_integer() and abs(value) <= SAFE_INTEGER else value


def _json(word: str) -> object:
    try:
        return parse_json(word, max_depth=STRICT_JSON_DEPTH.high)
    except JsonFault:
        return _NOTHING


def _why_unread(words: Iterable[str | None], types: Container[str]) -> str | None:
    """What keeps a word from being the number, object or array that it looks like; shows nothing of the word."""
    for word in words:
        if word is None:
            continue
        if ("integer" in types or "number" in types) and _NUMBER.fullmatch(word):
            whole = re.fullmatch(r"-?[0-9]+", word, re.ASCII) is not None
            if whole and _number(word, integer=True) is _NOTHING:
                return "the number is beyond +-2^53, where integers are not exact in JSON"
        if ("object" in types or "array" in types) and word.lstrip()[:1] in ("{", "["):
            try:
                parse_json(word, max_depth=STRICT_JSON_DEPTH.high)
            except JsonFault as fault:
                return f"not strict JSON: {_reason(fault)}"
    return None


def _reason(fault: JsonFault, declared: Iterable[str] = ()) -> str:
    """What is wrong with a JSON text, without names in it that are not declared: those may be secret."""
    if fault.message.startswith("the name ") and not any(f'the name "{name}" ' in fault.message for name in declared):
        return "a name is given twice in one object"
    return fault.message


def _checked(name: str, schema: JsonObject, candidates: Sequence[Json], words: Sequence[str | None] = ()) -> Json:
    for value in candidates:
        if validate(schema, value).ok:
            return value
    unread = _why_unread(words, types_of(schema))
    if unread is not None:
        raise UsageFault(f"--{name}: {unread}", f"expected {described(schema)}")
    why = [f"found a value that is not {described(schema)}"] if not candidates else misses(schema, candidates[0])
    raise UsageFault(f"--{name}: " + "; ".join(why), f"expected {described(schema)}")


def misses(schema: JsonObject, value: Json) -> list[str]:
    """Why ``value`` does not fit, without its own property names: those were written by the caller too."""
    lines = []
    for miss in validate(schema, value).errors:
        undeclared = miss.message.startswith("the property ")
        text = "has a property that the schema does not allow" if undeclared else miss.message
        lines.append(f"{miss.pointer}: {text}" if miss.pointer else text)
    return lines


def described(schema: JsonObject) -> str:
    """A schema in a few words: type, allowed values, bounds."""
    from akm_schemas.canonical import canonical_text

    named = schema.get("type")
    words = [" or ".join(types_of(schema)) if named is not None else "any value"]
    items = schema.get("items")
    if named is not None and "array" in types_of(schema) and isinstance(items, dict) and items:
        words[0] += f" of ({described(items)})"
    if "enum" in schema:
        words.append(f"one of {canonical_text(schema['enum'])}")
    for key in ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"):
        if key in schema:
            words.append(f"{key} {canonical_text(schema[key])}")
    return ", ".join(words)


def read_params_file(text: bytes, declared: Mapping[str, JsonObject]) -> JsonObject:
    """The params of ``--params-file``: one strict JSON object of declared params, each checked."""
    try:
        value = parse_json(text, max_depth=STRICT_JSON_DEPTH.high)
    except JsonFault as fault:
        raise UsageFault(
            f"--params-file is not strict JSON{_where(fault, declared)}: {_reason(fault, declared)}",
            "it holds one JSON object: name -> value",
        ) from fault
    if not isinstance(value, dict):
        raise UsageFault("--params-file holds no JSON object", "it holds one JSON object: name -> value")
    for name in value:
        if name not in declared:
            raise UsageFault(f'--params-file: unknown param "{name}"', _help_for(name, declared).replace('"--', '"'))
        if errors := misses(declared[name], value[name]):
            raise UsageFault(
                f'--params-file: param "{name}": ' + "; ".join(errors), f"expected {described(declared[name])}"
            )
    return value


def _where(fault: JsonFault, declared: Mapping[str, JsonObject]) -> str:
    """The place of a fault: a byte, or the declared param that it is in."""
    if fault.offset is not None:
        return f" at byte {fault.offset}"
    name = re.split(r"[.\[]", fault.path or "", maxsplit=1)[0]
    return f' (in param "{name}")' if name in declared else ""


def effective_params(
    plan: Plan, tokens: Sequence[str], params_file: bytes | None, taken: Container[str] = ()
) -> JsonObject:
    """All params of a new run: flags over the file over defaults; raises UsageFault before anything is created.

    ``taken`` are flags that mean an option of the command, so that no param comes in through them.
    """
    declared = plan.params
    given = {} if params_file is None else read_params_file(params_file, declared)
    for name, flag in collect_flags(tokens, declared).items():
        given[name] = read_flag(name, flag, declared[name])
    given = with_defaults(given, declared)
    for reference in missing_params(plan, given):
        raise UsageFault(
            f'param "{reference.name}" is missing: {reference.text} needs it, and it has no default',
            _how_to_give(reference.name, declared.get(reference.name, {}), taken),
        )
    _require_maps_that_fit(plan, given)
    return given


def _require_maps_that_fit(plan: Plan, params: JsonObject) -> None:
    """Refuse items that a map is sure to fail on, before earlier steps have been paid for.

    A step that a route may skip is left alone.
    """
    routed = routers_of(plan)
    for step in plan.steps:
        if step.map is UNSET or step.map.over.root != "params" or step.id in routed:
            continue
        over = step.map.over
        found = resolve(over, params, lambda _: None)
        value = found.value if isinstance(found, Found) else None
        if isinstance(value, list) and not MAP_ITEMS.holds(len(value)):
            raise UsageFault(
                f'{over.text} has {len(value)} items: the map of step "{step.id}" takes at most {MAP_ITEMS.high} items',
                "give fewer items, or one run of the plan for each part of them",
            )


def _how_to_give(name: str, schema: JsonObject, taken: Container[str]) -> str:
    if f"--{name}" not in taken:
        return f"give --{name} ({described(schema)})"
    return f'give it in --params-file ({described(schema)}): "--{name}" is an option of akm-run'
