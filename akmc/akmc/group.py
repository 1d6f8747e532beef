"""The click group behind every call that has options: the list of commands, ``--help``, ``--color``, faults of usage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import click

from akmc.cli import COMMANDS
from akmc.console import ColorChoice, choose_color, err
from akmc.faults import INTERRUPTED, OK, USAGE, CommandFault
from akmc.help import help_option

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


def run_group(words: Sequence[str]) -> int:
    """Run the command that ``words`` name and return its exit status. Raises what the command raises."""
    try:
        status = akmc.main(args=list(words), prog_name="akmc", standalone_mode=False)
        return status if isinstance(status, int) else OK
    except click.ClickException as error:
        return _say_usage(error)
    except click.Abort:
        err("akmc: interrupted")
        return INTERRUPTED


def _say_usage(error: click.ClickException) -> int:
    from akmc.render.escape import visible

    err(f"akmc: {visible(error.format_message())}")
    if isinstance(error, click.UsageError) and error.ctx is not None:
        err(f'  help: see "{error.ctx.command_path} --help"')
    return USAGE
