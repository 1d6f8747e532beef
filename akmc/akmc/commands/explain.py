"""``akmc explain [RULE]``."""

from __future__ import annotations

import click

from akmc.console import out
from akmc.help import HelpfulCommand

EPILOG = """\
\b
Examples:
  akmc explain                      list all rules
  akmc explain unexpected-heading   by name
  akmc explain AKM0401              by code
"""


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("rule", required=False)
def command(rule: str | None) -> None:
    """Show the documentation page of RULE, by code or name; without RULE, list all rules."""
    from akmc.rule_pages import asked_rule, page, rule_list

    out(rule_list() if rule is None else page(asked_rule(rule)))
