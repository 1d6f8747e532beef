"""``akm-run events``."""

from __future__ import annotations

import time

import click

from akm_run.commands.common import CONTEXT, WholeNumber, db_option, example, open_run
from akm_run.commands.following import Undriven
from akm_run.console import out
from akm_run.show.progress import event_line

_POLL_S = 0.2


@click.command(
    "events",
    context_settings=CONTEXT,
    help=example(
        "Print a run's events as JSON Lines: ids, statuses and enums, never authored or model text.",
        "akm-run events RUN_ID --since 12",
        "akm-run events RUN_ID --follow",
    ),
)
@click.argument("run_id")
@click.option("--since", type=WholeNumber(min=0), default=0, help="Only events after this number.")
@click.option("--follow", is_flag=True, help="Go on until the run is settled.")
@db_option
def command(run_id: str, since: int, follow: bool, db: str | None) -> int:
    """Print events."""
    opened = open_run(db, run_id)
    undriven = Undriven(opened.journal.path, run_id, "waiting, Ctrl-C ends that")
    while True:
        run = opened.journal.run(run_id)
        rows = opened.journal.events(run_id, since)
        if rows:
            out(b"".join(event_line(row) for row in rows))
            since = rows[-1].seq
        if not follow or run is None or run.status != "active":
            return 0
        undriven.look()
        time.sleep(_POLL_S)
