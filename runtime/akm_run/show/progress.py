"""What a run tells while it goes on: lines for people on stderr, events for machines in a file."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from io import FileIO
from pathlib import Path
from typing import Protocol

import msgspec

from akm_run.console import escaped_json, out, paint, say
from akm_run.events import Event, NoticeRaised, StepLooped, StepRejected, StepSettled, UnitFinished, UnitReused
from akm_run.faults import OutputFault, UsageFault
from akm_run.journal import Journal
from akm_run.private_file import append_private
from akm_run.rows import EventRow
from akm_run.underway import UnderWay
from akm_schemas.visible import visible


class Progress:
    """One line for each settled step, failed attempt and notice; ``say`` prints it."""

    def __init__(self, *, color: bool) -> None:
        self._color = color
        self.say: Callable[[str], None] = say

    def __call__(self, run: UnderWay, batch: Sequence[Event]) -> None:
        """Tell about a committed decision; what happens in a child is indented."""
        for event in batch:
            match event:
                case StepSettled():
                    reason = f" ({event.reason})" if event.reason else ""
                    self._line(run, event.step, paint(event.status, event.status, color=self._color) + reason)
                case StepLooped():
                    self._line(run, event.step, f"rejected, round {event.loop}")
                case StepRejected():
                    self._line(run, event.step, "rejected")
                case UnitFinished() if event.reason is not None:
                    self._line(run, event.step, f"{event.unit_id} failed ({event.reason})")
                case UnitReused():
                    self._line(run, event.step, f"{event.key} reused from {event.from_run}")
                case NoticeRaised():
                    self._line(
                        run, event.step, f"notice: {event.unit + ': ' if event.unit else ''}{visible(event.text)}"
                    )

    def _line(self, run: UnderWay, step: int, text: str) -> None:
        self.say(f"{'  ' * run.depth}{run.core.plan.steps[step].id}: {text}")


class EventLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of the event stream as JSON."""

    seq: int
    at: str
    type: str
    step: str | None = None
    unit: str | None = None
    status: str | None = None


def event_line(row: EventRow) -> bytes:
    """One JSON Line, with its newline."""
    line = EventLine(seq=row.seq, at=row.at, type=row.type, step=row.step, unit=row.unit, status=row.status)
    return escaped_json(msgspec.json.encode(line)) + b"\n"


class Sink(Protocol):
    """What events are written to. A run goes on without a full one; ``fault`` is then what to say when it has ended."""

    @property
    def fault(self) -> OutputFault | None:
        """Why events were lost to the sink; the journal has them."""

    def write(self, data: bytes, /) -> object:
        """Append ``data``."""

    def close(self) -> None:
        """Give the file back; nothing is written after it."""


class FileSink:
    """The file, device or pipe of ``--events``. A pipe whose reader has gone is no fault."""

    def __init__(self, name: str, file: FileIO) -> None:
        self.fault: OutputFault | None = None
        self._name = name
        self._file: FileIO | None = file

    def write(self, data: bytes, /) -> None:
        """Append ``data``, unless that has failed before."""
        rest = memoryview(data)
        try:
            while self._file is not None and rest:  # the last bytes of a disk take less than they were given
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self.close()
            if error.errno != errno.EPIPE:
                help = "the run is not affected; akm-run events RUN_ID prints all of its events"
                self.fault = OutputFault(f'cannot write --events "{self._name}": {error.strerror or error}', help)

    def close(self) -> None:
        """See ``Sink``."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


class StdoutSink:
    """Stdout as a sink."""

    def __init__(self) -> None:
        self.fault: OutputFault | None = None

    def write(self, data: bytes, /) -> None:
        """Print ``data``, unless that has failed before."""
        try:
            if self.fault is None:
                out(data)
        except OutputFault as fault:
            self.fault = fault

    def close(self) -> None:
        """Nothing: the process's own stream stays open."""


def open_events(name: str) -> Sink:
    """The file of ``--events``, to append to, or stdout for ``-``; raises UsageFault."""
    if name == "-":
        return StdoutSink()
    try:
        return FileSink(name, append_private(Path(name)))
    except OSError as error:
        raise UsageFault(f'cannot write --events "{name}": {error.strerror or error}') from error


class EventsFile:
    """Appends a run's events to a file, or prints them, as they are committed."""

    def __init__(self, journal: Journal, run_id: str, file: Sink) -> None:
        self._journal = journal
        self._run_id = run_id
        self._file = file
        self._seq = 0
        self._append()

    def __call__(self, run: UnderWay, batch: Sequence[Event]) -> None:
        """Write what was committed; the events of a child belong to its own stream."""
        if batch and run.run_id == self._run_id:
            self._append()

    def _append(self) -> None:
        """Write what was committed since the last time."""
        for row in self._journal.events(self._run_id, self._seq):
            self._file.write(event_line(row))
            self._seq = row.seq
