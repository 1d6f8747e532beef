"""``akm-run report``."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from akm_run.commands.common import CONTEXT, db_option, example, open_run
from akm_run.console import out, say
from akm_run.faults import UsageFault
from akm_run.output_file import replaced
from akm_run.run_ids import is_run_id


@click.command(
    "report",
    context_settings=CONTEXT,
    help=example(
        "Write a run with its children as one self-contained HTML page that only its owner can read.",
        "akm-run report RUN_ID -o page.html",
        "akm-run report RUN_ID",
    ),
)
@click.argument("run_id")
@click.option(
    "-o", "--output", "target", metavar="FILE", help="Where to; default: report-RUN_ID.html here. - for stdout."
)
@db_option
def command(run_id: str, target: str | None, db: str | None) -> int:
    """Write the page."""
    from akm_run.clock import now
    from akm_run.report import page

    opened = open_run(db, run_id)
    with closing(page(opened.journal, opened.run, now())) as pieces:  # while the journal is open, whatever happens
        if target == "-":
            for piece in pieces:
                out(piece.encode("utf-8", "backslashreplace"))  # the same page as in a file
            return 0
        path = Path(_default_name(run_id) if target is None else target)
        with (
            replaced(path, opened.journal.path) as fresh,
            fresh.open("w", encoding="utf-8", errors="backslashreplace") as file,
        ):
            file.writelines(pieces)
    say(f"wrote {path}")
    return 0


def _default_name(run_id: str) -> str:
    if not is_run_id(run_id):  # in a file that something else has changed
        raise UsageFault(f'a file cannot be named after run "{run_id}"', "name one with -o FILE")
    return f"report-{run_id}.html"
