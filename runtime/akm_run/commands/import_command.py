"""``akm-run import``."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import closing
from pathlib import Path

import click

from akm_run.commands.common import CONTEXT, closed_later, current_scope, db_option, example
from akm_run.console import joined, out
from akm_run.faults import UsageFault
from akm_run.journal import Journal
from akm_run.journal.archive import Archive, holds_runs
from akm_run.scope import remember
from akm_run.vetting import require_trustworthy
from akm_schemas.regular_files import open_regular
from akm_schemas.whole_streams import stdin_pieces


@click.command(
    "import",
    context_settings=CONTEXT,
    help=example(
        "Take the runs of an exported file, or of stdin (-), into this scope; they keep their ids. A file that holds"
        " anything that akm-run does not write is refused.",
        "akm-run import run.akmrun",
    ),
)
@click.argument("source", metavar="FILE")
@db_option
def command(source: str, db: str | None) -> int:
    """Import runs."""
    scope = current_scope(db)
    with tempfile.TemporaryDirectory(prefix="akm-import-") as folder:
        copy = Path(folder) / "runs.db"  # of an older version, it is brought up here and not where it lies
        try:
            with copy.open("wb") as file:
                if source == "-":
                    file.writelines(stdin_pieces())
                else:
                    with open_regular(Path(source)) as given:
                        shutil.copyfileobj(given, file)
        except OSError as error:
            help = "name a file that akm-run export has written, or - for standard input"
            raise UsageFault(f'cannot read "{source}": {error.strerror or error}', help) from error
        with closing(_opened(copy, source)) as other:
            require_trustworthy(other, source)
            journal = closed_later(Journal.create_or_open(scope.state_file))
            remember(scope.state_file)
            imported = Archive(journal).import_from(other)
    out(joined(imported))
    return 0


def _opened(copy: Path, source: str) -> Journal:
    """The journal in ``copy``; raises UsageFault about ``source``, the name that was given."""
    if not holds_runs(copy):
        raise UsageFault(f'"{source}" is no export of akm-run', "name a file that akm-run export has written")
    try:
        other = Journal.open(copy)
    except UsageFault as fault:
        raise UsageFault(str(fault).replace(str(copy), source), fault.help) from fault
    assert other is not None
    return other
