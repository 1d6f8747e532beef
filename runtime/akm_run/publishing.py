"""Publishing runs: a row with the plan's bytes, the params and everything that is fixed from then on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from msgspec import Struct

from akm_run.clock import now
from akm_run.faults import UsageFault
from akm_run.journal import Journal
from akm_run.preflight import isolates
from akm_run.rows import Publication
from akm_run.run_ids import new_run_id
from akm_run.widths import run_width
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import Plan

_ATTEMPTS = 5


class Composing(Struct, frozen=True):
    """The unit that composes a child: its run, its id without ``~r<n>``, its input hash, and its run's commit."""

    run_id: str
    unit_key: str
    input_hash: str
    commit: str | None


class Origin(Struct, frozen=True):
    """Where a new run comes from: ``reuses`` is the run it takes finished units over from."""

    composing: Composing | None = None
    reuses: str | None = None


def publish(
    journal: Journal,
    plan: Plan,
    plan_bytes: bytes,
    params: JsonObject,
    workspace: Path,
    origin: Origin,
) -> str:
    """A new run of ``plan``; returns its id. A child starts from the commit of the run that composes it."""
    composing = origin.composing
    commit = None if composing is None else composing.commit
    if commit is None and isolates(plan):
        commit = commit_of(workspace)
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
            base_commit=commit,
            parent_run=None if composing is None else composing.run_id,
            parent_unit=None if composing is None else composing.unit_key,
            parent_hash=None if composing is None else composing.input_hash,
            reuses=origin.reuses,
        )
        try:
            journal.publish(publication, now())
        except sqlite3.IntegrityError:
            continue
        return run_id
    raise UsageFault("no free run id was found", "try again")


def commit_of(workspace: Path) -> str | None:
    """The commit that isolated units of a run published now start from; ``None`` outside git."""
    from akm_run.dispatch.worktree import GitError, repository_of

    try:
        return repository_of(workspace).commit
    except GitError:
        return None  # the isolated unit fails by name before anything of it is spawned
