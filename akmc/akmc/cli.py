"""The console script ``akmc``: which command was asked for, and how every command ends.

Commands are modules of ``akmc.commands`` that are imported when they run; the list of ``akmc --help`` comes from the
table below, so that help and completion load none of them.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, NoReturn, cast

import click

from akmc.console import ColorChoice, choose_color, err, leave
from akmc.faults import INTERNAL, INTERRUPTED, OK, USAGE, CommandFault
from akmc.help import help_option

if TYPE_CHECKING:
    from collections.abc import Sequence

# name -> (module with a click command named ``command``, one line for the list)
COMMANDS: dict[str, tuple[str, str]] = {
    "check": ("akmc.commands.check", "Check workflows and tasks, and say what is wrong with them."),
    "compile": ("akmc.commands.compile", "Freeze a workflow into a plan."),
    "config": ("akmc.commands.config", "Read and change settings."),
    "diff": ("akmc.commands.diff", "Compare two plans by what they mean."),
    "explain": ("akmc.commands.explain", "Show the page of a rule, or list all rules."),
    "migrate": ("akmc.commands.migrate", "Turn workflows of the superseded formats into Markdown."),
    "new": ("akmc.commands.new", "Write a starter workflow."),
    "schema": ("akmc.commands.schema", "Print a published JSON Schema, or list all of them."),
    "show": ("akmc.commands.show", "Show a plan or a source as readable text."),
    "verify": ("akmc.commands.verify", "Check that a plan is intact."),
}

EXAMPLES = """\
\b
Examples:
  akmc new hello                      write workflows/hello.md
  akmc check                          check every workflow of this folder
  akmc compile workflows/hello.md -o hello.json
"""


def _set_color(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    del parameter
    if value is not None and not ctx.resilient_parsing:
        choose_color(cast(ColorChoice, value))
        ctx.color = None if value == "auto" else value == "always"


def color_option() -> click.Option:
    """``--color auto|always|never``; the one that is written last, nearest to the command, counts."""
    return click.Option(
        ["--color"],
        type=click.Choice(["auto", "always", "never"]),
        expose_value=False,
        callback=_set_color,
        is_eager=True,
        help="When to use colours (default: auto, on a terminal); NO_COLOR is honoured too.",
    )


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The ``--help`` option."""
        return help_option(self, ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All command names, sorted."""
        del ctx
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command, or ``None`` for an unknown name."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        command = cast(click.Command, import_module(COMMANDS[cmd_name][0]).command)
        if not any("--color" in parameter.opts for parameter in command.params):
            command.params.append(color_option())  # it may stand before the command's name or after it
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command list, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the nearest name for an unknown command."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            from akmc_grammar.suggest import did_you_mean

            hint = did_you_mean(name, COMMANDS) or "see akmc --help for the list"
            raise CommandFault(f'there is no command "{name}"', help=hint)
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    del parameter
    if not value or ctx.resilient_parsing:
        return
    from akmc.console import out
    from akmc.version import version

    out(f"akmc {version()}\n")
    ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EXAMPLES,
    params=[color_option()],
    invoke_without_command=True,
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    callback=_print_version,
    is_eager=True,
    help="Show the version and exit.",
)
@click.pass_context
def akmc(ctx: click.Context) -> None:
    """Check AKM workflows and compile them into frozen plans that akm-run executes."""
    if ctx.invoked_subcommand is None:
        err(ctx.get_help())
        ctx.exit(USAGE)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run ``akmc`` and end the process. No traceback reaches a person.

    Start and end are most of what a check of one file takes. So the collector leaves the young objects of imports
    alone for longer, and nothing is taken apart that the system frees anyway (mypy ends in the same way); nothing in
    ``akmc`` registers an exit handler.
    """
    gc.set_threshold(20_000, 20, 20)
    leave(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run ``akmc`` with ``arguments`` (the process's own by default) and return its exit status."""
    try:
        status = akmc.main(args=arguments, prog_name="akmc", standalone_mode=False)
        return status if isinstance(status, int) else OK
    except CommandFault as fault:
        return _say_fault(fault)
    except click.ClickException as error:
        return _say_usage(error)
    except (KeyboardInterrupt, click.Abort):
        err("akmc: interrupted")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one place where a bug becomes a report instead of a traceback
        from akmc.crash import say_internal_error

        say_internal_error(error)
        return INTERNAL


def _say_fault(fault: CommandFault) -> int:
    from akmc.render.escape import visible

    err(f"akmc: {visible(fault.message)}")
    if fault.help:
        err(f"  help: {visible(fault.help)}")
    return fault.status


def _say_usage(error: click.ClickException) -> int:
    from akmc.render.escape import visible

    err(f"akmc: {visible(error.format_message())}")
    if isinstance(error, click.UsageError) and error.ctx is not None:
        err(f'  help: see "{error.ctx.command_path} --help"')
    return USAGE
