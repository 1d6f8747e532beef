"""``akm-run prune``."""

from __future__ import annotations

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


@click.command(
    "prune",
    context_settings=CONTEXT,
    help=example(
        "Forget runs that ended long ago, with their children, results and logs. Active runs are kept.",
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
        pruned = [run.run_id for run in old if run.status != "active" and (dry_run or _forget(journal, run.run_id))]
        if pruned and not dry_run and not Archive(journal).compact():
            say("the file was not made smaller, for others are using it; later runs use its free space")
    if as_json_:
        out(as_json({"scope": scope.label, "pruned": list(pruned)}))
        return 0
    for run_id in pruned:
        out(f"{run_id}\n")
    say(f"{len(pruned)} runs {'would be pruned' if dry_run else 'pruned'} in {scope.label}")
    return 0


def _forget(journal: Journal, run_id: str) -> bool:
    """Delete the run and its children; ``False`` where a driver has taken it again."""
    try:
        held = lease.acquire(journal.path, run_id)
    except BusyFault:
        return False
    try:
        run = journal.run(run_id)
        if run is None or run.status == "active":
            return False
        tree = tree_of(journal, run_id)
        Archive(journal).delete(tree)
        for gone in tree:
            log_file(journal.path, gone).unlink(missing_ok=True)
    finally:
        held.release()
    return True
