"""``akm-run list``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import msgspec
from msgspec import UNSET, UnsetType

from akm_run.commands.common import CONTEXT, colors, current_scope, example, reads_from, text_options
from akm_run.console import Color, joined, out, paint
from akm_run.faults import UsageFault
from akm_run.journal import Journal
from akm_run.journal.trouble import explained
from akm_run.rows import RunRow
from akm_run.scope import known_state_files, printable
from akm_run.show.document import as_json
from akm_schemas.visible import visible


class RunPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A listed run; ``scope`` is its state file, only when all scopes are listed."""

    run_id: str
    status: str
    title: str
    ref: str
    created_at: str
    updated_at: str
    parent_run: str | UnsetType = UNSET
    scope: str | UnsetType = UNSET


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """The document of ``list --json``."""

    scope: str
    runs: list[RunPart]


@click.command(
    "list",
    context_settings=CONTEXT,
    help=example(
        "List the runs of this scope, newest first.", "akm-run list --active", "akm-run list --all-scopes --json"
    ),
)
@click.option("--active", is_flag=True, help="Only runs that can go on.")
@click.option("--children", is_flag=True, help="Also the runs that other runs composed.")
@click.option("--all-scopes", is_flag=True, help="The runs of all scopes of this user.")
@text_options
def command(active: bool, children: bool, all_scopes: bool, db: str | None, as_json_: bool, color: Color) -> int:
    """List runs."""
    scope = current_scope(db)
    files = sorted({scope.state_file, *known_state_files()}) if all_scopes else [scope.state_file]
    runs = [
        _part(row, file if all_scopes else None)
        for file in files
        for row in _rows(file, tolerant=all_scopes)
        if (children or row.parent_run is None) and (not active or row.status == "active")
    ]
    if as_json_:
        out(as_json(Listing(scope=scope.label, runs=runs)))
    else:
        out(_text(runs, scope.label, active=active, color=colors(color)))
    return 0


def _rows(file: Path, *, tolerant: bool) -> Iterator[RunRow]:
    """The runs of a state file; one of another scope that cannot be read does not hide the others."""
    try:
        reads_from(file)
        journal = Journal.open(file)
        if journal is not None:
            with closing(journal), explained(file):
                yield from journal.runs()
    except UsageFault:
        if not tolerant:
            raise


def _part(row: RunRow, file: Path | None) -> RunPart:
    return RunPart(
        run_id=row.run_id,
        status=row.status,
        title=row.title,
        ref=row.ref,
        created_at=row.created_at,
        updated_at=row.updated_at,
        parent_run=row.parent_run or UNSET,
        scope=UNSET if file is None else printable(file),
    )


def _text(runs: list[RunPart], label: str, *, active: bool, color: bool) -> str:
    if not runs:
        return joined([f"no {'active ' if active else ''}runs in {label}"])
    width = max(len(run.status) for run in runs)
    return joined(
        f"{run.run_id}  {paint(run.status.ljust(width), run.status, color=color)}  {run.created_at}  {visible(run.ref)}"
        + (f"  child of {run.parent_run}" if run.parent_run is not UNSET else "")
        + (f"  {run.scope}" if run.scope is not UNSET else "")
        for run in runs
    )
