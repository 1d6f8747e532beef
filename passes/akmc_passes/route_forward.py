"""Routes lead forward.

Before: route targets are text and may name anything. After: every target that is not a declared later step, every
match that an earlier branch has taken, and every step that no route can reach is reported. The program is unchanged.

Matching is by text (spec 1, section 2.6): ``1`` and ``"1"`` are one match.
"""

from __future__ import annotations

from msgspec import UNSET

from akmc_grammar.diagnostics import Note
from akmc_grammar.ir import Route
from akmc_grammar.places import Path
from akmc_grammar.suggest import did_you_mean, listed
from akmc_passes.artifacts import Artifacts, match_text
from akmc_passes.contract import Context, Program
from akmc_passes.ir_walk import route_of
from akmc_passes.spine import Spine
from akmc_passes.words import quoted

NAME: str = "route_forward"
AFTER: tuple[str, ...] = ("references", "types")
EMITS: tuple[str, ...] = (
    "route-unknown-target",
    "route-backward",
    "route-self",
    "duplicate-route-match",
    "unreachable-step",
)


def run(program: Program, context: Context) -> Program:
    """Check every route of the program."""
    ir = program.document.ir
    if ir is None:
        return program
    artifacts = program.artifacts or Artifacts(program, Spine(ir))
    spine = artifacts.spine
    for index, step in enumerate(ir.steps):
        if step.kind != "route":
            continue
        route = route_of(step)
        for number, branch in enumerate(route.when):
            if isinstance(branch.step, str):
                _check_target(program, context, spine, index, ("when", number, "step"), branch.step)
        if isinstance(route.default, str):
            _check_target(program, context, spine, index, ("default",), route.default)
        _check_matches(program, context, index, route)
    for index in spine.unreachable(artifacts.live_targets):
        routers = spine.routers_of[index]
        notes = [Note("named by this route", program.place("steps", router, "id")) for router in routers]
        message = f'no route can reach "{ir.steps[index].id}"'
        help = "mend the branches that name it, or remove the step"
        context.sink.report("unreachable-step", program.place("steps", index, "id"), message, notes=notes, help=help)
    return program


def _check_target(program: Program, context: Context, spine: Spine, index: int, at: Path, target: str) -> None:
    path: Path = ("steps", index, "route", *at)
    if program.document.is_poisoned(path):
        return
    place = program.place(*path)
    steps = spine.ir.steps
    found = spine.index_of.get(target)
    later = [step.id for step in steps[index + 1 :] if isinstance(step.id, str)]
    if found is None:
        if spine.has_unnamed or program.document.is_poisoned(("steps",)):
            return
        message = f"no step is called {quoted(target)}; later steps: {listed(later)}"
        help = did_you_mean(target, later) or "name a step that is declared after the route"
        context.sink.report("route-unknown-target", place, message, help=help)
    elif found == index:
        message = f"the route {quoted(target)} leads to itself"
        help = 'name a later step; to do a step again, give its gate "max_loops"'
        context.sink.report("route-self", place, message, help=help)
    elif found < index:
        message = f"{quoted(target)} comes before the route: routes lead forward; later steps: {listed(later)}"
        notes = [Note("declared here", program.place("steps", found, "id"))]
        help = 'name a later step; to do a step again, give its gate "max_loops"'
        context.sink.report("route-backward", place, message, notes=notes, help=help)


def _check_matches(program: Program, context: Context, index: int, route: Route) -> None:
    first: dict[str, int] = {}
    for number, branch in enumerate(route.when):
        path: Path = ("steps", index, "route", "when", number, "match")
        if branch.match is UNSET or program.document.is_poisoned(path):
            continue
        text = match_text(branch.match)
        earlier = first.setdefault(text, number)
        if earlier != number:
            message = f"an earlier branch takes {quoted(text)} already: values are matched as text"
            notes = [Note("first taken here", program.place(*path[:4], earlier, "match"))]
            help = "remove one of the two branches"
            context.sink.report("duplicate-route-match", program.place(*path), message, notes=notes, help=help)
