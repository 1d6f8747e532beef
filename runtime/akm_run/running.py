"""Driving a run to its end in this process."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from msgspec import Struct

from akm_run import lease
from akm_run.children import Children
from akm_run.driver import Driver, Options, Watch
from akm_run.executor import LocalExecutor
from akm_run.facts import core_of, require_agreement, surroundings_of
from akm_run.interrupts import Interrupts
from akm_run.journal import Journal
from akm_run.journal.archive import tree_of
from akm_run.policy import Limits
from akm_run.preflight import bundle_root
from akm_run.rows import RunRow
from akm_run.sweeping import sweep
from akm_run.tape import Tape
from akm_run.underway import Ending
from akm_run.widths import make_room
from akm_schemas.plan import Plan


class Invocation(Struct, frozen=True):
    """What one ``akm-run`` drives with; ``scope`` bounds the search for env files."""

    limits: Limits
    options: Options
    workspace: Path
    scope: Path
    watch: Watch
    interrupts: Interrupts
    tape: Tape | None = None


def drive(journal: Journal, run: RunRow, plan: Plan, invocation: Invocation) -> Ending:
    """Drive an active run and its children under its lease; raises ``BusyFault`` when another driver holds it."""
    held = lease.acquire(journal.path, run.run_id)
    try:
        lease.tidy(journal.path, tree_of(journal, run.run_id)[1:])
        core = core_of(journal, run, plan, invocation.limits)
        require_agreement(journal, run.run_id, core)
        if core.status != "active":
            return "settled"  # another driver finished it while we took the lease
        sweep(journal, run.run_id, plan, invocation.workspace)
        bundle_of = partial(bundle_root, workspace=invocation.workspace, scope=invocation.scope)
        around = surroundings_of(journal, run, core, invocation.workspace, bundle_of(plan))
        children = Children(journal, invocation.limits, bundle_of)
        make_room(invocation.options.host_width)
        executor = LocalExecutor()
        driver = Driver(
            core, journal, executor, around, invocation.options, invocation.watch, children, invocation.tape
        )
        invocation.interrupts.hand_to(driver.interrupt)
        try:
            ending = driver.drive()
        finally:
            executor.close()
        core.forget()  # what follows reads the results from the journal, and needs the room
        return ending
    finally:
        invocation.interrupts.take_back()
        held.release()
