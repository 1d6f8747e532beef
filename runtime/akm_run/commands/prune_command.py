"""``akm-run prune``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from akm_run import lease
from akm_run.clock import before
from akm_run.commands.common import CONTEXT, current_scope, db_option, example, json_option, opened_journal
from akm_run.console import out, say
from akm_run.document import as_json
from akm_run.durations import age_seconds
from akm_run.faults import BusyFault
from akm_run.journal import Journal
from akm_run.journal.archive import Archive, tree_of
from akm_run.run_log import log_file
from akm_run.scope import printable
from akm_schemas.json_types import Json

if TYPE_CHECKING:
    from akm_run.dispatch.worktree_leftover import Leftover


@click.command(
    "prune",
    context_settings=CONTEXT,
    help=example(
        "Forget runs that ended long ago, with their children, results and logs. Active runs are kept."
        " Worktrees that killed runs left behind are removed, unless they hold changes.",
        "akm-run prune --older-than 30d",
        "akm-run prune --older-than 12h --dry-run",
    ),
)
@click.option("--older-than", metavar="AGE", required=True, help="Since the last change: 90m, 12h, 30d, 8w.")
@click.option("--dry-run", is_flag=True, help="Only name the runs.")
@db_option
@json_option
def command(older_than: str, dry_run: bool, db: str | None, as_json_: bool) -> int:
    """Prune."""
    limit = before(age_seconds(older_than, "--older-than"))
    scope = current_scope(db)
    journal = opened_journal(scope)
    pruned: list[str] = []
    if journal is not None:
        old = [run for run in journal.runs() if run.parent_run is None and run.updated_at < limit]
        going = [run.run_id for run in old if not _goes_on(journal, run.run_id)]
        pruned = [run_id for run_id in going if dry_run or _forget(journal, run_id)]
        if pruned and not dry_run and not Archive(journal).compact():
            say("the file was not made smaller, for others are using it; later runs use its free space")
    left = _worktrees(dry_run=dry_run)
    if as_json_:
        worktrees: list[Json] = [{"path": printable(found.place), "kept": found.why_kept is not None} for found in left]
        out(as_json({"scope": scope.label, "pruned": list(pruned), "worktrees": worktrees}))
        return 0
    for run_id in pruned:
        out(f"{run_id}\n")
    for found in left:
        would = "would be removed" if dry_run else "removed"
        say(found.why_kept or f"{would}: a worktree that a killed run left behind, {printable(found.place)!r}")
    say(f"{len(pruned)} runs {'would be pruned' if dry_run else 'pruned'} in {scope.label}")
    return 0


def _worktrees(*, dry_run: bool) -> list[Leftover]:
    """What killed runs have left in the repository of the current directory; nothing outside git."""
    from akm_run.dispatch.worktree import GitError, repository_of
    from akm_run.dispatch.worktree_leftover import collect

    try:
        return collect(repository_of(Path.cwd()).top, dry_run=dry_run)
    except GitError:
        return []


def _forget(journal: Journal, run_id: str) -> bool:
    """Delete the run and its children; ``False`` where one of them is active, or a driver has taken it again."""
    with ExitStack() as held:
        tree = tree_of(journal, run_id)
        try:
            for one in tree:
                held.callback(lease.acquire(journal.path, one).release)
        except BusyFault:
            return False
        if tree_of(journal, run_id) != tree or _goes_on(journal, run_id):
            return False
        Archive(journal).delete(tree)
        for gone in tree:
            log_file(journal.path, gone).unlink(missing_ok=True)
    return True


def _goes_on(journal: Journal, run_id: str) -> bool:
    """Whether the run, or one below it, is active; also when it is gone."""
    rows = [journal.run(one) for one in tree_of(journal, run_id)]
    return any(row is None or row.status == "active" for row in rows)
