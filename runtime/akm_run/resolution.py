"""Reading references from params and promoted artifacts (spec 3, section 3: ``inputs`` and nulls by name)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

from akm_schemas.counting import counted
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.references import Reference


class Found(Struct, frozen=True):
    """A value. ``why`` says why it is null, naming the reference; ``None`` for every other value."""

    value: Json
    why: str | None = None


class WrongKind(Struct, frozen=True):
    """The path walks through a value that cannot be walked through."""

    why: str


Resolved: TypeAlias = Found | WrongKind


class Producer(Struct, frozen=True):
    """What a finished step offers to references."""

    status: Literal["completed", "skipped"]
    artifact: Json


def kind_of(value: Json) -> str:
    """The JSON kind with its article, for messages: ``a string``."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case list():
            return "an array"
        case dict():
            return "an object"
    return "a number"


def quoted(name: str) -> str:
    """``name`` in double quotes, control characters escaped."""
    return json.dumps(name, ensure_ascii=False)


def resolve(reference: Reference, params: JsonObject, producer: Callable[[str], Producer | None]) -> Resolved:
    """The value of ``reference``; ``producer`` gives the finished step of a name."""
    if reference.root == "params":
        if reference.name not in params:
            return Found(None, f"{reference.text} is null: the param was omitted and has no default")
        return _named(params[reference.name], f"params.{reference.name}", reference)
    origin = f"steps.{reference.name}.output"
    step = producer(reference.name)
    if step is None:
        return Found(None, f"{reference.text} is null: step {quoted(reference.name)} has not finished")
    if step.status == "skipped":
        return Found(None, f"{reference.text} is null: step {quoted(reference.name)} was skipped")
    if step.artifact is None:
        return Found(None, f"{reference.text} is null: step {quoted(reference.name)} has no output")
    return _named(step.artifact, origin, reference)


def _named(value: Json, at: str, reference: Reference) -> Resolved:
    for part in reference.path:
        if isinstance(part, str):
            if value is not None and not isinstance(value, dict):
                return WrongKind(f"{at} is {kind_of(value)}: cannot read property {quoted(part)}")
            if value is None or part not in value:
                lacks = "is null" if value is None else f"has no property {quoted(part)}"
                return Found(None, f"{reference.text} is null: {at} {lacks}")
            value, at = value[part], f"{at}.{part}"
        else:
            if value is not None and not isinstance(value, list):
                return WrongKind(f"{at} is {kind_of(value)}: cannot read index {part}")
            if value is None or part >= len(value):
                lacks = "is null" if value is None else f"has {counted(len(value), 'item')}, so no index {part}"
                return Found(None, f"{reference.text} is null: {at} {lacks}")
            value, at = value[part], f"{at}[{part}]"
    return Found(value, f"{at} is null" if value is None else None)
