"""``akm-run status``."""

from __future__ import annotations

import click

from akm_run.commands.common import CONTEXT, colors, example, open_run, text_options
from akm_run.console import Color, out, say
from akm_run.journal.excerpts import one_moment
from akm_run.plans import fault_of
from akm_run.show.document import Wanted, as_json, run_document
from akm_run.show.text import run_text


@click.command(
    "status",
    context_settings=CONTEXT,
    help=example(
        "Show a run: steps, evidence, children.", "akm-run status RUN_ID --units", "akm-run status RUN_ID --json"
    ),
)
@click.argument("run_id")
@click.option("--units", is_flag=True, help="Also show each attempt with its diagnostic.")
@text_options
def command(run_id: str, units: bool, db: str | None, as_json_: bool, color: Color) -> int:
    """Show a run; never waits for its driver."""
    opened = open_run(db, run_id)
    with one_moment(opened.journal):
        document = run_document(opened.journal, opened.run, Wanted(units=units))
        out(as_json(document) if as_json_ else run_text(document, color=colors(color), notices=True))
    fault = None if opened.run.status == "completed" else fault_of(opened.run, opened.journal.plan_bytes(run_id))
    if fault is not None:
        say(f"warning: {fault}")
    return 0
