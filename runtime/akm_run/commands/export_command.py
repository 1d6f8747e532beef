"""``akm-run export``."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from akm_run.commands.common import CONTEXT, db_option, example, open_run
from akm_run.console import out, say
from akm_run.faults import UsageFault
from akm_run.journal import Journal
from akm_run.journal.archive import Archive, tree_of


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
    if path.exists() and path.samefile(opened.journal.path):
        raise UsageFault(f'"{target}" is the state file itself', "name another file")
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise UsageFault(f'cannot write "{target}": {error.strerror}') from error
    os.close(descriptor)
    try:
        runs = tree_of(opened.journal, run_id)
        Archive(opened.journal).export(runs, Path(name), path)
        Path(name).replace(path)
    except OSError as error:
        raise UsageFault(f'cannot write "{target}": {error.strerror}') from error
    finally:
        Path(name).unlink(missing_ok=True)
    say(f"wrote run {run_id} and {len(runs) - 1} children to {target}")
    return 0


def _print(journal: Journal, run_id: str) -> int:
    """The exported file on stdout."""
    with tempfile.TemporaryDirectory(prefix="akm-export-") as folder:
        path = Path(folder) / "run.akmrun"
        Archive(journal).export(tree_of(journal, run_id), path, path)
        out(path.read_bytes())
    return 0
