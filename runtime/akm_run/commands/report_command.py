"""``akm-run report``."""

from __future__ import annotations

from pathlib import Path

import click

from akm_run.commands.common import CONTEXT, db_option, example, open_run
from akm_run.console import out, say
from akm_run.document import Wanted, run_document
from akm_run.faults import UsageFault


@click.command(
    "report",
    context_settings=CONTEXT,
    help=example("Write a run as one self-contained HTML page.", "akm-run report RUN_ID -o page.html"),
)
@click.argument("run_id")
@click.option("-o", "--output", "target", metavar="FILE", required=True, help="Where to; - for stdout.")
@db_option
def command(run_id: str, target: str, db: str | None) -> int:
    """Write the page."""
    from akm_run.report import page

    opened = open_run(db, run_id)
    text = page(run_document(opened.journal, opened.run, Wanted(units=True)), opened.journal.steps(run_id))
    if target == "-":
        out(text)
        return 0
    try:
        Path(target).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageFault(f'cannot write "{target}": {error.strerror}') from error
    say(f"wrote {target}")
    return 0
