"""``akm-run prune``."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from akm_run import lease
from akm_run.clock import before
from akm_run.commands.common import CONTEXT, current_scope, db_option, example, json_option, opened_journal
from akm_run.commands.durations import age_seconds
from akm_run.console import joined, out, say
from akm_run.dispatch.script_file import collect_scripts
from akm_run.faults import BusyFault, UsageFault
from akm_run.journal import Journal
from akm_run.journal.archive import Archive, tree_of
from akm_run.recovery import spent
from akm_run.run_log import log_file
from akm_run.scope import current_directory, printable
from akm_run.show.document import as_json
from akm_schemas.counting import counted
from akm_schemas.json_types import Json

if TYPE_CHECKING:
    from akm_run.dispatch.worktree_leftover import Leftover


class Kept(Struct, frozen=True):
    """An old run that is not forgotten, and why: ``active``, ``failed``, ``blocked``, or who is in the way."""

    run_id: str
    why: str


@click.command(
    "prune",
    context_settings=CONTEXT,
    help=example(
        "Forget runs that ended long ago, with their children, results and logs. Runs that can still go on are kept:"
        " active ones always; failed and blocked ones unless --all is given, akm-run abandon has given them up, or their budget"
        " is spent."
        " Scripts that killed runs left behind are removed, and worktrees, unless they hold changes.",
        "akm-run prune --older-than 30d",
        "akm-run prune --older-than 8w --all",
        "akm-run prune --older-than 12h --dry-run",
    ),
)
@click.option("--older-than", metavar="AGE", required=True, help="Since the last change: 90m, 12h, 30d, 8w.")
@click.option("--all", "every", is_flag=True, help="Forget failed and blocked runs too, which could be resumed.")
@click.option("--dry-run", is_flag=True, help="Only name the runs.")
@db_option
@json_option
def command(older_than: str, every: bool, dry_run: bool, db: str | None, as_json_: bool) -> int:
    """Prune."""
    limit = before(age_seconds(older_than, "--older-than"))
    scope = current_scope(db)
    journal = opened_journal(scope)
    pruned: list[str] = []
    kept: list[Kept] = []
    if journal is not None:
        for run in [run for run in journal.runs() if run.parent_run is None and run.updated_at < limit]:
            why = _why_kept(journal, run.run_id, every=every)
            if why is None and not dry_run:
                why = _forget(journal, run.run_id, every=every)
            if why is None:
                pruned.append(run.run_id)
            else:
                kept.append(Kept(run.run_id, why))
        if pruned and not dry_run and not Archive(journal).compact():
            say("the file was not made smaller, for others are using it; later runs use its free space")
    left, scripts = _worktrees(dry_run=dry_run), collect_scripts(dry_run=dry_run)
    if as_json_:
        worktrees: list[Json] = [{"path": printable(found.place), "kept": found.why_kept is not None} for found in left]
        paths: list[Json] = [printable(path) for path in scripts]
        left_alone: list[Json] = [{"runId": one.run_id, "why": one.why} for one in kept]
        told: dict[str, Json] = {"scope": scope.label, "pruned": list(pruned), "kept": left_alone}
        out(as_json(told | {"worktrees": worktrees, "scripts": paths}))
        return 0
    out(joined(pruned))
    would = "would be removed" if dry_run else "removed"
    for path in scripts:
        say(f"{would}: a script that a killed run left behind, {printable(path)!r}")
    for found in left:
        say(found.why_kept or f"{would}: a worktree that a killed run left behind, {printable(found.place)!r}")
    for one in kept:
        say(f"kept: run {one.run_id}, {one.why}{_ways_to_forget(one)}")
    say(f"{counted(len(pruned), 'run')} {'would be pruned' if dry_run else 'pruned'} in {scope.label}")
    return 0


def _ways_to_forget(kept: Kept) -> str:
    if kept.why not in ("failed", "blocked"):
        return ""
    return f": akm-run resume {kept.run_id} could go on with it, prune --all forgets it"


def _worktrees(*, dry_run: bool) -> list[Leftover]:
    """What killed runs have left in the repository of the current directory; nothing outside git."""
    from akm_run.dispatch.worktree import GitError, repository_of
    from akm_run.dispatch.worktree_leftover import collect

    try:
        return collect(repository_of(current_directory()).top, dry_run=dry_run)
    except (GitError, UsageFault):  # no git directory here, or no directory at all
        return []


def _forget(journal: Journal, run_id: str, *, every: bool) -> str | None:
    """Delete the run and its children; why not, where one of them has changed, or a driver has taken it again."""
    with ExitStack() as held:
        tree = tree_of(journal, run_id)
        try:
            for one in tree:
                held.callback(lease.acquire(journal.path, one).release)
        except BusyFault:
            return "a driver holds it"
        why = "it is changing" if tree_of(journal, run_id) != tree else _why_kept(journal, run_id, every=every)
        if why is None:
            Archive(journal).delete(tree)
            for gone in tree:
                with suppress(OSError):  # there is none, or no folder of logs
                    log_file(journal.path, gone).unlink()
        return why


def _why_kept(journal: Journal, run_id: str, *, every: bool) -> str | None:
    """Why a tree is kept: it is active somewhere, or its root could be resumed; ``None`` where it may go."""
    rows = [journal.run(one) for one in tree_of(journal, run_id)]
    if any(row is None or row.status == "active" for row in rows):
        return "active"
    root = journal.run(run_id)
    if root is None or every or root.status == "completed" or _is_given_up(journal, run_id) or spent(journal, root):
        return None
    return root.status


def _is_given_up(journal: Journal, run_id: str) -> bool:
    """Whether the last that happened to the run is that a person abandoned it."""
    moves = [row.type for row in journal.events(run_id) if row.type.startswith("run.")]
    return moves[-1:] == ["run.abandoned"]
