"""From what a program or a model printed to the value of a unit.

Text is scrubbed before anything else is made of it. For a unit with a schema the scrubbed value is what is validated
and stored; a miss that scrubbing alone has caused says so, or its author would search the program for the fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct

from akm_run.redaction import Redactor
from akm_schemas.bounds import STRICT_JSON_DEPTH
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.strict_json import JsonFault, parse_json
from akm_schemas.subset_validate import validate

_FENCED: Final = re.compile(
    r"[ \t\r\n]*(?P<fence>`{3,}|~{3,})[^`\r\n]*\r?\n(?P<body>.*)\n[ \t]*(?P=fence)[ \t\r\n]*", re.S
)
_REDACTION_MISS: Final = "only because the values of env bindings were redacted first"


class Answer(Struct, frozen=True):
    """A value, or ``failure_reason`` (``parse_error``, ``validation_error``) with a message and the schema misses."""

    value: Json = None
    failure_reason: str | None = None
    message: str = ""
    errors: tuple[str, ...] = ()


AnswerReader: TypeAlias = Callable[[str, JsonObject, Redactor], Answer]
"""Reads the answer to a unit with a schema, from its text."""


def text_answer(text: str, redactor: Redactor) -> Answer:
    """The artifact of a unit without schema: scrubbed, without newlines at its end; empty text is no output."""
    return Answer(redactor.text(text).rstrip("\n") or None)


def json_answer(text: str, schema: JsonObject, redactor: Redactor) -> Answer:
    """What a program printed: exactly one strict JSON value, blanks around it aside."""
    try:
        value = parse_json(text, max_depth=STRICT_JSON_DEPTH.high)
    except JsonFault as fault:
        return _unreadable(f"stdout is not exactly one JSON value: {redactor.text(str(fault))}")
    return _checked(text, value, schema, redactor)


def model_answer(text: str, schema: JsonObject, redactor: Redactor) -> Answer:
    """What a model or an agent answered: the whole text, else one fenced block that holds the whole value."""
    try:
        value = parse_json(text, max_depth=STRICT_JSON_DEPTH.high)
    except JsonFault as fault:
        block = _FENCED.fullmatch(text)
        if block is None:
            return _unreadable(f"the answer is not exactly one JSON value: {redactor.text(str(fault))}")
        text = block["body"]
        try:
            value = parse_json(text, max_depth=STRICT_JSON_DEPTH.high)
        except JsonFault as inner:
            return _unreadable(f"the fenced block is not exactly one JSON value: {redactor.text(str(inner))}")
    return _checked(text, value, schema, redactor)


def _checked(text: str, raw: Json, schema: JsonObject, redactor: Redactor) -> Answer:
    """Scrub, then validate."""
    if redactor.breaks_json(text):
        return _unreadable(
            "the answer is no JSON value any more once the value of an env binding is redacted in it; "
            "print it inside one JSON string, or not at all"
        )
    value = redactor.json(raw)
    verdict = validate(schema, value)
    if verdict.ok:
        return Answer(value)
    errors = tuple(redactor.text(line) for line in verdict.lines())
    message = "the answer does not satisfy the unit's schema"
    if value != raw and validate(schema, raw).ok:
        message = f"{message}, {_REDACTION_MISS}"
        errors = tuple(f"{error} ({_REDACTION_MISS})" for error in errors)
    return Answer(failure_reason="validation_error", message="\n".join((message, *errors)), errors=errors)


def _unreadable(message: str) -> Answer:
    return Answer(failure_reason="parse_error", message=message, errors=(message,))
