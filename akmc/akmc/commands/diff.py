"""``akmc diff OLD NEW``."""

from __future__ import annotations

from pathlib import Path

import click

from akmc.commands.options import bundle_and_config, format_option
from akmc.help import HelpfulCommand

EPILOG = """\
\b
Examples:
  akmc diff old.json workflows/a.md               a plan against what its source gives now
  akmc diff HEAD:workflows/a.md workflows/a.md    what was committed against the working tree
  akmc diff --fail-on breaking,security old.json new.json
  akmc diff --merge-base main --format markdown   a whole branch, for a pull-request comment
\b
Each side is a plan, a source, or REV:PATH of the git repository.
Exit status: 0, 1 for a difference that was asked about, 2 for a side at fault, 78 for a faulty config.
"""


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("paths", nargs=-1, metavar="OLD NEW | --merge-base REV [PATH]...")
@format_option(["text", "json", "markdown", "html"])
@click.option("--exit-code", is_flag=True, help="Exit with 1 when the plans differ.")
@click.option(
    "--fail-on",
    metavar="CLASS[,CLASS]",
    multiple=True,
    help="Exit with 1 on a change of a class: breaking, security, behaviour or provenance.",
)
@click.option("--summary", is_flag=True, help="Print one line.")
@click.option(
    "--label",
    "labels",
    metavar="NAME",
    multiple=True,
    help="The name of a side in what is printed, once for OLD and once for NEW (for git, whose files are temporary).",
)
@click.option(
    "--merge-base",
    metavar="REV",
    help="Compare all workflows of the bundle (or each PATH) with the commit where HEAD left REV.",
)
@bundle_and_config
def command(
    paths: tuple[str, ...],
    format_name: str,
    exit_code: bool,
    fail_on: tuple[str, ...],
    summary: bool,
    labels: tuple[str, ...],
    merge_base: str | None,
    bundle: Path | None,
    config: Path | None,
) -> int:
    """Compare two plans by what they mean."""
    from akmc.diff.running import DiffOptions, run_diff

    options = DiffOptions(
        paths=paths,
        format_name=format_name,
        exit_code=exit_code,
        fail_on=fail_on,
        summary=summary,
        labels=labels,
        merge_base=merge_base,
        bundle=bundle,
        config=config,
    )
    return run_diff(options)
