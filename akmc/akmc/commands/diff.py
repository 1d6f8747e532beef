"""``akmc diff OLD NEW``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from akmc.commands.options import bundle_and_config
from akmc.help import HelpfulCommand

if TYPE_CHECKING:
    from akm_schemas.plan import Plan
    from akmc.diff.model import ChangeClass, PlanDiff
    from akmc.diff.sides import Side

EPILOG = """\
\b
Examples:
  akmc diff old.json workflows/a.md               a plan against what its source gives now
  akmc diff HEAD:workflows/a.md workflows/a.md    what was committed against the working tree
  akmc diff --fail-on breaking,security old.json new.json
  akmc diff --format markdown old.json new.json   for a pull-request comment
\b
Each side is a plan, a source, or REV:PATH of the git repository.
Exit status: 0, 1 for a difference that was asked about, 2 for a side at fault, 78 for a faulty config.
"""


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("old")
@click.argument("new")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json", "markdown", "html"]),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 when the plans differ.")
@click.option(
    "--fail-on",
    metavar="CLASS[,CLASS]",
    multiple=True,
    help="Exit with 1 on a change of a class: breaking, security, behaviour or provenance.",
)
@click.option("--summary", is_flag=True, help="Print one line.")
@bundle_and_config
def command(
    old: str,
    new: str,
    format_name: str,
    exit_code: bool,
    fail_on: tuple[str, ...],
    summary: bool,
    bundle: Path | None,
    config: Path | None,
) -> int:
    """Compare two plans by what they mean."""
    from akmc.diff.compare import compare_plans
    from akmc.diff.sides import read_side
    from akmc.faults import FOUND, OK, CommandFault

    classes = _classes(fail_on)
    if old == new == "-":
        raise CommandFault("both sides are standard input", help='give "-" once')
    sides = [read_side(label, config=config, bundle=bundle) for label in (old, new)]
    plans = [plan for side in sides if (plan := _plan(side)) is not None]
    if len(plans) < len(sides):
        return max(side.result.status for side in sides)
    found = compare_plans(*plans)
    _show(found, old, new, format_name, summary=summary)
    return FOUND if (exit_code and not found.equal) or found.has(classes) else OK


def _classes(words: tuple[str, ...]) -> tuple[ChangeClass, ...]:
    from akmc.diff.model import CLASSES
    from akmc.faults import CommandFault
    from akmc_grammar.suggest import did_you_mean, listed

    asked = [word.strip() for text in words for word in text.split(",") if word.strip()]
    for word in asked:
        if word not in CLASSES:
            hint = did_you_mean(word, CLASSES) or f"the classes are {listed(CLASSES)}"
            raise CommandFault(f'--fail-on: there is no class "{word}"', help=hint)
    if words and not asked:
        raise CommandFault("--fail-on names no class", help=f"the classes are {listed(CLASSES)}")
    return tuple(name for name in CLASSES if name in asked)


def _plan(side: Side) -> Plan | None:
    """The side's plan; without one, its findings go to standard error."""
    if side.plan is not None and side.result.status == 0:
        return side.plan
    from akmc.console import err
    from akmc.planning import needed_plan
    from akmc.render.escape import visible

    needed_plan(side.result)
    err(f'akmc: "{visible(side.label)}" does not freeze')
    return None


def _show(found: PlanDiff, old: str, new: str, format_name: str, *, summary: bool) -> None:
    import sys

    from akmc.console import out, wants_color

    if summary:
        from akmc.diff.text_format import summary_line

        out(summary_line(found) + "\n")
    elif format_name == "json":
        from akmc.diff.json_format import json_format

        out(json_format(found, old, new))
    elif format_name == "markdown":
        from akmc.diff.markdown_format import markdown_format

        out(markdown_format(found, old, new))
    elif format_name == "html":
        from akmc.diff.html_format import html_format

        out(html_format(found, old, new))
    else:
        from akmc.diff.text_format import text_format

        out(text_format(found, old, new, color=wants_color(sys.stdout)))
