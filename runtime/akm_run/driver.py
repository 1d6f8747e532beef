"""The driver: joins the cores of a run and its children, the journal and the executor.

The main thread owns cores and journal. It takes finished units from a queue, folds them, asks the core what follows, and
commits both in one transaction before anything is spawned; so a crash loses no decision and repeats at most what ran.
A child run is driven in the same loop; all runs of the tree share one host width.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from akm_run.clock import monotonic, now
from akm_run.core import Core
from akm_run.dispatch import dispatcher_for
from akm_run.dispatch.contract import Dispatcher, UnitResult
from akm_run.events import Event, NoticeRaised, UnitFinished, UnitReused, UnitStarted
from akm_run.executor import Done, Executor
from akm_run.frame import Frame
from akm_run.journal import Journal
from akm_run.policy import pause_s
from akm_run.requests import Surroundings, asked, judge_request, judged, leaves_usage_open, target_of, unit_request
from akm_run.tape import Tape
from akm_run.underway import Ending, UnderWay
from akm_run.values import as_journaled
from akm_schemas.plan import ChildTarget, CommandTarget, Target

_LONGEST_WAIT_S = 1.0  # a signal that another thread was given is seen only when the main thread runs again
_LAST_WAIT_S = 10.0  # longer than the ladder that ends a process group

Watch: TypeAlias = Callable[[UnderWay, Sequence[Event]], None]


class Options(Struct, frozen=True):
    """``host_width`` is how many units may run at once here; ``timeout_s`` is this invocation's deadline."""

    host_width: int
    timeout_s: float | None = None


class Interrupted(Struct, frozen=True):
    """Put into the driver's queue by a signal handler."""

    signal: int


class Ended(Struct, frozen=True):
    """A unit of ``run`` has ended."""

    run: UnderWay
    done: Done


class ChildRuns(Protocol):
    """Opens and closes the runs that units compose."""

    def open(self, run: UnderWay, started: UnitStarted, target: ChildTarget) -> UnderWay | UnitResult:
        """The child run, ready to be driven, or what came of the unit without driving."""

    def close(self, child: UnderWay) -> UnitResult:
        """Give a child back that moves no more; what came of the unit that composed it."""


