"""How to go on with a run, from the journal alone: the exact commands, deepest child first, for any depth."""

from __future__ import annotations

from collections.abc import Iterator

from akm_run.clipping import clipped
from akm_run.journal import Journal
from akm_run.policy import BUDGET_EXCEEDED, CHILD_BLOCKED, CHILD_FAILED
from akm_run.rows import RunRow, StepRow
from akm_schemas.bounds import DIAGNOSTIC_CHARS
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
        if _composing_step(child) in waiting and (command := command_for(child)):
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
    for root in _with_composers(journal, run):
        if root is not run:
            yield f"akm-run resume {root.run_id}"
    if root is not run:
        yield f"akm-run {root.run_id}"


def spent(journal: Journal, run: RunRow) -> bool:
    """Whether a failed run cannot be brought on: it, or a child that holds it up, has no budget left, and a budget is
    the run's for life (spec 3, section 5)."""
    if run.status != "failed":
        return False
    held = [step.step_id for step in journal.steps(run.run_id) if step.status == "failed"]
    if any(step.reason == BUDGET_EXCEEDED for step in journal.steps(run.run_id)):
        return True
    children = [child for child in journal.children(run.run_id) if _composing_step(child) in held]
    return any(spent(journal, child) for child in children)


def reusing_command(run: RunRow) -> str:
    """What to type instead of ``resume`` when a run has no budget left; NEW-PLAN is the plan with a larger one."""
    return f"akm-run NEW-PLAN --reuse {run.run_id}"


def stopped_child(journal: Journal, run: RunRow, why: str) -> str:
    """What a composing unit says of the child ``run`` that did not complete: the reasons, deepest and so the real one
    first, and then, once, what to type. The reasons are cut where both do not fit into a diagnostic."""
    head = f"run {run.run_id} of {run.ref}: {why}"
    reasons = "\n".join(_reason(holder, step, run) for holder, step in _causes(journal, run))
    ending = going_on(journal, run)
    room = DIAGNOSTIC_CHARS.high - len(head) - len(ending) - len(CHILD_BLOCKED) - 4
    return "\n".join(part for part in (head, clipped(reasons, max(200, room)), ending) if part)


def going_on(journal: Journal, run: RunRow) -> str:
    """What to type for a stopped child, on one line."""
    if spent(journal, run):
        *_, root = _with_composers(journal, run)
        return (
            f"to go on: a resumed run keeps its budget, so raise it in the source of {run.ref} or below, compile again, "
            f"then {reusing_command(root)}"
        )
    return f"to go on: {'; '.join(commands_up(journal, run))}"


def _reason(holder: RunRow, step: StepRow, told: RunRow) -> str:
    where = "" if holder.run_id == told.run_id else f" of run {holder.run_id} ({holder.ref})"
    return f'step "{step.step_id}"{where} ({step.reason}): {step.summary or step.reason}'


def _causes(journal: Journal, run: RunRow) -> Iterator[tuple[RunRow, StepRow]]:
    """The steps at which ``run`` and its children stand, without those that only wait for a child that says why."""
    for step in journal.steps(run.run_id):
        if step.reason is None or step.status == "completed":
            continue
        below: list[tuple[RunRow, StepRow]] = []
        if step.reason in (CHILD_FAILED, CHILD_BLOCKED):
            for child in journal.children(run.run_id):
                if _composing_step(child) == step.step_id and child.status != "completed":
                    below += _causes(journal, child)
        yield from below or [(run, step)]


def _composing_step(child: RunRow) -> str:
    return (child.parent_unit or "").partition(":")[0]


def _with_composers(journal: Journal, run: RunRow) -> Iterator[RunRow]:
    """``run``, then the runs that compose it, the root last."""
    yield run
    while run.parent_run is not None and (above := journal.run(run.parent_run)) is not None:
        run = above
        yield run
