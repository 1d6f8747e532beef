"""How to go on with a run, from the journal alone: the exact commands, deepest child first, for any depth."""

from __future__ import annotations

from collections.abc import Iterator

from akm_run.journal import Journal
from akm_run.rows import RunRow
from akm_schemas.json_types import JsonObject


def exports(journal: Journal, run: RunRow) -> JsonObject | None:
    """A run's exports; ``{runId, status}`` for a plan that declares none, made when read, never stored."""
    return journal.outputs(run.run_id) if run.exports else {"runId": run.run_id, "status": run.status}


def command_for(run: RunRow) -> str | None:
    """What makes a stopped run able to go on: ``resume``; for an active one (a rejected gate, a timeout) to drive it."""
    match run.status:
        case "completed":
            return None
        case "active":
            return f"akm-run {run.run_id}"
    return f"akm-run resume {run.run_id}"


def commands_down(journal: Journal, run: RunRow) -> Iterator[str]:
    """The commands for the children of ``run`` that hold it up, deepest first; finished steps wait for nobody."""
    waiting = {step.step_id for step in journal.steps(run.run_id) if step.status not in ("completed", "skipped")}
    for child in journal.children(run.run_id):
        if (child.parent_unit or "").partition(":")[0] in waiting and (command := command_for(child)):
            yield from commands_down(journal, child)
            yield command


def commands_up(journal: Journal, run: RunRow) -> Iterator[str]:
    """The commands for a stopped child and everything below it, then for the runs that compose it, the root last.

    They stop because of it, so they are named with what they will need, whatever their status is now.
    """
    yield from commands_down(journal, run)
    if command := command_for(run):
        yield command
    root = run
    while root.parent_run is not None and (above := journal.run(root.parent_run)) is not None:
        yield f"akm-run resume {above.run_id}"
        root = above
    if root is not run:
        yield f"akm-run {root.run_id}"
