"""The commands of ``akm-run``, one module each, imported when they run.

To add one: a module with a click command named ``command``, and a row in ``COMMANDS``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from akm_run.faults import CommandFault

if TYPE_CHECKING:
    import click

STATE_FILE: Final = "akm_run.state_file"  # the key in click's context: the path of the journal that is read
RUNS: Final = "akm_run.runs"  # as well: the ids of the runs that the command is about, where it is not about all
COMMANDS: Final[Mapping[str, str]] = {
    "run": "Run a plan, or go on with a run (the word may be left out)",
    "status": "Show a run: steps, evidence, units",
    "list": "List the runs of this scope",
    "resume": "Make a failed or blocked run active again",
    "abandon": "Make a run that is not completed fail",
    "events": "Print a run's event stream as JSON Lines",
    "logs": "Print what units have written, also while they run",
    "why": "Say why a unit was, or would be, dispatched or reused",
    "output": "Print a run's exported results",
    "report": "Write a run as one HTML page",
    "export": "Write a run to a file of its own",
    "import": "Take runs from an exported file",
    "prune": "Forget runs that ended long ago",
}


def group() -> click.Group:
    """The click group that imports a command when it is asked for."""
    import click

    class Table(click.Group):
        def invoke(self, ctx: click.Context) -> object:
            try:
                return super().invoke(ctx)
            except (CommandFault, click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
                raise
            except Exception as error:  # of a sound file it goes on to the last resort
                fault = _fault_of_file(error, ctx)
                if fault is None:
                    raise
                raise fault from error

        def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
            return list(COMMANDS)

        def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
            import importlib

            if name not in COMMANDS:
                return None
            found = importlib.import_module(f"akm_run.commands.{name}_command").command
            assert isinstance(found, click.Command)
            return found

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
            with formatter.section("Commands"):
                formatter.write_dl(list(COMMANDS.items()))

    def version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted:
            click.echo(f"akm-run {_installed()}")
            ctx.exit()

    return Table(
        name="akm-run",
        help="Run frozen AKM plans.\n\n\b\nExamples:\n  akm-run plan.json --topic rust\n  akm-run list --active",
        params=[
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=version,
                help="Show the version.",
            )
        ],
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="akm-run PLAN --help lists the params of a plan.",
    )


def _fault_of_file(error: Exception, ctx: click.Context) -> Exception | None:
    """What to say of an error that the command's state file has caused; ``None`` for any other error."""
    sqlite3 = sys.modules.get("sqlite3")  # imported by whoever opened the file
    if sqlite3 is None or STATE_FILE not in ctx.meta or isinstance(error, OSError):  # no row makes the system refuse
        return None
    from akm_run.journal.trouble import damage_behind, state_fault

    path, runs = ctx.meta[STATE_FILE], ctx.meta.get(RUNS, ())
    # whatever else went wrong: rows of an odd file may be missing, contradict each other, or lead anywhere
    return state_fault(error, path, runs=runs) if isinstance(error, sqlite3.Error) else damage_behind(path, runs)


def _installed() -> str:
    """The installed version, ``0+unknown`` in a checkout that was never installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("akmc")
    except PackageNotFoundError:
        return "0+unknown"
