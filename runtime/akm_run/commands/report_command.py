"""``akm-run report``."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

import click

from akm_run.commands.common import CONTEXT, db_option, example, open_run
from akm_run.console import out, say
from akm_run.faults import UsageFault


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
    pieces = page(opened.journal, opened.run, now())
    if target == "-":
        for piece in pieces:
            out(piece)
        return 0
    path = Path(_default_name(run_id) if target is None else target)
    if path.exists() and path.samefile(opened.journal.path):
        raise UsageFault(f'"{path}" is the state file itself', "name another file")
    try:
        _write(path, pieces)
    except OSError as error:
        raise UsageFault(f'cannot write "{path}": {error.strerror}') from error
    say(f"wrote {path}")
    return 0


def _default_name(run_id: str) -> str:
    if re.fullmatch(r"[\w-]{1,100}", run_id, re.ASCII) is None:  # an imported run may have any id
        raise UsageFault(f'a file cannot be named after run "{run_id}"', "name one with -o FILE")
    return f"report-{run_id}.html"


def _write(path: Path, pieces: Iterable[str]) -> None:
    """The pieces as a private file in place of ``path``, whole or not at all; into what is no file (a pipe) directly."""
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(pieces)
        return
    path = Path(os.path.realpath(path))  # a link stays one
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(pieces)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
