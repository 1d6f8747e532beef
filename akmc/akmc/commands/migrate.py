"""``akmc migrate FILE...``."""

from __future__ import annotations

from pathlib import Path

import click

from akmc.help import HelpfulCommand

EPILOG = """\
\b
Examples:
  akmc migrate workflows/old.yaml >workflows/new.md
  akmc migrate workflows/*.yaml -o workflows
  akmc migrate --engines engines.json old/*.md old/*.yaml -o workflows
\b
engines.json maps old runner and profile names to engines, as in {"agent": "claude"}.
Exit status: 0 all migrated, 1 a file is not, 2 the call makes no sense.
"""


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write DIR/<name>.md for each FILE (default: one FILE to standard output).",
)
@click.option(
    "--engines",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="JSON that maps old runner and profile names to engines.",
)
@click.option("--force", is_flag=True, help="Overwrite files that are there already.")
def command(files: tuple[str, ...], output: Path | None, engines: Path | None, force: bool) -> int:
    """Turn workflows of the two superseded formats into Markdown: the classic Markdown and the YAML program.

    What the new format has no place for stays as prose, and is listed on standard error with its line in FILE.
    """
    from akmc.migrate.run import MigrateOptions, run_migrate

    return run_migrate(MigrateOptions(files=files, output=output, engines=engines, force=force))
