"""Where units are performed: a seam with one method. ``LocalExecutor`` uses threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Protocol

from akm_run.dispatch.contract import Cancel, Dispatcher, UnitRequest, UnitResult


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a submitted unit; ``crash`` is a fault of the dispatcher itself, never of a unit."""

    unit_id: str
    result: UnitResult | None
    crash: BaseException | None = None


@dataclass(frozen=True, slots=True)
class _Job:
    request: UnitRequest
    dispatcher: Dispatcher
    cancel: Cancel
    done: Callable[[Done], None]


class Executor(Protocol):
    """Performs units somewhere and reports each exactly once."""

    def submit(
        self, request: UnitRequest, dispatcher: Dispatcher, cancel: Cancel, done: Callable[[Done], None]
    ) -> None:
        """Perform ``request`` and call ``done``, from any thread."""


class LocalExecutor:
    """Threads that are started as they are needed and reused; they live no longer than the process."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._idle = 0
        self._lock = threading.Lock()

    def submit(
        self, request: UnitRequest, dispatcher: Dispatcher, cancel: Cancel, done: Callable[[Done], None]
    ) -> None:
        """See ``Executor``."""
        with self._lock:
            if self._idle:
                self._idle -= 1
            else:
                threading.Thread(target=self._work, name="akm-unit", daemon=True).start()
        self._jobs.put(_Job(request, dispatcher, cancel, done))

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                outcome = Done(job.request.unit_id, job.dispatcher(job.request, job.cancel))
            except BaseException as crash:  # noqa: BLE001  a dispatcher's bug must reach the driver, not end a thread in silence
                outcome = Done(job.request.unit_id, None, crash)
            with self._lock:
                self._idle += 1
            job.done(outcome)
