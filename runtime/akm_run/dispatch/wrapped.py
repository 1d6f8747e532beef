"""Answers that a harness wraps in JSON of its own: opened first, then read like any other answer."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from akm_run.answers import Answer, AnswerReader, text_answer
from akm_run.dispatch.platforms.contract import Reader, Reading, UnreadableOutput
from akm_run.dispatch.process import ProcessRecord
from akm_run.redaction import Redactor
from akm_schemas.bounds import STDOUT_BYTES
from akm_schemas.json_types import JsonObject


class Unreadable(Struct, frozen=True):
    """A stdout that could not be opened: a failure reason and what to say."""

    reason: str
    message: str


Opened: TypeAlias = Reading | Unreadable


def opened(record: ProcessRecord, read: Reader, program: str) -> Opened:
    """What a harness printed, by the rules of its platform; not redacted."""
    if record.stdout_bytes > STDOUT_BYTES.high:
        message = (
            f"{program!r} printed {record.stdout_bytes} bytes, and its answer is not in the {STDOUT_BYTES.high} kept"
        )
        return Unreadable("exec_output_limit", message)
    try:
        return read(record.stdout.decode(errors="replace"))
    except UnreadableOutput as fault:
        message = f"{program!r} did not print what it should: {fault}; its version may be one that works otherwise"
        return Unreadable("llm_invalid_json", message)


def answer_in(found: Opened, schema: JsonObject | None, redactor: Redactor, program: str, read: AnswerReader) -> Answer:
    """The answer of a program that ended well."""
    if isinstance(found, Unreadable):
        return Answer(failure_reason=found.reason, message=found.message)
    if found.error is not None:
        message = redactor.text(f"{program!r} reports a failure: {found.error}")
        return Answer(failure_reason="non_zero_exit", message=message)
    return text_answer(found.text, redactor) if schema is None else read(found.text, schema, redactor)


def failure_in(found: Opened | None) -> str:
    """What a program that ended badly says of the failure itself, as the rest of a message; often empty."""
    return f": {found.error}" if isinstance(found, Reading) and found.error else ""
