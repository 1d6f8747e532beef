"""The driver: joins the core, the journal and the executor.

The main thread owns core and journal. It takes finished units from a queue, folds them, asks the core what follows, and
commits both in one transaction before anything is spawned; so a crash loses no decision and repeats at most what ran.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Literal, TypeAlias

from akm_run.cancel import Cancellation
from akm_run.clock import monotonic, now
from akm_run.core import Core
from akm_run.dispatch import dispatcher_for
from akm_run.dispatch.contract import Dispatcher, UnitResult
from akm_run.events import Event, NoticeRaised, UnitFinished, UnitStarted
from akm_run.executor import Done, Executor
from akm_run.journal import Journal
from akm_run.policy import BACKOFF_LIMIT_S, pause_s
from akm_run.requests import Surroundings, judge_request, judged, reports_usage, target_of, unit_request
from akm_run.values import as_journaled
from akm_schemas.plan import CommandTarget, Target

Ending: TypeAlias = Literal["settled", "stopped", "rejected", "interrupted", "timeout"]
_JITTER = 0.25
_LAST_WAIT_S = 10.0  # longer than the ladder that ends a process group


@dataclass(frozen=True, slots=True)
class Options:
    """``host_width`` is how many units may run at once here; ``timeout_s`` is this invocation's deadline."""

    host_width: int
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Put into the driver's queue by a signal handler."""

    signal: int


