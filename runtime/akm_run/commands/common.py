"""What commands share: the scope's journal, options, and how a run is named."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from msgspec import Struct

from akm_run.commands import RUNS, STATE_FILE
from akm_run.console import Color, out, wants_color
from akm_run.faults import BusyFault, UsageFault
from akm_run.journal import Journal
from akm_run.rows import RunRow
from akm_run.scope import Scope, current_directory, find_scope
from akm_run.show.document import as_json
from akm_schemas.spelling import nearest

CONTEXT = {"help_option_names": ["-h", "--help"]}
_Command = TypeVar("_Command", bound=Callable[..., Any])
_Journal = TypeVar("_Journal", Journal, Journal | None)

db_option = click.option(
    "--db", metavar="FILE", help="State file; default: .akm/state.db of the scope, or AKM_STATE_DB."
)
json_option = click.option("--json", "as_json_", is_flag=True, help="Print one JSON document on stdout.")
color_option = click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colour the text; NO_COLOR counts."
)


def text_options(function: _Command) -> _Command:
    """``--db``, ``--json`` and ``--color``."""
    return db_option(json_option(color_option(function)))


class WholeNumber(click.IntRange):
    """A whole number within bounds, called so in messages."""

    name = "whole number"


def example(summary: str, *lines: str) -> str:
    """A command's help: what it does, and examples that click leaves as they are."""
    return summary + "\n\n\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def colors(choice: Color) -> bool:
    """Whether text on stdout is coloured."""
    return wants_color(choice, sys.stdout)


def current_scope(db: str | None) -> Scope:
    """The scope of the current directory, which is not needed where the state file is named by its whole path."""
    if db == "":
        raise UsageFault("--db names no file", "leave it out for .akm/state.db of the scope")
    named = db or os.environ.get("AKM_STATE_DB") or ""
    try:
        here = current_directory()
    except UsageFault:
        if not Path(named).is_absolute():
            raise
        return Scope(Path(named).parent, Path(named), named=True)
    return find_scope(here, db)


def opened_journal(scope: Scope) -> Journal | None:
    """The scope's journal to read from, closed when the command ends; ``None`` where there is none."""
    return closed_later(Journal.open(scope.state_file))


def closed_later(journal: _Journal) -> _Journal:
    """``journal``, to be closed when the command ends; what SQLite cannot do until then is said about its file."""
    context = click.get_current_context(silent=True)
    if context is not None and journal is not None:
        reads_from(journal.path)
        context.call_on_close(journal.close)
    return journal


def reads_from(state_file: Path) -> None:
    """What goes wrong from now on may be the fault of ``state_file``."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[STATE_FILE] = state_file


def is_about(run_id: str) -> None:
    """What goes wrong from now on may be the fault of rows of that run, and of those that it has to do with."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault(RUNS, set()).add(run_id)


class OpenRun(Struct, frozen=True):
    """A run with the journal that holds it."""

    journal: Journal
    run: RunRow


class UnknownRun(UsageFault):
    """No run of the scope has the id that was named."""


def open_run(db: str | None, run_id: str) -> OpenRun:
    """The run of this scope with that id; raises UnknownRun for an unknown one, UsageFault for an unusable state file."""
    scope = current_scope(db)
    journal = opened_journal(scope)
    run = None if journal is None else journal.run(run_id)
    if journal is None or run is None:
        known = [] if journal is None else [row.run_id for row in journal.runs()]
        close = nearest(run_id, known)
        raise UnknownRun(
            f'"{run_id}" is no run of {scope.label}',
            f'did you mean "{close}"?' if close else "akm-run list shows the runs; --db names another state file",
        )
    is_about(run_id)
    return OpenRun(journal, run)


def print_busy(busy: BusyFault, *, json: bool) -> None:
    """The document of exit 75."""
    if json:
        out(as_json({"runId": busy.run_id, "error": str(busy)}))
