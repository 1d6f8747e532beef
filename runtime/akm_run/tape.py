"""``--record`` and ``--replay``: answers of llm units, agents and judges, kept in a file and given again.

A recording is one JSON line: the attempt's id, its input hash with the parts, and the answer, which dispatchers have
redacted. Replaying answers from the recording with equal id and hash; several equal ones (a child that is composed
twice) are given in the order in which they were recorded, the last one as often as it is asked for.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final, Protocol

import msgspec
from msgspec import Struct

from akm_run.dispatch.contract import Cancel, Dispatcher, UnitRequest, UnitResult
from akm_run.faults import CommandFault, OutputFault, UsageFault
from akm_run.parts import Part, first_difference
from akm_run.private_file import append_private
from akm_run.values import as_journaled
from akm_schemas.bounds import RECORDING_BYTES, SAFE_INTEGER, STRICT_JSON_DEPTH, TIMEOUT_MS
from akm_schemas.json_types import Json
from akm_schemas.strict_json import JsonFault, parse_json

_HELP: Final = "name a file that --record has written"
_NESTING: Final = STRICT_JSON_DEPTH.high + 2  # an answer's value stands two levels down in its line


class RecordedAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What came of a dispatch; the fields of ``UnitResult``."""

    value: Json = None
    failure_reason: str | None = None
    diagnostic: str | None = None
    notices: tuple[str, ...] = ()
    tokens: Annotated[int, msgspec.Meta(ge=0, le=SAFE_INTEGER)] | None = None
    errors: tuple[str, ...] = ()
    retry_after_s: Annotated[float, msgspec.Meta(ge=0, le=TIMEOUT_MS.high / 1000)] | None = None


class RecordedPart(msgspec.Struct, frozen=True):
    """A part of an input hash."""

    name: str
    sha256: str


