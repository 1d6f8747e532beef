"""Publishing a run, and driving it to its end in this process."""

from __future__ import annotations

import secrets
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from akm_run import lease
from akm_run.clock import now
from akm_run.core import replay
from akm_run.driver import Driver, Ending, Options
from akm_run.events import Event
from akm_run.executor import LocalExecutor
from akm_run.faults import UsageFault
from akm_run.journal import Journal
from akm_run.opening import RunFacts
from akm_run.policy import Limits
from akm_run.preflight import bundle_root, isolates
from akm_run.requests import Surroundings
from akm_run.rows import Publication, RunRow
from akm_run.widths import run_width
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import Plan

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Invocation:
    """What one ``akm-run`` drives with; ``scope`` bounds the search for env files."""

    limits: Limits
    options: Options
    workspace: Path
    scope: Path
    watch: Callable[[Sequence[Event]], None]


def new_run_id() -> str:
    """A run id: when it was made (UTC) and 8 random hex digits, so that ids sort by age and can be typed."""
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime()) + "-" + secrets.token_hex(4)


def publish(journal: Journal, plan: Plan, plan_bytes: bytes, params: JsonObject, workspace: Path) -> str:
    """A new run of ``plan``; returns its id."""
    for _ in range(_ATTEMPTS):
        run_id = new_run_id()
        publication = Publication(
            run_id=run_id,
            plan=plan_bytes,
            title=plan.provenance.title,
            ref=plan.provenance.ref,
            plan_hash=plan.plan_hash,
            content_hash=plan.content_hash,
            exports=bool(plan.outputs),
            params=params,
            width=run_width(plan),
            steps=tuple((step.id, step.kind) for step in plan.steps),
            base_commit=_commit(workspace) if isolates(plan) else None,
        )
        try:
            journal.publish(publication, now())
        except sqlite3.IntegrityError:
            continue
        return run_id
    raise UsageFault("no free run id was found", "try again")


def _commit(workspace: Path) -> str | None:
    from akm_run.dispatch.worktree import GitError, repository_of

    try:
        return repository_of(workspace).commit
    except GitError:
        return None  # the isolated unit fails by name before anything of it is spawned


def drive(journal: Journal, run: RunRow, plan: Plan, invocation: Invocation) -> Ending:
    """Drive an active run under its lease; raises ``BusyFault`` when another driver holds it."""
    held = lease.acquire(journal.path, run.run_id)
    try:
        params = journal.params(run.run_id)
        core = replay(
            plan, RunFacts(params, run.width, run.base_commit), journal.entries(run.run_id), invocation.limits
        )
        if core.status != "active":
            return "settled"  # another driver finished it while we took the lease
        around = Surroundings(
            run_id=run.run_id,
            params=params,
            workspace=invocation.workspace,
            bundle=bundle_root(plan, invocation.workspace, invocation.scope),
            commit=run.base_commit,
        )
        driver = Driver(core, journal, LocalExecutor(), around, invocation.options, invocation.watch)
        with interruptible(driver):
            return driver.drive()
    finally:
        held.release()


@contextmanager
def interruptible(driver: Driver) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the driver in order while the block runs."""

    def handler(number: int, _: FrameType | None) -> None:
        driver.interrupt(number)

    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
