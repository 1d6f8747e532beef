"""Who is told what a run does while it goes on, and what stands between it and its engines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from akm_run.console import explain
from akm_run.driver import Watch
from akm_run.events import Event
from akm_run.faults import OutputFault, UsageFault
from akm_run.journal import Journal
from akm_run.show.live import can_show, shown
from akm_run.show.progress import EventsFile, Progress, Sink
from akm_run.tape import Recorder, Replayer, Tape
from akm_run.underway import UnderWay


class Told(Struct, frozen=True):
    """The options that say who is told: people unless ``json``; ``events`` is the file of ``--events``."""

    json: bool
    color: bool
    events: Sink | None


@contextmanager
def watching(journal: Journal, run_id: str, told: Told) -> Iterator[Watch]:
    """A watch that tells everybody, for the time of the block."""
    watchers: list[Watch] = []
    with ExitStack() as stack:
        if not told.json:
            progress = Progress(color=told.color)
            if can_show(sys.stderr):
                watchers.append(stack.enter_context(shown(progress, color=told.color)))
            watchers.append(progress)
        if told.events is not None:
            watchers.append(EventsFile(journal, run_id, told.events))

        def tell(run: UnderWay, batch: Sequence[Event]) -> None:
            for watcher in watchers:
                watcher(run, batch)

        yield tell


@contextmanager
def losses_told(*aids: Sink | Tape | None) -> Iterator[None]:
    """Name every file that lost something in the block, which ends with the fault of one where it does not end with another.

    Raises OutputFault.
    """
    try:
        yield
    except Exception:  # whatever ends the run: that these files are not whole is to be known too
        for fault in _losses(aids):
            explain(str(fault), fault.help)
        raise
    faults = _losses(aids)
    for fault in faults[:-1]:
        explain(str(fault), fault.help)
    if faults:
        raise faults[-1]


def _losses(aids: Sequence[Sink | Tape | None]) -> list[OutputFault]:
    return [aid.fault for aid in aids if aid is not None and aid.fault is not None]


def open_tape(record: str | None, replay: str | None) -> Tape | None:
    """The tape of ``--record`` or ``--replay``; opened before anything is published."""
    if record is not None and replay is not None:
        raise UsageFault("--record and --replay exclude each other", "replayed answers are recorded already")
    if record is not None:
        return Recorder(Path(record))
    return None if replay is None else Replayer(Path(replay))
