"""``akmc graph SOURCE-or-PLAN``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from akmc.commands.options import bundle_and_config, format_option
from akmc.help import HelpfulCommand

if TYPE_CHECKING:
    from akm_schemas.drawing import Scene
    from akm_schemas.plan import Plan
    from akmc.graph.formats import Format

EPILOG = """\
\b
Examples:
  akmc graph workflows/a.md                        Mermaid, for Markdown and GitHub
  akmc graph plan.json --format html -o a.html     a page with every step in full
  akmc graph --diff HEAD:workflows/a.md workflows/a.md --format svg -o diff.svg
\b
Each PLAN is a plan, "-" for standard input, or a source; with --diff also REV:PATH of the git repository.
A source is drawn without a config too: its engines are left open then.
"""


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("plan", nargs=-1, metavar="PLAN | --diff OLD NEW")
@format_option(["mermaid", "dot", "svg", "html"])
@click.option("--diff", is_flag=True, help="Draw what differs between two plans.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help='Where to write; "-" (the default) is standard output.'
)
@bundle_and_config
def command(
    plan: tuple[str, ...],
    format_name: str,
    diff: bool,
    output: Path | None,
    bundle: Path | None,
    config: Path | None,
) -> int:
    """Draw a workflow: its steps in order, with routes, maps, gates and composed workflows."""
    from akmc.graph.formats import write_scene

    _check_sides(plan, diff=diff)
    status, found = _plans(plan, diff=diff, bundle=bundle, config=config)
    if found is None:
        return status
    scene = _scene(found, plan)
    text = write_scene(scene, cast("Format", format_name))
    if format_name == "mermaid":
        _say_limits(scene, text)
    if output is None or str(output) == "-":
        from akmc.console import out

        out(text)
    else:
        from akmc.files import write_atomically

        write_atomically(output, text.encode("utf-8"))
    return status


def _check_sides(plan: tuple[str, ...], *, diff: bool) -> None:
    from akmc.faults import CommandFault

    if diff and len(plan) != 2:
        raise CommandFault(f"--diff draws two plans, and {len(plan)} were named", help="akmc graph --diff OLD NEW")
    if diff and plan[0] == plan[1] == "-":
        raise CommandFault("both sides are standard input", help='give "-" once')
    if not diff and len(plan) != 1:
        help = "name one, or add --diff to compare two" if plan else "name a plan or a source"
        raise CommandFault(f"one plan is drawn, and {len(plan) or 'none'} were named", help=help)


def _plans(
    named: tuple[str, ...], *, diff: bool, bundle: Path | None, config: Path | None
) -> tuple[int, list[Plan] | None]:
    """The plan of each side, or the exit status of the worst once the findings were shown."""
    from akmc.graph.sides import drawn_plan

    results = [drawn_plan(name, diff=diff, bundle=bundle, config=config) for name in named]
    plans = [result.plan for result in results if result.plan is not None]
    status = max(result.status for result in results)
    return (status, plans) if len(plans) == len(named) else (status, None)


def _scene(plans: list[Plan], names: tuple[str, ...]) -> Scene:
    if len(plans) == 1:
        from akm_schemas.drawing import scene_of

        return scene_of(plans[0])
    from akmc.graph.difference import difference_scene

    return difference_scene(plans[0], plans[1], (names[0], names[1]))


def _say_limits(scene: Scene, text: str) -> None:
    from akmc.console import err
    from akmc.graph.mermaid import limits

    for limit in limits(scene, text):
        err(f"akmc: Mermaid draws at most {limit}")
        err("  help: raise maxEdges and maxTextSize where the page is yours, or take --format svg")