class Driver:
    """Drives one run, and those it composes, until it is settled, stops, is rejected, or is told to end."""

    def __init__(
        self,
        core: Core,
        journal: Journal,
        executor: Executor,
        around: Surroundings,
        options: Options,
        watch: Watch = lambda _run, _batch: None,
        children: ChildRuns | None = None,
        tape: Tape | None = None,
    ) -> None:
        self._root = UnderWay(core, around)
        self._tree = [self._root]  # a child stands behind the run that composes it
        self._journal = journal
        self._executor = executor
        self._options = options
        self._watch = watch
        self._children = children
        self._tape = tape
        self._queue: SimpleQueue[Ended | Interrupted] = SimpleQueue()
        self._dispatchers: dict[int, Dispatcher] = {}
        self._random = random.Random()

    def interrupt(self, signal: int) -> None:
        """End soon; safe in a signal handler."""
        self._queue.put(Interrupted(signal))

    def drive(self) -> Ending:
        """Drive the run; returns how this invocation ended.

        What fails in the interpreter itself (a dispatcher's bug, a full disk) is raised once all units have ended.
        """
        if self._options.timeout_s is not None:
            self._root.deadline = monotonic() + self._options.timeout_s
        if not self._queue.empty():  # told to end before it began
            self._root.stop("interrupted")
        try:
            self._decide(self._root, [])
            self._close_children()
            while not self._root.idle:
                self._turn()
                self._close_children()
        except BaseException:  # nothing that was spawned may outlive the driver, whatever ends it
            self._abandon_units()
            raise
        self._root.close()
        return self._root.ended()

    def _turn(self) -> None:
        """Take what has happened, and decide what follows from it in every run of the tree."""
        facts: dict[UnderWay, list[Event]] = {}
        for message in self._wait():
            if isinstance(message, Interrupted):
                self._root.stop("interrupted")
            else:
                facts.setdefault(message.run, []).extend(self._finished(message.run, message.done))
        moved = bool(facts)
        for run in self._tree:
            run.expire()
        for run in list(self._tree):
            if run.rouse() or moved:  # a unit that ended makes room for those of every run
                self._decide(run, facts.get(run, []))

    def _wait(self) -> list[Ended | Interrupted]:
        """All messages that are there, at least one unless a moment to act comes first.

        Units that end together are one decision and share a commit, whose cost is that of the disk.
        """
        soonest = monotonic() + _LONGEST_WAIT_S
        moment = min((moment for run in self._tree for moment in run.moments()), default=soonest)
        messages: list[Ended | Interrupted] = []
        try:
            messages.append(self._queue.get(timeout=max(0.0, min(moment, soonest) - monotonic())))
            while True:
                messages.append(self._queue.get_nowait())
        except Empty:
            return messages

    def _abandon_units(self) -> None:
        """End all units without journaling them; a later driver finds their rows running, as after a crash."""
        for run in self._tree:
            run.cancel.set()
        while any(run.leaves for run in self._tree):
            try:
                message = self._queue.get(timeout=_LAST_WAIT_S)
            except Empty:
                break
            if isinstance(message, Ended):
                message.run.running.pop(message.done.unit_id, None)
        for run in self._tree:
            run.release()

    # ---- deciding ---------------------------------------------------------------------------------------------

    def _decide(self, run: UnderWay, facts: list[Event]) -> None:
        """Fold ``facts``, take every decision that follows, commit all of it, then spawn."""
        batch: list[Event] = []
        core, room = run.core, self._options.host_width - sum(other.leaves for other in self._tree)
        pending = facts or self._next(core, room)
        while pending:
            for event in pending:
                core.apply(event)
                room -= isinstance(event, UnitStarted) and not isinstance(_target(core, event), ChildTarget)
            batch += pending
            pending = self._next(core, room)
        if batch:
            self._journal.commit(run.run_id, batch, now())
            self._watch(run, batch)
            for event in batch:
                if isinstance(event, UnitStarted):
                    self._spawn(run, event)
        run.cool(self._random)

    def _next(self, core: Core, room: int) -> list[Event]:
        """What the core decides, with the results of units that it takes over."""
        return [
            replace(event, value=self._journal.unit_value(event.from_run, event.from_unit))
            if isinstance(event, UnitReused)
            else event
            for event in core.next(room)
        ]

    def _spawn(self, run: UnderWay, started: UnitStarted) -> None:
        frame = run.core.frame
        assert frame is not None, "a started unit belongs to the open round"
        target = _target(run.core, started)
        run.begun[started.unit_id] = monotonic()
        if isinstance(target, ChildTarget):
            self._descend(run, started, target)
            return
        run.running[started.unit_id] = started
        try:
            self._submit(run, frame, started, target)
        except BaseException:  # nobody will report this one, so nobody may wait for it
            del run.running[started.unit_id]
            raise

    def _submit(self, run: UnderWay, frame: Frame, started: UnitStarted, target: Target) -> None:
        if started.role == "judge":
            request = judge_request(frame, started, run.around)
        else:
            request = unit_request(frame, started, run.core.units[started.key], run.around)
        dispatcher = self._dispatcher(target)
        if self._tape is not None and isinstance(target, CommandTarget):
            dispatcher = self._tape.around(asked(frame, started, run.around.params), dispatcher)
        self._executor.submit(request, dispatcher, run.cancel, partial(self._report, run))

    def _report(self, run: UnderWay, done: Done) -> None:
        self._queue.put(Ended(run, done))

    def _dispatcher(self, target: Target) -> Dispatcher:
        found = self._dispatchers.get(id(target))
        if found is None:
            found = dispatcher_for(target)
            assert found is not None, "plans with unsupported targets are refused before a run is published"
            self._dispatchers[id(target)] = found
        return found

    # ---- children ---------------------------------------------------------------------------------------------

    def _descend(self, run: UnderWay, started: UnitStarted, target: ChildTarget) -> None:
        """Drive the run that a unit composes."""
        assert self._children is not None, "a driver of plans with children is given the means to open them"
        opened = self._children.open(run, started, target)
        run.running[started.unit_id] = started
        if isinstance(opened, UnitResult):
            self._report(run, Done(started.unit_id, opened))
            return
        run.children[started.unit_id] = opened
        self._tree.append(opened)
        self._decide(opened, [])

    def _close_children(self) -> None:
        """Tell the composing runs about children that move no more, the deepest first."""
        for child in reversed(self._tree[1:]):
            if child.over:
                assert self._children is not None and child.composer is not None and child.composing is not None
                result = self._children.close(child)
                self._tree.remove(child)
                unit_id = child.composing.unit_id
                del child.composer.children[unit_id]
                self._report(child.composer, Done(unit_id, result))

    # ---- results ----------------------------------------------------------------------------------------------

    def _finished(self, run: UnderWay, done: Done) -> list[Event]:
        """What the end of a unit says; raises what a dispatcher crashed with."""
        started = run.running.pop(done.unit_id)
        elapsed_s = monotonic() - run.begun.pop(done.unit_id)
        if done.crash is not None:
            raise done.crash
        result = done.result or UnitResult(failure_reason="aborted", diagnostic="the interpreter failed")
        if started.role == "judge":
            result = judged(result)
        elif result.retry_after_s is not None and (frame := run.core.frame) is not None:
            run.pauses[started.key] = pause_s(result.retry_after_s, frame.unit, elapsed_s)
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
        target = _target(run.core, started)
        return [finished, *_notices(started, result, target), *self._usage_notice(run, started, result, target)]

    def _usage_notice(
        self, run: UnderWay, started: UnitStarted, result: UnitResult, target: Target
    ) -> list[NoticeRaised]:
        """That an engine reports no usage: said once for each engine and run, whichever driver was first."""
        if not leaves_usage_open(target, result):
            return []
        assert isinstance(target, CommandTarget)
        text = f'token usage unreported by engine "{target.engine.name}": counted as 0'
        if text in run.unreported:
            return []
        run.unreported.add(text)
        told = any(notice.text == text for notice in self._journal.notices(run.run_id))
        return [] if told else [NoticeRaised(started.step, text)]


def _target(core: Core, started: UnitStarted) -> Target:
    return target_of(core.plan.steps[started.step], started)


def _notices(started: UnitStarted, result: UnitResult, target: Target) -> list[NoticeRaised]:
    notices = [NoticeRaised(started.step, text, started.unit_id) for text in result.notices]
    if started.respawn and not isinstance(target, ChildTarget):  # a child goes on where it was, nothing is repeated
        text = "dispatched again under the same id: its driver ended before the result was recorded"
        notices.append(NoticeRaised(started.step, text, started.unit_id))
    return notices
