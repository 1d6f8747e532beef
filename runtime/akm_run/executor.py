"""Where units are performed: a seam with one method. ``LocalExecutor`` uses threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol

from msgspec import Struct

from akm_run.dispatch.contract import Cancel, Dispatcher, UnitRequest, UnitResult
from akm_run.faults import UsageFault

_NO_THREAD = "no unit can be started: this machine gives the process no thread"
_MORE_THREADS = (
    "raise its limits (ulimit -u, ulimit -v, or those of the container); akm-run RUN_ID goes on where the run was"
)


class Done(Struct, frozen=True):
    """What came of a submitted unit; ``crash`` is a fault of the dispatcher itself, never of a unit."""

    unit_id: str
    result: UnitResult | None
    crash: BaseException | None = None


class _Job(Struct, frozen=True):
    request: UnitRequest
    dispatcher: Dispatcher
    cancel: Cancel
    done: Callable[[Done], None]


class Executor(Protocol):
    """Performs units somewhere and reports each exactly once."""

    def submit(
        self, request: UnitRequest, dispatcher: Dispatcher, cancel: Cancel, done: Callable[[Done], None]
    ) -> None:
        """Perform ``request`` and call ``done``, from any thread.

        Raises:
            UsageFault: when nothing can be performed here; ``done`` is never called then.
        """


class LocalExecutor:
    """Threads that are started as they are needed and reused until ``close``; they live no longer than the process.

    Where the machine gives fewer threads than are wanted, units wait for those that there are.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads = 0
        self._idle = 0  # below zero: so many units wait
        self._lock = threading.Lock()

    def submit(
        self, request: UnitRequest, dispatcher: Dispatcher, cancel: Cancel, done: Callable[[Done], None]
    ) -> None:
        """See ``Executor``."""
        with self._lock:
            if self._idle <= 0:
                self._start_thread()
            self._idle -= 1
        self._jobs.put(_Job(request, dispatcher, cancel, done))

    def close(self) -> None:
        """Let the threads end, each when it has performed what it was given; nothing is submitted after it."""
        with self._lock:
            for _ in range(self._threads):
                self._jobs.put(None)

    def _start_thread(self) -> None:
        try:
            threading.Thread(target=self._work, name="akm-unit", daemon=True).start()
        except RuntimeError as error:  # the only way in which the standard library says that there are no more
            if not self._threads:
                raise UsageFault(_NO_THREAD, _MORE_THREADS) from error
        else:
            self._threads += 1
            self._idle += 1

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            try:
                outcome = Done(job.request.unit_id, job.dispatcher(job.request, job.cancel))
            except BaseException as crash:  # noqa: BLE001  a dispatcher's bug must reach the driver, not end a thread in silence
                outcome = Done(job.request.unit_id, None, crash)
            with self._lock:
                self._idle += 1
            job.done(outcome)
