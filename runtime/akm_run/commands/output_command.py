"""``akm-run output``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import click

from akm_run.commands.common import CONTEXT, OpenRun, db_option, example, open_run
from akm_run.console import listed, out
from akm_run.faults import CommandFault, UsageFault
from akm_run.journal.excerpts import one_moment
from akm_run.journal.stored import Stored
from akm_run.show.document import as_json, exported
from akm_schemas.spelling import nearest


@click.command(
    "output",
    context_settings=CONTEXT,
    help=example(
        "Print a run's exported results: all as JSON, or one by name (text as it is).",
        "akm-run output RUN_ID",
        "akm-run output RUN_ID summary > summary.txt",
    ),
)
@click.argument("run_id")
@click.argument("name", required=False)
@db_option
def command(run_id: str, name: str | None, db: str | None) -> int:
    """Print exports."""
    opened = open_run(db, run_id)
    with one_moment(opened.journal):
        _print(opened, name)
    return 0


def _print(opened: OpenRun, name: str | None) -> None:
    run_id = opened.run.run_id
    found = exported(opened.journal, opened.run)
    if found is None:
        raise CommandFault(
            f"run {run_id} is {opened.run.status}: its outputs are resolved when it completes",
            f"akm-run status {run_id} shows what the steps have",
        )
    if name is None:
        out(as_json(found))
        return
    values: Mapping[str, Stored | str] = found.members() if isinstance(found, Stored) else found
    if name not in values:
        close = nearest(name, values)
        help = f'did you mean "{close}"?' if close else f"outputs: {listed(values)}"
        raise UsageFault(f'run {run_id} exports no "{name}"', help)
    value = values[name]
    if isinstance(value, Stored):
        with value.text() as text:
            if text[:1] == b'"':
                value = cast(str, value.decode(text[:]))
    out(as_json(value) if isinstance(value, Stored) else value.encode("utf-8", "backslashreplace") + b"\n")
