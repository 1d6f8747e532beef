"""``akm-run resume``."""

from __future__ import annotations

import click

from akm_run.commands.changing import change
from akm_run.commands.common import CONTEXT, db_option, example, json_option
from akm_run.events import RunResumed


@click.command(
    "resume",
    context_settings=CONTEXT,
    help=example(
        "Make a failed or blocked run active again. What finished stays finished; nothing is dispatched yet.",
        "akm-run resume RUN_ID && akm-run RUN_ID",
    ),
)
@click.argument("run_id")
@db_option
@json_option
def command(run_id: str, db: str | None, as_json_: bool) -> int:
    """Resume a run."""
    return change(run_id, RunResumed(), db, json=as_json_)
