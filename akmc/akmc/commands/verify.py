"""``akmc verify PLAN``."""

from __future__ import annotations

from pathlib import Path

import click

from akmc.commands.options import bundle_and_config
from akmc.help import HelpfulCommand

EPILOG = """\
\b
Examples:
  akmc verify plan.json
  akmc verify --sources plan.json     also compare the sources it was frozen from
\b
Exit status: 0 intact, 1 not, 2 the call makes no sense, 78 a faulty config (with --sources).
"""


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("plan", metavar="PLAN")
@click.option("--sources", is_flag=True, help="Re-hash the files of the read set.")
@bundle_and_config
def command(plan: str, sources: bool, bundle: Path | None, config: Path | None) -> int:
    """Check that PLAN is intact: its shape, its bounds and every hash in it."""
    from akmc.console import err, out
    from akmc.faults import FOUND, OK
    from akmc.render.escape import visible
    from akmc.session.freezing import read_plan

    found = read_plan(plan, status=FOUND)
    if sources:
        from akmc.session.sources import compare_sources

        differences = compare_sources(found, bundle=bundle, config=config)
        for difference in differences:
            out(f"{visible(difference)}\n")
        if differences:
            err(f"akmc: {visible(plan)}: intact, but its sources have moved on")
            return FOUND
    out(f"{visible(plan)}: intact\ncontentHash {found.content_hash}\nplanHash {found.plan_hash}\n")
    return OK