class Recording(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One line of a recording file."""

    unit: str
    input_hash: str
    parts: list[RecordedPart]
    answer: RecordedAnswer


class Asked(Struct, frozen=True):
    """An attempt that an engine is about to be asked for: its id, its input hash, and the parts of that."""

    unit_id: str
    input_hash: str
    parts: Sequence[Part]


class ReplayMiss(CommandFault):
    """Nothing was recorded for an attempt; ends the run's driver, and leaves the run as it is."""


class Tape(Protocol):
    """Stands between the driver and the engines."""

    @property
    def fault(self) -> OutputFault | None:
        """Why answers were lost to the tape; the run goes on without it."""

    def around(self, asked: Asked, dispatcher: Dispatcher) -> Dispatcher:
        """What performs the attempt instead of ``dispatcher``."""

    def close(self) -> None:
        """Give the file back, when no attempt is performed any more."""


class Recorder:
    """Appends every answer to a file as it comes. Raises UsageFault when the file cannot be opened."""

    def __init__(self, path: Path) -> None:
        self.fault: OutputFault | None = None
        self._lock = threading.Lock()
        self._path = path
        try:
            self._file = append_private(path)
        except OSError as error:
            message = f'cannot write --record "{path}": {error.strerror or error}'
            raise UsageFault(message, "name a file in a folder that is there, and that may be written to") from error

    def around(self, asked: Asked, dispatcher: Dispatcher) -> Dispatcher:
        """See ``Tape``. An aborted attempt has no answer worth keeping."""

        def perform(request: UnitRequest, cancel: Cancel) -> UnitResult:
            result = dispatcher(request, cancel)
            if result.failure_reason != "aborted":
                self._write(asked, result)
            return result

        return perform

    def close(self) -> None:
        """See ``Tape``."""
        with self._lock:
            self._file.close()

    def _write(self, asked: Asked, result: UnitResult) -> None:
        answer = RecordedAnswer(
            value=as_journaled(result.value),
            failure_reason=result.failure_reason,
            diagnostic=result.diagnostic,
            notices=result.notices,
            tokens=result.tokens,
            errors=result.errors,
            retry_after_s=result.retry_after_s,
        )
        parts = [RecordedPart(part.name, part.sha256) for part in asked.parts]
        line = Recording(unit=asked.unit_id, input_hash=asked.input_hash, parts=parts, answer=answer)
        rest = memoryview(msgspec.json.encode(line) + b"\n")
        with self._lock:
            try:
                while (
                    self.fault is None and rest and not self._file.closed
                ):  # the last bytes of a disk take less than they were given
                    rest = rest[self._file.write(rest) :]
            except OSError as error:
                help = "the run is not affected, and its recording is not whole"
                self.fault = OutputFault(f'cannot write --record "{self._path}": {error.strerror or error}', help)


class Replayer:
    """Answers from the recordings in a file; engines are never asked. Raises UsageFault for a file that is none."""

    fault: OutputFault | None = None  # nothing is written

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._all = _read(path)
        self._answers: dict[tuple[str, str], deque[RecordedAnswer]] = {}
        for line in self._all:
            self._answers.setdefault((line.unit, line.input_hash), deque()).append(line.answer)

    def around(self, asked: Asked, dispatcher: Dispatcher) -> Dispatcher:  # noqa: ARG002  nobody is asked
        """See ``Tape``."""

        def perform(request: UnitRequest, cancel: Cancel) -> UnitResult:  # noqa: ARG001  nobody is asked
            with self._lock:
                found = self._answers.get((asked.unit_id, asked.input_hash))
                if found is None:
                    raise self._miss(asked)
                answer = found.popleft() if len(found) > 1 else found[0]
            return UnitResult(**{name: getattr(answer, name) for name in answer.__struct_fields__})

        return perform

    def close(self) -> None:
        """See ``Tape``: the file was read to its end."""

    def _miss(self, asked: Asked) -> ReplayMiss:
        message = f'"{self._path}" has no answer for {asked.unit_id}'
        near = nearest_recording(asked, self._all)
        help = "record again with --record, where the engines can be asked"
        if near is None:
            return ReplayMiss(f"{message}: it holds no recording at all", help)
        parts = [Part(part.name, part.sha256) for part in near.parts]
        differs = first_difference(asked.parts, parts)
        if near.unit != asked.unit_id:
            inside = "all parts are equal" if differs is None else f"its {differs} differs too"
            return ReplayMiss(f"{message}: the nearest recording is of {near.unit}, and {inside}", help)
        return ReplayMiss(f"{message}: the nearest recording is of the same unit, and its {differs} differs", help)


def nearest_recording(asked: Asked, recordings: Iterable[Recording]) -> Recording | None:
    """The recording that is most like what is asked for: same attempt, same unit, same step, then most equal parts."""
    mine = {(part.name, part.sha256) for part in asked.parts}
    unit, step = asked.unit_id.partition("~r")[0], asked.unit_id.partition(":")[0]

    def likeness(line: Recording) -> tuple[bool, bool, bool, int]:
        equal = sum((part.name, part.sha256) in mine for part in line.parts)
        same_unit, same_step = line.unit.partition("~r")[0] == unit, line.unit.partition(":")[0] == step
        return line.unit == asked.unit_id, same_unit, same_step, equal

    return max(recordings, key=likeness, default=None)


def _read(path: Path) -> list[Recording]:
    """The recordings in a file or, as it comes, from a pipe (a shell's ``<(...)``): what is none ends the reading."""
    recordings: list[Recording] = []
    try:
        with path.open("rb") as file:
            while line := file.readline(RECORDING_BYTES.high + 1):
                if not RECORDING_BYTES.holds(len(line)):
                    raise msgspec.DecodeError(f"it is longer than {RECORDING_BYTES.high} bytes")
                value = parse_json(line.rstrip(b"\r\n"), max_depth=_NESTING)
                recordings.append(msgspec.convert(value, Recording))
    except OSError as error:
        message = f'cannot read --replay "{path}": {error.strerror or error}'
        raise UsageFault(message, _HELP) from error
    except (JsonFault, msgspec.DecodeError) as error:
        message = f'--replay "{path}": line {len(recordings) + 1} is no recording: {error}'
        raise UsageFault(message, _HELP) from error
    return recordings
