"""``akm-run export``."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from akm_run.commands.common import CONTEXT, db_option, example, open_run
from akm_run.console import out, say
from akm_run.journal import Journal
from akm_run.journal.archive import Archive, tree_of
from akm_run.output_file import replaced
from akm_schemas.counting import counted


@click.command(
    "export",
    context_settings=CONTEXT,
    help=example(
        "Write a run with its children to one file, which import takes into another scope.",
        "akm-run export RUN_ID -o run.akmrun",
    ),
)
@click.argument("run_id")
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    required=True,
    help="Where to, an existing file is replaced; - for stdout.",
)
@db_option
def command(run_id: str, target: str, db: str | None) -> int:
    """Export a run."""
    opened = open_run(db, run_id)
    if target == "-":
        return _print(opened.journal, run_id)
    path = Path(target)
    runs = tree_of(opened.journal, run_id)
    with replaced(path, opened.journal.path) as fresh:
        Archive(opened.journal).export(runs, fresh, path)
    say(f"wrote run {run_id} and {counted(len(runs) - 1, 'child', 'children')} to {target}")
    return 0


def _print(journal: Journal, run_id: str) -> int:
    """The exported file on stdout."""
    with tempfile.TemporaryDirectory(prefix="akm-export-") as folder:
        path = Path(folder) / "run.akmrun"
        Archive(journal).export(tree_of(journal, run_id), path, path)
        out(path.read_bytes())
    return 0
