"""``akm-run logs``."""

from __future__ import annotations

import time

import click

from akm_run.commands.common import CONTEXT, db_option, example, open_run
from akm_run.commands.following import Undriven
from akm_run.console import joined, out
from akm_run.faults import UsageFault
from akm_run.journal import Journal
from akm_run.run_log import LogReader, log_file
from akm_schemas.canonical import canonical_text
from akm_schemas.spelling import nearest

_POLL_S = 0.2


@click.command(
    "logs",
    context_settings=CONTEXT,
    help=example(
        "Print what units have written to stdout and stderr, redacted; with --follow while they run.",
        "akm-run logs RUN_ID",
        "akm-run logs RUN_ID build:solo --follow",
    ),
)
@click.argument("run_id")
@click.argument("unit", required=False)
@click.option("--follow", is_flag=True, help="Go on until the unit, or the run, has ended, or nobody drives it.")
@db_option
def command(run_id: str, unit: str | None, follow: bool, db: str | None) -> int:
    """Print logs."""
    opened = open_run(db, run_id)
    if unit is not None:
        _require(opened.journal, run_id, unit, waiting=follow)
    reader = LogReader(log_file(opened.journal.path, run_id))
    undriven = Undriven(opened.journal.path, run_id, "no unit prints anything")
    last, printed = unit, False
    while True:
        ended = not follow or not _goes_on(opened.journal, run_id, unit)  # asked first: what follows is then all
        for line in reader.more():
            if unit in (None, line.unit):
                if line.unit != last:
                    out(joined([f"==> {line.unit} <=="]))
                    last = line.unit
                out(line.text.encode("utf-8", "backslashreplace"))
                printed = True
        if ended:
            break
        if undriven.look():
            break
        time.sleep(_POLL_S)
    if unit is not None and not printed:
        _say_result(opened.journal, run_id, unit)
    return 0


def _say_result(journal: Journal, run_id: str, unit: str) -> None:
    """What came of a unit that has printed nothing here: an llm's, a child's, or one that was taken over."""
    row = next((row for row in journal.units(run_id) if row.unit_id == unit), None)
    if row is None or row.status == "running":
        return
    if row.reason is not None:
        out(f"{row.diagnostic or row.reason}\n")
        return
    value = journal.unit_value(run_id, unit)
    if value is not None:
        text = value if isinstance(value, str) else canonical_text(value)
        out(text.encode("utf-8", "backslashreplace") + b"\n")


def _goes_on(journal: Journal, run_id: str, unit: str | None) -> bool:
    run = journal.run(run_id)
    if run is None or run.status != "active":
        return False
    row = None if unit is None else next((row for row in journal.units(run_id) if row.unit_id == unit), None)
    return row is None or row.status == "running"


def _require(journal: Journal, run_id: str, unit: str, *, waiting: bool) -> None:
    known = [row.unit_id for row in journal.units(run_id)]
    if unit in known or (waiting and unit.partition(":")[0] in {step.step_id for step in journal.steps(run_id)}):
        return
    close = nearest(unit, known)
    help = f'did you mean "{close}"?' if close else f"akm-run status {run_id} --units shows them"
    raise UsageFault(f'run {run_id} has no unit "{unit}"', help)