class Driver:
    """Drives one run until it is settled, stops, is rejected, or is told to end."""

    def __init__(
        self,
        core: Core,
        journal: Journal,
        executor: Executor,
        around: Surroundings,
        options: Options,
        watch: Callable[[Sequence[Event]], None] = lambda _: None,
    ) -> None:
        self._core = core
        self._journal = journal
        self._executor = executor
        self._around = around
        self._options = options
        self._watch = watch
        self._queue: SimpleQueue[Done | Interrupted] = SimpleQueue()
        self._running: dict[str, UnitStarted] = {}
        self._wake: dict[str, float] = {}
        self._begun: dict[str, float] = {}
        self._pauses: dict[str, float] = {}  # by unit key: what its server asked to wait, within its timeout
        self._cancel = Cancellation()
        self._ending: Ending | None = None
        self._dispatchers: dict[int, Dispatcher] = {}
        self._random = random.Random()

    def interrupt(self, signal: int) -> None:
        """End soon; safe in a signal handler."""
        self._queue.put(Interrupted(signal))

    def drive(self) -> Ending:
        """Drive the run; returns how this invocation ended.

        What fails in the interpreter itself (a dispatcher's bug, a full disk) is raised once all units have ended.
        """
        deadline = None if self._options.timeout_s is None else monotonic() + self._options.timeout_s
        try:
            self._decide([])
            while self._running or self._wake:
                facts = [fact for message in self._wait(deadline) for fact in self._taken(message)]
                if deadline is not None and monotonic() >= deadline:
                    self._stop("timeout")
                if facts:
                    self._decide(facts)
                self._rouse()
        except BaseException:  # nothing that was spawned may outlive the driver, whatever ends it
            self._abandon_units()
            raise
        self._cancel.close()
        return self._ending or self._quiet_ending()

    def _abandon_units(self) -> None:
        """End all units without journaling them; a later driver finds their rows running, as after a crash."""
        self._cancel.set()
        while self._running:
            try:
                message = self._queue.get(timeout=_LAST_WAIT_S)
            except Empty:
                return
            if isinstance(message, Done):
                self._running.pop(message.unit_id, None)

    def _quiet_ending(self) -> Ending:
        match self._core.halt:
            case "max_steps":
                return "stopped"
            case "rejected" | "unresolved":
                return "rejected"
        return "settled"

    def _stop(self, ending: Ending) -> None:
        if self._ending is None:
            self._ending = ending
        self._core.stopping = True
        self._wake.clear()
        self._cancel.set()

    def _wait(self, deadline: float | None) -> list[Done | Interrupted]:
        """All messages that are there, at least one unless a moment to act comes first.

        Units that end together are one decision and share a commit, whose cost is that of the disk.
        """
        times = [*self._wake.values(), *([] if deadline is None or self._ending else [deadline])]
        messages: list[Done | Interrupted] = []
        try:
            messages.append(self._queue.get(timeout=max(0.0, min(times) - monotonic()) if times else None))
            while True:
                messages.append(self._queue.get_nowait())
        except Empty:
            return messages

    def _taken(self, message: Done | Interrupted) -> list[Event]:
        if isinstance(message, Interrupted):
            self._stop("interrupted")
            return []
        if message.crash is not None:
            del self._running[message.unit_id]
            raise message.crash
        return self._finished(message)

    def _rouse(self) -> None:
        """Let units whose wait is over start."""
        due = [key for key, at in self._wake.items() if at <= monotonic()]
        for key in due:
            del self._wake[key]
            self._core.warm(key)
        if due:
            self._decide([])

    def _decide(self, facts: list[Event]) -> None:
        """Fold ``facts``, take every decision that follows, commit all of it, then spawn."""
        batch: list[Event] = []
        room = self._options.host_width - len(self._running)
        pending = facts or self._core.next(room)
        while pending:
            for event in pending:
                self._core.apply(event)
                room -= isinstance(event, UnitStarted)
            batch += pending
            pending = self._core.next(room)
        if not batch:
            return
        self._journal.commit(self._around.run_id, batch, now())
        self._watch(batch)
        for event in batch:
            if isinstance(event, UnitStarted):
                self._spawn(event)
        self._cool()

    def _cool(self) -> None:
        frame = self._core.frame
        if frame is None or self._ending is not None:
            return
        for position, seconds in frame.cooling.items():
            key = frame.units[position].key
            if key not in self._wake:
                wait = min(BACKOFF_LIMIT_S, seconds * (1 + _JITTER * self._random.random()))
                self._wake[key] = monotonic() + max(wait, self._pauses.get(key, 0.0))
        self._pauses.clear()

    def _spawn(self, started: UnitStarted) -> None:
        frame = self._core.frame
        assert frame is not None, "a started unit belongs to the open round"
        if started.role == "judge":
            request = judge_request(frame, started, self._around)
        else:
            request = unit_request(frame, started, self._core.units[started.key], self._around)
        self._running[started.unit_id] = started
        self._begun[started.unit_id] = monotonic()
        self._executor.submit(request, self._dispatcher(request.target), self._cancel, self._queue.put)

    def _dispatcher(self, target: Target) -> Dispatcher:
        found = self._dispatchers.get(id(target))
        if found is None:
            found = dispatcher_for(target)
            assert found is not None, "plans with unsupported targets are refused before a run is published"
            self._dispatchers[id(target)] = found
        return found

    def _finished(self, done: Done) -> list[Event]:
        started = self._running.pop(done.unit_id)
        elapsed_s = monotonic() - self._begun.pop(done.unit_id)
        result = done.result or UnitResult(failure_reason="aborted", diagnostic="the interpreter failed")
        if started.role == "judge":
            result = judged(result)
        elif result.retry_after_s is not None and (frame := self._core.frame) is not None:
            self._pauses[started.key] = pause_s(result.retry_after_s, frame.unit, elapsed_s)
        notices = [NoticeRaised(started.step, text, started.unit_id) for text in result.notices]
        target = target_of(self._core.plan.steps[started.step], started)
        if result.tokens is None and result.failure_reason != "aborted" and reports_usage(target):
            assert isinstance(target, CommandTarget)
            text = f'token usage unreported by engine "{target.engine.name}": counted as 0'
            notices.append(NoticeRaised(started.step, text))
        if started.respawn:
            text = "dispatched again under the same id: its driver ended before the result was recorded"
            notices.append(NoticeRaised(started.step, text, started.unit_id))
        finished = UnitFinished(
            step=started.step,
            key=started.key,
            unit_id=started.unit_id,
            value=as_journaled(result.value) if result.completed else None,
            reason=result.failure_reason,
            diagnostic=result.diagnostic,
            errors=result.errors,
            tokens=result.tokens,
        )
        return [finished, *notices]
