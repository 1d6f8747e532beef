"""Reading a chat completion: the text of its first choice, how it finished, and the tokens it reports."""

from __future__ import annotations

from typing import TypeAlias

import msgspec
from msgspec import Struct

from akm_run.dispatch.foreign_json import parsed

TokenCount: TypeAlias = int | float | None


class _Part(msgspec.Struct):
    """A part of a message in parts; others than texts carry none."""

    text: str | None = None


class _Message(msgspec.Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]


class _Usage(msgspec.Struct):
    total_tokens: TokenCount = None
    prompt_tokens: TokenCount = None
    completion_tokens: TokenCount = None


class _Reporting(msgspec.Struct):
    usage: _Usage | None = None


class Completion(Struct, frozen=True):
    """What a model said. ``finish`` is the finish reason; ``refused``: it declined instead of answering.
    ``tokens`` are those of prompt and completion together, ``None`` when unreported."""

    text: str
    finish: str | None
    refused: bool
    tokens: int | None


class NoCompletion(Exception):
    """The body is no chat completion; the message says why and quotes nothing of it."""

    def __init__(self, why: str, tokens: int | None = None) -> None:
        super().__init__(why)
        self.tokens = tokens


def read_completion(body: bytes) -> Completion:
    """The completion in ``body``; raises NoCompletion.

    Invalid UTF-8 and lone surrogates become U+FFFD, as in the output of a program: the strict rules for answers are
    applied to the text, not to what it travels in.
    """
    try:
        value = parsed(body.decode("utf-8", "replace"))
    except ValueError as error:
        raise NoCompletion(f"it is not JSON ({error})") from None
    except RecursionError:
        raise NoCompletion("it is nested too deeply") from None
    tokens = _tokens(value)
    try:
        completion = msgspec.convert(value, _Completion)
    except msgspec.ValidationError as error:
        raise NoCompletion(str(error), tokens) from None
    if not completion.choices:
        raise NoCompletion("it has no choices", tokens)
    choice = completion.choices[0]
    message = choice.message
    refused = bool(message.refusal) and not message.content
    return Completion(_text(message.content), choice.finish_reason, refused, tokens)


def _text(content: str | list[_Part] | None) -> str:
    if isinstance(content, list):
        content = "".join(part.text or "" for part in content)
    return (content or "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _tokens(value: object) -> int | None:
    """The reported tokens, ``None`` where nothing usable is reported: an odd report must not cost an answer."""
    try:
        usage = msgspec.convert(value, _Reporting).usage
    except msgspec.ValidationError:
        return None
    if usage is None:
        return None
    if usage.total_tokens is not None:
        return _count(usage.total_tokens)
    parts = [count for count in (usage.prompt_tokens, usage.completion_tokens) if count is not None]
    return _count(sum(parts)) if parts else None


def _count(number: int | float) -> int | None:
    return int(number) if number >= 0 and number == number and number != float("inf") else None
