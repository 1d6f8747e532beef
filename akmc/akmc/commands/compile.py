"""``akmc compile SOURCE``."""

from __future__ import annotations

from pathlib import Path

import click

from akmc.commands.options import bundle_and_config
from akmc.help import HelpfulCommand

EPILOG = """\
\b
Examples:
  akmc compile workflows/a.md -o a.json            freeze
  akmc compile workflows/a.md --emit text          the plan as readable text
  akmc compile --check workflows/a.md -o a.json    fail if a.json is not what the sources give now
  akmc compile --refresh                           compile again the stale plans that git tracks here
  akmc compile --print-passes                      the passes, in order
\b
Exit status: 0 done, 1 a stale plan, 2 the source is at fault, 78 the config is.
"""


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("sources", nargs=-1, metavar="SOURCE")
@click.option("-o", "--output", metavar="PLAN", help='Where to write; "-" (the default) is standard output.')
@click.option(
    "--emit",
    type=click.Choice(["source-ir", "resolved", "plan", "text"]),
    default="plan",
    show_default=True,
    help="What to write.",
)
@click.option("--stop-after", metavar="PASS", help="Run the passes up to PASS, and write the program as it is then.")
@click.option("--time-passes", is_flag=True, help="Say on standard error how long each pass took.")
@click.option("--print-passes", is_flag=True, help="List the passes and exit.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when PLAN is not what the sources give now.")
@click.option(
    "--refresh",
    is_flag=True,
    help="Take plans instead of a source (default: all that git tracks here), and compile again those that are stale.",
)
@click.option("--pretty", is_flag=True, help="Write the indented twin: the same plan, the same hashes.")
@click.option("--stdin-filename", metavar="NAME", help='The name of what SOURCE "-" reads from standard input.')
@bundle_and_config
def command(
    sources: tuple[str, ...],
    output: str | None,
    emit: str,
    stop_after: str | None,
    time_passes: bool,
    print_passes: bool,
    check: bool,
    refresh: bool,
    pretty: bool,
    stdin_filename: str | None,
    bundle: Path | None,
    config: Path | None,
) -> int:
    """Freeze SOURCE into a plan. Nothing is written when anything is wrong."""
    from akmc.compiling import CompileOptions, print_pass_list, run_compile
    from akmc.faults import CommandFault

    if print_passes:
        return print_pass_list()
    if refresh:
        if output is not None or check or emit != "plan" or stop_after is not None:
            raise CommandFault("--refresh writes plans where they are", help="leave -o, --check and --emit out")
        from akmc.refreshing import run_refresh

        return run_refresh(sources, bundle=bundle, config=config)
    if not sources:
        raise CommandFault("SOURCE is missing", help="name a workflow, for example workflows/a.md")
    if len(sources) > 1:
        raise CommandFault(f"one SOURCE at a time, found {len(sources)}", help="compile each with its own -o")
    (source,) = sources
    options = CompileOptions(
        source=source,
        output=output,
        emit=emit,
        stop_after=stop_after,
        time_passes=time_passes,
        check=check,
        pretty=pretty,
        stdin_filename=stdin_filename,
        bundle=bundle,
        config=config,
    )
    return run_compile(options)
