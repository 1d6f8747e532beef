"""``akm-run output``."""

from __future__ import annotations

import click

from akm_run.commands.common import CONTEXT, db_option, example, open_run
from akm_run.console import listed, out
from akm_run.faults import CommandFault, UsageFault
from akm_run.recovery import exports
from akm_run.show.document import as_json
from akm_schemas.json_types import Json
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
    values = exports(opened.journal, opened.run)
    if values is None:
        raise CommandFault(
            f"run {run_id} is {opened.run.status}: its outputs are resolved when it completes",
            f"akm-run status {run_id} shows what the steps have",
        )
    if name is None:
        out(as_json(values))
        return 0
    if name not in values:
        close = nearest(name, values)
        help = f'did you mean "{close}"?' if close else f"outputs: {listed(values)}"
        raise UsageFault(f'run {run_id} exports no "{name}"', help)
    out(_shown(values[name]))
    return 0


def _shown(value: Json) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace") + b"\n"
    return as_json(value)
