"""``resume`` and ``abandon``: one transaction each, under the run's lease."""

from __future__ import annotations

from akm_run import lease
from akm_run.clock import now
from akm_run.commands.common import open_run, print_busy
from akm_run.console import out, say
from akm_run.events import RunAbandoned, RunResumed
from akm_run.facts import core_of, require_agreement
from akm_run.faults import BusyFault, UsageFault
from akm_run.journal import Journal
from akm_run.plans import plan_of
from akm_run.recovery import commands_down, reusing_command, spent
from akm_run.rows import RunRow
from akm_run.show.document import as_json


def change(run_id: str, event: RunResumed | RunAbandoned, db: str | None, *, json: bool) -> int:
    """Apply ``event`` to the run where it changes something; a completed run never changes."""
    opened = open_run(db, run_id)
    resuming = isinstance(event, RunResumed)
    idle = "active" if resuming else "failed"
    plan = plan_of(opened.run, opened.journal.plan_bytes(run_id)) if resuming else None
    _require_unfinished(opened.run)  # it stays so, and looking needs no lock
    try:
        held = lease.acquire(opened.journal.path, run_id)
    except BusyFault as busy:
        print_busy(busy, json=json)
        raise
    try:
        run = opened.journal.run(run_id)
        assert run is not None
        _require_unfinished(run)
        changed = run.status != idle
        if changed and plan is not None:  # what the events do not bear out must not be added to
            require_agreement(opened.journal, run_id, core_of(opened.journal, run, plan))
        over = changed and resuming and spent(opened.journal, run)
        if changed:
            opened.journal.commit(run_id, [event], now())
    finally:
        held.release()
    if json:
        out(as_json({"runId": run_id, "status": idle}))
    elif not changed:
        say(f"run {run_id} is {idle} already: nothing to do")
    elif resuming:
        _say_resumed(opened.journal, run, over=over)
    else:
        say(f"run {run_id} is abandoned")
    return 0


def _require_unfinished(run: RunRow) -> None:
    if run.status == "completed":
        raise UsageFault(
            f"run {run.run_id} is completed and stays so", f"akm-run output {run.run_id} prints its results"
        )


def _say_resumed(journal: Journal, run: RunRow, *, over: bool) -> None:
    """What goes on; children are never resumed for the user, so those that hold the run up are named.

    ``over``: its budget is spent."""
    if over:
        say(
            f"run {run.run_id} is active again, but keeps its budget and will fail at its next dispatch: raise the budget "
            f"in the source, compile it, then {reusing_command(run)}"
        )
        return
    # an active one goes on with the run that composes it
    below = [command for command in commands_down(journal, run) if command.startswith("akm-run resume ")]
    if below:
        say(f"run {run.run_id} is active again; its children first: {'; '.join(below)}; then akm-run {run.run_id}")
    else:
        say(f"run {run.run_id} is active again; akm-run {run.run_id} goes on")
