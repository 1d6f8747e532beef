"""``resume`` and ``abandon``: one transaction each, under the run's lease."""

from __future__ import annotations

from akm_run import lease
from akm_run.clock import now
from akm_run.commands.common import open_run, print_busy
from akm_run.console import out, say
from akm_run.document import as_json
from akm_run.events import RunAbandoned, RunResumed
from akm_run.faults import BusyFault, UsageFault
from akm_run.journal import Journal
from akm_run.plans import decode
from akm_run.recovery import commands_down
from akm_run.rows import RunRow


def change(run_id: str, event: RunResumed | RunAbandoned, db: str | None, *, json: bool) -> int:
    """Apply ``event`` to the run where it changes something; a completed run never changes."""
    opened = open_run(db, run_id)
    resuming = isinstance(event, RunResumed)
    idle = "active" if resuming else "failed"
    if resuming:
        decode(opened.journal.plan_bytes(run_id), f"run {run_id}")
    try:
        held = lease.acquire(opened.journal.path, run_id)
    except BusyFault as busy:
        print_busy(busy, json=json)
        raise
    try:
        run = opened.journal.run(run_id)
        assert run is not None
        if run.status == "completed":
            raise UsageFault(f"run {run_id} is completed and stays so", f"akm-run output {run_id} prints its results")
        changed = run.status != idle
        if changed:
            opened.journal.commit(run_id, [event], now())
    finally:
        held.release()
    if json:
        out(as_json({"runId": run_id, "status": idle}))
    elif not changed:
        say(f"run {run_id} is {idle} already: nothing to do")
    elif resuming:
        _say_resumed(opened.journal, run)
    else:
        say(f"run {run_id} is abandoned")
    return 0


def _say_resumed(journal: Journal, run: RunRow) -> None:
    """What goes on; children are never resumed for the user, so those that hold the run up are named."""
    below = list(commands_down(journal, run))
    if below:
        say(f"run {run.run_id} is active again; its children first: {'; '.join(below)}; then akm-run {run.run_id}")
    else:
        say(f"run {run.run_id} is active again; akm-run {run.run_id} goes on")
