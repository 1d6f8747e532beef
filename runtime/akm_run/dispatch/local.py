"""What exec, script and command-agent units share: one process on this machine, from request to result."""

from __future__ import annotations

import codecs
import os
import signal
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from akm_run.answers import Answer, AnswerReader, json_answer, text_answer
from akm_run.dispatch.contract import Cancel, UnitRequest, UnitResult
from akm_run.dispatch.live_log import live_log
from akm_run.dispatch.outcome import UnitFault, failed
from akm_run.dispatch.platforms.contract import Reader, Reading
from akm_run.dispatch.process import DRAIN_GRACE_S, TAIL_BYTES, ProcessRecord, run_process
from akm_run.dispatch.spawn import Programs, Spawn, SpawnFault, find_program
from akm_run.dispatch.wrapped import Opened, answer_in, failure_in, opened
from akm_run.environment import Environment, environment_of
from akm_run.redaction import Redactor
from akm_schemas.bounds import STDOUT_BYTES
from akm_schemas.counting import counted
from akm_schemas.json_types import JsonObject

TRUNCATION_MARK: Final = "[__akm_exec_output_truncated__]"


class Invocation(Struct, frozen=True):
    """What to start for a unit.

    ``cwd`` is relative to the unit's base and must not lead out of it when it is ``contained``. ``fallback`` is a program for the case that
    ``argv[0]`` is not on the unit's PATH. ``variables`` are set below env bindings, ``credentials`` are values to scrub.
    ``read`` reads the output of a unit with a schema; ``unwrap`` what a harness wraps its answers in.
    """

    argv: tuple[str, ...]
    cwd: str | None = None
    contained: bool = True
    pass_env: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    credentials: tuple[str, ...] = ()
    stdin: bytes | None = None
    fallback: str | None = None
    read: AnswerReader = json_answer
    unwrap: Reader | None = None


def perform_process(request: UnitRequest, cancel: Cancel, invocation: Invocation) -> UnitResult:
    """Run one process for a unit and make a result of it; every failure is a result."""
    if cancel.is_set():
        return failed("aborted", "cancelled before it was started")
    notices: list[str] = []
    try:
        environment = environment_of(request, invocation.pass_env, credentials=invocation.credentials)
        notices.extend(environment.notices)
        with _base(request, notices) as base:
            result = _run(request, cancel, invocation, environment, base)
    except UnitFault as fault:
        result = failed(fault.reason, fault.message)
    return replace(result, notices=(*notices, *result.notices)) if notices else result


def resolve_cwd(base: Path, cwd: str | None, *, contained: bool = True) -> str:
    """The absolute directory to start in, links resolved.

    Raises UnitFault: ``exec_cwd_escape`` where a ``contained`` ``cwd`` leads out of ``base``, ``spawn_failed`` where it leads nowhere.
    """
    if cwd is None:
        return str(base)
    try:
        top = os.path.realpath(base, strict=True)
        place = os.path.realpath(base / cwd, strict=True)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise UnitFault("spawn_failed", f"the working directory {cwd!r} cannot be used: {reason}") from None
    if contained and place != top and not place.startswith(os.path.join(top, "")):  # noqa: PTH118 - "/" stays "/"
        raise UnitFault(
            "exec_cwd_escape", f"the working directory {cwd!r} leads out of {str(base)!r}, to {place!r}; keep it inside"
        )
    return place


def _base(request: UnitRequest, notices: list[str]) -> AbstractContextManager[Path]:
    if request.isolation == "none":
        return nullcontext(request.workspace)
    from akm_run.dispatch.worktree import worktree

    return worktree(request, notices)


def _run(
    request: UnitRequest, cancel: Cancel, invocation: Invocation, environment: Environment, base: Path
) -> UnitResult:
    redactor = environment.redactor
    cwd = resolve_cwd(base, invocation.cwd, contained=invocation.contained)
    argv = _with_fallback(invocation, environment, cwd)
    variables = {**invocation.variables, **environment.variables}
    try:
        spawn = Spawn(argv, variables, cwd, invocation.stdin, request.timeout_s, _programs(request))
        with live_log(request.log, redactor) as log:
            record = run_process(spawn, cancel, log.take)
    except SpawnFault as fault:
        raise UnitFault("spawn_failed", redactor.text(str(fault))) from None
    result = result_of(record, request, redactor, argv[0], invocation)
    return result if log.fault is None else replace(result, notices=(*result.notices, log.fault))


def _programs(request: UnitRequest) -> Programs | None:
    """Shared by the units of a step that start in one directory; an isolated one has a directory of its own."""
    if request.ambient is None or request.isolation != "none":
        return None
    return request.ambient.programs(request.run_id, request.step_id)


def _with_fallback(invocation: Invocation, environment: Environment, cwd: str) -> tuple[str, ...]:
    if invocation.fallback is None:
        return invocation.argv
    for program in (invocation.argv[0], invocation.fallback):
        try:
            find_program(program, environment.variables.get("PATH"), cwd)
        except SpawnFault:
            continue
        return (program, *invocation.argv[1:])
    return invocation.argv


