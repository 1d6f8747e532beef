"""What a killed driver of a run has left outside its state file, cleared away by the next one."""

from __future__ import annotations

from pathlib import Path

from msgspec import UNSET

from akm_run.clock import now
from akm_run.events import NoticeRaised
from akm_run.journal import Journal
from akm_schemas.plan import Plan, ScriptTarget


def sweep(journal: Journal, run_id: str, plan: Plan, workspace: Path) -> None:
    """Collect scripts and worktrees of the run, whose lease the caller holds; units whose worktree stays get a notice."""
    if any(step.unit is not UNSET and isinstance(step.unit.target, ScriptTarget) for step in plan.steps):
        from akm_run.dispatch.script_file import collect_scripts

        collect_scripts(run_id)
    if not any(step.unit is not UNSET and step.unit.isolation == "worktree" for step in plan.steps):
        return
    started = journal.units(run_id)
    if not started:
        return
    from akm_run.dispatch.worktree import GitError, repository_of, slug
    from akm_run.dispatch.worktree_leftover import collect

    try:
        left = collect(repository_of(workspace).top, run_id)
    except GitError:
        return  # no git directory: the next isolated unit says so
    units = {slug(unit.unit_id): unit for unit in started}
    notices = [
        NoticeRaised(unit.step, found.why_kept, unit.unit_id)
        for found in left
        if found.why_kept is not None and (unit := units.get(found.place.name.rpartition("-")[0])) is not None
    ]
    if notices:
        journal.commit(run_id, notices, now())
