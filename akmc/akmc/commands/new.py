"""``akmc new NAME``."""

from __future__ import annotations

from pathlib import Path

import click

from akmc.console import err, out
from akmc.faults import CommandFault
from akmc.help import HelpfulCommand

EPILOG = """\
\b
Examples:
  akmc new hello           write workflows/hello.md
  akmc new team/release    write workflows/team/release.md
  akmc new --yaml hello    write workflows/hello.yml
"""


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("name")
@click.option("--yaml", is_flag=True, help="Write the GitHub-shaped YAML form instead of Markdown.")
@click.option(
    "--bundle", type=click.Path(path_type=Path), help="The bundle to write into (default: the one around this folder)."
)
def command(name: str, yaml: bool, bundle: Path | None) -> None:
    """Write a starter workflow, workflows/NAME.md (or .yml). It checks clean and runs as it is, without any config."""
    import shlex

    from akmc.files import create_exclusively
    from akmc.render.escape import visible
    from akmc.starter import starter_text, workflow_name

    stem = workflow_name(name)
    root = bundle if bundle is not None else _bundle_here()
    folder = root / "workflows"
    suffix, other = (".yml", ".md") if yaml else (".md", ".yml")
    path, twin = folder / f"{stem}{suffix}", folder / f"{stem}{other}"
    for taken in (path, twin):
        if taken.exists() or taken.is_symlink():
            raise CommandFault(f'"{taken}" is there already', help="choose another name; nothing was written")
    try:
        create_exclusively(path, starter_text(stem, suffix).encode())
    except FileExistsError as error:
        raise CommandFault(f'"{path}" is there already', help="choose another name; nothing was written") from error
    except OSError as error:
        raise CommandFault(f'cannot write "{path}": {error.strerror or error}', help="nothing was written") from error
    out(f"{path}\n")
    err(visible(f"next: akmc check {shlex.quote(str(path))}"))


def _bundle_here() -> Path:
    """The bundle around the working directory, as a relative path where that is shorter to read."""
    import os

    from akmc.session.targets import bundle_root

    here = Path.cwd()
    return Path(os.path.relpath(bundle_root(here) or here, here))
