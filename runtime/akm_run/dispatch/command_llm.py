"""Llm engines: one chat-completions request for each unit, its answer the artifact (spec 3, section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import UNSET
from msgspec.structs import replace

from akm_run.answers import Answer, model_answer, text_answer
from akm_run.dispatch.contract import Cancel, UnitRequest, UnitResult
from akm_run.dispatch.llm_completion import Completion, NoCompletion, read_completion
from akm_run.dispatch.llm_credential import CredentialFault, credential_of
from akm_run.dispatch.llm_request import chat_body
from akm_run.dispatch.outcome import failed
from akm_run.environment import concealed_values
from akm_run.redaction import Redactor
from akm_schemas.bounds import STDOUT_BYTES
from akm_schemas.plan import CommandTarget, LlmEngine

if TYPE_CHECKING:
    from akm_run.dispatch.llm_exchange import Reply

_EXCERPT_CHARS: Final = 1000
_RATE_LIMITED: Final = 429


def perform(request: UnitRequest, cancel: Cancel) -> UnitResult:
    """Ask the model once. Retries, waits and corrections are the driver's."""
    target = request.target
    assert isinstance(target, CommandTarget)
    engine = target.engine
    assert isinstance(engine, LlmEngine)
    if request.env:
        return failed("env_unsupported", f"engine {engine.name!r} cannot carry env bindings; remove `env`")
    if cancel.is_set():
        return failed("aborted", "cancelled before it was started")
    try:
        credential = credential_of(engine)
    except CredentialFault as fault:
        return failed("llm_unreachable", str(fault))
    from akm_run.dispatch.llm_exchange import Ask, Broken, exchange

    headers = {} if credential is None else {"Authorization": f"Bearer {credential.value}"}
    redactor = Redactor([*concealed_values(request), *([] if credential is None else [credential.value])])
    outcome = exchange(Ask(engine.endpoint, chat_body(request, target), headers, request.timeout_s), cancel)
    if isinstance(outcome, Broken):
        result = failed(outcome.reason, redactor.text(outcome.message))
    elif not 200 <= outcome.status < 300:
        result = _http_failure(outcome, engine, redactor)
    elif not outcome.whole:
        result = failed("llm_invalid_json", f"the answer is longer than the {STDOUT_BYTES.high} bytes that are read")
    else:
        result = _read(outcome.body, request, target, redactor)
    return result if credential is None else replace(result, notices=(*credential.notices(), *result.notices))


def _http_failure(reply: Reply, engine: LlmEngine, redactor: Redactor) -> UnitResult:
    """The result for an answer that is no success, with what the server said about it."""
    said = redactor.text(" ".join(reply.body.decode("utf-8", "replace").split()))
    if len(said) > _EXCERPT_CHARS:
        said = f"{said[:_EXCERPT_CHARS]}…"
    status = redactor.text(f"HTTP {reply.status} {reply.phrase}".rstrip())
    message = "; ".join(part for part in (f"{status} from {engine.endpoint}", _advice(reply.status, engine)) if part)
    reason = "llm_rate_limit" if reply.status == _RATE_LIMITED else "llm_http_error"
    return replace(failed(reason, f"{message}: {said}" if said else message), retry_after_s=reply.retry_after_s)


def _advice(status: int, engine: LlmEngine) -> str:
    if 300 <= status < 400:
        return "redirects are not followed: name the final URL as the engine's endpoint and compile again"
    if status in (401, 403):
        key = "none, for the engine has no `apiKey`" if engine.api_key is UNSET else f"the value of {engine.api_key}"
        return f"the key sent was {key}"
    return ""


def _read(body: bytes, request: UnitRequest, target: CommandTarget, redactor: Redactor) -> UnitResult:
    """The result of a successful exchange: first how the model finished, then what it said."""
    try:
        completion = read_completion(body)
    except NoCompletion as fault:
        message = f"the endpoint's answer is no chat completion: {redactor.text(str(fault))}"
        return replace(failed("llm_invalid_json", message), tokens=fault.tokens)
    result = _unfinished(completion, target) or _answered(completion.text, request, redactor)
    return replace(result, tokens=completion.tokens)


def _unfinished(completion: Completion, target: CommandTarget) -> UnitResult | None:
    """The failure of a model that did not finish as it should."""
    if completion.refused:
        return failed("llm_content_filter", "the model refused to answer")
    if completion.finish == "content_filter":
        return failed("llm_content_filter", "the answer was withheld or cut by the endpoint's content filter")
    if completion.finish == "length":
        limit = target.llm.max_tokens if target.llm is not UNSET else UNSET
        advice = "set a larger `max_tokens`" if limit is UNSET else f"raise `max_tokens`, which is {limit}"
        return failed(
            "llm_invalid_json", f"the answer was cut at the limit of output tokens; {advice}, or ask for less"
        )
    return None


def _answered(text: str, request: UnitRequest, redactor: Redactor) -> UnitResult:
    schema = request.schema
    answer: Answer = text_answer(text, redactor) if schema is None else model_answer(text, schema, redactor)
    if answer.failure_reason is None:
        return UnitResult(value=answer.value)
    return failed(answer.failure_reason, answer.message, errors=answer.errors)
