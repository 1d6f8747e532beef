"""One run of the tree that a driver drives: its core, what of it is running, and the moments it waits for."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct, field

from akm_run.cancel import Cancellation
from akm_run.clock import monotonic
from akm_run.core import Core
from akm_run.events import UnitStarted
from akm_run.lease import Lease
from akm_run.policy import BACKOFF_LIMIT_S
from akm_run.requests import Surroundings

Ending: TypeAlias = Literal["settled", "stopped", "rejected", "interrupted", "timeout"]
JITTER = 0.25


class UnderWay(Struct, eq=False):
    """A run that is being driven.

    ``composer`` is the run whose unit ``composing`` this one is; a root has neither, and its lease is its caller's.
    ``running`` goes from unit id to attempt, ``children`` from the id of a running unit to the run it composed.
    ``deadline`` is on the monotonic clock. ``pauses`` are, by unit key, what a server asked to wait;
    ``unreported`` what was said about engines that report no usage.
    """

    core: Core
    around: Surroundings
    deadline: float | None = None
    composer: UnderWay | None = None
    composing: UnitStarted | None = None
    lease: Lease | None = None
    ending: Ending | None = None
    cancel: Cancellation = field(default_factory=Cancellation)
    running: dict[str, UnitStarted] = field(default_factory=dict)
    begun: dict[str, float] = field(default_factory=dict)
    children: dict[str, UnderWay] = field(default_factory=dict)
    wake: dict[str, float] = field(default_factory=dict)
    pauses: dict[str, float] = field(default_factory=dict)
    unreported: set[str] = field(default_factory=set)

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.around.run_id

    @property
    def depth(self) -> int:
        """How many runs compose this one, directly or through others."""
        return 0 if self.composer is None else self.composer.depth + 1

    @property
    def idle(self) -> bool:
        """Whether nothing of this run is running or waiting for its moment."""
        return not self.running and not self.wake

    @property
    def over(self) -> bool:
        """Whether nothing moves this run any more; an idle one may still wait for a place on the host."""
        return self.idle and (self.core.status != "active" or self.core.stopping or self.core.halt is not None)

    @property
    def leaves(self) -> int:
        """How many units of this run need a place on the host; one that composes a child needs none."""
        return len(self.running) - len(self.children)

    def moments(self) -> Iterable[float]:
        """When something is to be done even if no unit ends."""
        yield from self.wake.values()
        if self.deadline is not None and self.ending is None:
            yield self.deadline

    def expire(self) -> None:
        """Stop when the deadline has come."""
        if self.deadline is not None and self.ending is None and monotonic() >= self.deadline:
            self.stop("timeout")

    def stop(self, ending: Ending) -> None:
        """Start nothing any more and end what runs, children included, which are interrupted by that."""
        if self.ending is None:
            self.ending = ending
        self.core.stopping = True
        self.wake.clear()
        self.cancel.set()
        for child in self.children.values():
            child.stop("interrupted")

    def rouse(self) -> bool:
        """Let units whose wait is over start; whether there were any."""
        due = [key for key, at in self.wake.items() if at <= monotonic()]
        for key in due:
            del self.wake[key]
            self.core.warm(key)
        return bool(due)

    def cool(self, chance: random.Random) -> None:
        """Set the moment at which each cooling unit may start again."""
        frame = self.core.frame
        if frame is None or self.ending is not None:
            return
        for position, seconds in frame.cooling.items():
            key = frame.units[position].key
            if key not in self.wake:
                wait = min(BACKOFF_LIMIT_S, seconds * (1 + JITTER * chance.random()))
                self.wake[key] = monotonic() + max(wait, self.pauses.get(key, 0.0))
        self.pauses.clear()

    def ended(self) -> Ending:
        """How the driving of this run ended."""
        if self.ending is not None:
            return self.ending
        match self.core.halt:
            case "max_steps":
                return "stopped"
            case "rejected" | "unresolved":
                return "rejected"
        return "settled"

    def release(self) -> None:
        """Give a child's lease back."""
        lease, self.lease = self.lease, None
        if lease is not None:
            lease.release()

    def close(self) -> None:
        """Give everything back; no unit of this run may be running."""
        self.cancel.close()
        if self.around.log is not None:
            self.around.log.close()
        self.release()
