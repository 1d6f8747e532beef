"""``akmc surface PLAN``."""

from __future__ import annotations

from pathlib import Path

import click

from akmc.commands.options import bundle_and_config, format_option
from akmc.help import HelpfulCommand

EPILOG = """\
\b
Examples:
  akmc surface plan.json
  akmc surface workflows/a.md              compile it first
  akmc surface --format json plan.json
"""
TITLES = {
    "programs": "programs",
    "variables": "variables",
    "secretNames": "secret names",
    "endpoints": "endpoints",
    "models": "models",
    "paths": "paths",
    "children": "children",
}


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("plan", metavar="PLAN")
@format_option(["text", "json"], help="How to print it.")
@bundle_and_config
def command(plan: str, format_name: str, bundle: Path | None, config: Path | None) -> int:
    """List all that PLAN can touch: programs, variables, secret names, endpoints, models, paths, children."""
    from akmc.console import out
    from akmc.planning import needed_plan
    from akmc.render.escape import json_text, visible
    from akmc.session.freezing import plan_of
    from akmc.surface import surface_of

    status, found = needed_plan(plan_of(plan, config=config, bundle=bundle))
    if found is None:
        return status
    surface = surface_of(found)
    if format_name == "json":
        head = {"ref": found.provenance.ref, "contentHash": found.content_hash, "planHash": found.plan_hash}
        rows: dict[str, object] = {
            section: [{"name": row.name, "detail": row.detail, "steps": list(row.steps)} for row in touched]
            for section, touched in surface.items()
        }
        out(json_text({**head, **rows}, indent=2) + "\n")
        return status
    lines = [f"plan {visible(found.provenance.ref) or '(outside every bundle)'}", f"contentHash: {found.content_hash}"]
    for section, touched in surface.items():
        lines += ["", f"{TITLES[section]}:" if touched else f"{TITLES[section]}: none"]
        lines += [f"  {visible(row.name)}: {visible(row.detail)} [{', '.join(row.steps)}]" for row in touched]
    out("\n".join(lines) + "\n")
    return status
