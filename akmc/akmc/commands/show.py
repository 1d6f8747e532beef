"""``akmc show PLAN``."""

from __future__ import annotations

from pathlib import Path

import click

from akmc.commands.options import bundle_and_config, format_option
from akmc.help import HelpfulCommand

EPILOG = """\
\b
Examples:
  akmc show plan.json
  akmc show workflows/a.md              compile it, and show the preamble too
  akmc show --format json plan.json
"""


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("plan", metavar="PLAN")
@format_option(["text", "json"], help="Readable text, or steps as JSON.")
@bundle_and_config
def command(plan: str, format_name: str, bundle: Path | None, config: Path | None) -> int:
    """Show PLAN as readable text: a plan file, "-" for standard input, or a source, which is compiled on the fly."""
    from akmc.console import out
    from akmc.planning import needed_plan
    from akmc.session.freezing import plan_of

    result = plan_of(plan, config=config, bundle=bundle)
    status, found = needed_plan(result)
    if found is None:
        return status
    document = result.analysis.document if result.analysis is not None else None
    preamble = document.ir.preamble if document is not None and document.ir is not None else None
    if format_name == "json":
        from akmc.render.escape import json_text
        from akmc.render.plan_json import shown_plan

        out(json_text(shown_plan(found, preamble=preamble), indent=2) + "\n")
    else:
        from akmc.render.plan_text import plan_text

        out(plan_text(found, preamble=preamble or ""))
    return status
