"""``akm-run abandon``."""

from __future__ import annotations

import click

from akm_run.commands.changing import change
from akm_run.commands.common import CONTEXT, db_option, example, json_option
from akm_run.events import RunAbandoned


@click.command(
    "abandon",
    context_settings=CONTEXT,
    help=example("Make a run that is not completed fail; resume brings it back.", "akm-run abandon RUN_ID"),
)
@click.argument("run_id")
@db_option
@json_option
def command(run_id: str, db: str | None, as_json_: bool) -> int:
    """Abandon a run."""
    return change(run_id, RunAbandoned(), db, json=as_json_)