def result_of(
    record: ProcessRecord, request: UnitRequest, redactor: Redactor, program: str, invocation: Invocation
) -> UnitResult:
    """The result that the end of a process stands for: first how it ended, then what it printed."""
    cut = record.stderr_bytes > len(record.stderr_tail)
    stderr = redactor.text(record.stderr_tail[-TAIL_BYTES:].decode(errors="replace"), cut_front=cut)
    notices = tuple(redactor.text(notice) for notice in _notices(record))
    ending = _bad_ending(record, request, program)
    found = None if invocation.unwrap is None else opened(record, invocation.unwrap, program)
    if ending is not None:
        reason, message = ending
        result = failed(reason, redactor.text(message + failure_in(found)), stderr=stderr, notices=notices)
    else:
        answer, more = _answer(record, request, redactor, invocation, found)
        result = _result(answer, stderr, (*notices, *more))
    return replace(result, tokens=found.tokens) if isinstance(found, Reading) else result


def _answer(
    record: ProcessRecord, request: UnitRequest, redactor: Redactor, invocation: Invocation, found: Opened | None
) -> tuple[Answer, tuple[str, ...]]:
    """What a process that ended well printed, and notices about it."""
    if found is not None:
        return answer_in(found, request.schema, redactor, invocation.argv[0], invocation.read), ()
    if request.schema is not None:
        return _schema_answer(record, request.schema, redactor, invocation.read), ()
    return _text(record, redactor)


def _result(answer: Answer, stderr: str, notices: tuple[str, ...]) -> UnitResult:
    if answer.failure_reason is None:
        return UnitResult(value=answer.value, notices=notices)
    return failed(answer.failure_reason, answer.message, stderr=stderr, notices=notices, errors=answer.errors)


def _bad_ending(record: ProcessRecord, request: UnitRequest, program: str) -> tuple[str, str] | None:
    """Reason and message of a process that did not end as it should."""
    if record.stopped == "timeout":
        return "timeout", f"{program!r} ran longer than {request.timeout_s:g} s"
    if record.stopped == "cancelled":
        return "aborted", f"{program!r} was ended because the run was interrupted"
    if record.returncode is None:
        return "non_zero_exit", f"{program!r} does not end, not even by SIGKILL"
    if record.returncode < 0:
        return "non_zero_exit", f"{program!r} was killed by {_signal_name(-record.returncode)}"
    if record.returncode > 0:
        return "non_zero_exit", f"{program!r} exited with status {record.returncode}"
    if record.stdout_held:
        holders = ", ".join(record.holders) or "a process that it started"
        return "exec_capture_incomplete", (
            f"{program!r} exited with status 0, but {DRAIN_GRACE_S:g} s later stdout was still held open by {holders}; "
            "wait for background processes or redirect their output"
        )
    return None


def _notices(record: ProcessRecord) -> list[str]:
    notices: list[str] = []
    if record.stderr_held and not record.stdout_held:
        holders = ", ".join(record.holders) or "a process that it started"
        notices.append(f"stderr was still held open by {holders} {DRAIN_GRACE_S:g} s after the exit, and was cut there")
    if record.outsiders:
        notices.append(f"left alone, being in sessions of their own: {', '.join(record.outsiders)}")
    if record.survivors:
        notices.append(f"still there in spite of SIGKILL: {', '.join(record.survivors)}")
    return notices


def _schema_answer(record: ProcessRecord, schema: JsonObject, redactor: Redactor, read: AnswerReader) -> Answer:
    if record.stdout_bytes > STDOUT_BYTES.high:
        message = f"stdout has {record.stdout_bytes} bytes, and JSON cannot be read from the {STDOUT_BYTES.high} that are kept"
        return Answer(failure_reason="exec_output_limit", message=message)
    try:
        text = record.stdout.decode()
    except UnicodeDecodeError as error:
        message = f"stdout is not valid UTF-8 at byte {error.start}, so it is no JSON"
        return Answer(failure_reason="parse_error", message=message, errors=(message,))
    return read(text, schema, redactor)


def _text(record: ProcessRecord, redactor: Redactor) -> tuple[Answer, tuple[str, ...]]:
    """The artifact of a unit without schema, and a notice about bytes that were no text."""
    truncated = record.stdout_bytes > len(record.stdout)
    text, kept = _decoded_start(record.stdout) if truncated else (record.stdout.decode(errors="replace"), 0)
    notices: tuple[str, ...] = ()
    if "\ufffd" in text and (count := text.count("\ufffd") - record.stdout.count("\ufffd".encode())) > 0:
        notices = (f"stdout is not valid UTF-8: U+FFFD stands in {counted(count, 'place')}",)
    if not truncated:
        return text_answer(text, redactor), notices
    text = redactor.text(text, cut_end=True)
    separator = "" if text.endswith("\n") else "\n"
    block = f"{TRUNCATION_MARK} stdout had {record.stdout_bytes} bytes, the first {kept} were kept"
    return Answer(f"{text}{separator}{block}"), notices


def _decoded_start(data: bytes) -> tuple[str, int]:
    """The text of bytes that were cut off somewhere, and how many of them it stands for."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data)
    return text, len(data) - len(decoder.getstate()[0])


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} (signal {number})"
    except ValueError:
        return f"signal {number}"
