"""``akmc check [PATH...]``."""

from __future__ import annotations

from pathlib import Path

import click

from akmc.commands.options import bundle_and_config, format_option
from akmc.help import HelpfulCommand
from akmc.render import FORMATS

EPILOG = """\
\b
Examples:
  akmc check                                      every workflow and task of this bundle
  akmc check --strict --freeze workflows/a.md     warnings count, engines are looked up
  akmc check --fix                                mend what can be mended safely
  akmc check --watch                              again after every change, until Ctrl-C
  akmc check --format sarif >findings.sarif       for code scanning
  akmc check --stdin-filename workflows/a.md -    an editor's unsaved text
\b
Exit status: 0 clean, 1 findings, 2 the call makes no sense, 78 the config is faulty, 130 Ctrl-C.
"""


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--strict", is_flag=True, help="Warnings fail the check too.")
@click.option("--freeze", is_flag=True, help="Also run the rules of freezing: engines, models, judge, env.")
@click.option("--select", multiple=True, metavar="RULE", help="Report these rules alone (names or codes).")
@click.option("--ignore", multiple=True, metavar="RULE", help="Leave these rules out.")
@click.option("--fix", is_flag=True, help="Apply safe fixes, and report what is left.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes.")
@format_option(FORMATS)
@click.option("--stdin-filename", metavar="NAME", help='The name of what "-" reads from standard input.')
@bundle_and_config
def command(
    paths: tuple[str, ...],
    strict: bool,
    freeze: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fix: bool,
    watch: bool,
    format_name: str,
    stdin_filename: str | None,
    bundle: Path | None,
    config: Path | None,
) -> int:
    """Check workflows and tasks: each PATH, or every workflow and task of the bundle around this folder."""
    from akmc.checking import CheckOptions, run_check

    options = CheckOptions(
        paths=paths,
        strict=strict,
        freeze=freeze,
        select=select,
        ignore=ignore,
        fix=fix,
        watch=watch,
        format_name=format_name,
        stdin_filename=stdin_filename,
        bundle=bundle,
        config=config,
    )
    return run_check(options)
