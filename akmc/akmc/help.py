"""Commands whose ``--help`` goes through our own output, so that a closed pipe or a full disk is handled there too."""

from __future__ import annotations

import click

from akmc.console import out


class HelpfulCommand(click.Command):
    """A click command with the shared habits of ``--help``."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The ``--help`` option."""
        return help_option(self, ctx)


def help_option(command: click.Command, ctx: click.Context) -> click.Option | None:
    """``-h`` and ``--help`` for ``command``, written to standard output by ``akmc.console``."""
    names = command.get_help_option_names(ctx)
    if not names or not command.add_help_option:
        return None

    def show(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        del parameter
        if value and not context.resilient_parsing:
            out(context.get_help() + "\n")
            context.exit()

    return click.Option(
        names, is_flag=True, is_eager=True, expose_value=False, callback=show, help="Show this message and exit."
    )
