"""A plan as a scene: its steps, its routes, and which steps a run can skip."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET

from akm_schemas.drawing.facts import branches_of, foot_of, head_of, kind_of, lines_of, prose_of
from akm_schemas.drawing.model import Arc, Mark, Node, Scene
from akm_schemas.plan import ChildTarget, Plan, Step


def scene_of(plan: Plan, *, marks: Mapping[str, Mark] | None = None, prefix: str = "") -> Scene:
    """The scene of a plan; ``marks`` by key (``build``, in a composed workflow ``kid/build``).

    ``prefix`` stands before every key: empty, or a key and a slash.
    """
    routes = routes_of(plan)
    optional = optional_steps(plan)
    index_of = {step.id: step.index for step in plan.steps}
    return Scene(
        title=plan.provenance.title,
        ref=plan.provenance.ref,
        head=tuple(head_of(plan)),
        nodes=tuple(_node(step, step.id in optional, marks or {}, prefix) for step in plan.steps),
        arcs=tuple(
            Arc(index_of[source], index_of[target], label)
            for source, branches in routes.items()
            for target, label in branches.items()
        ),
        foot=tuple(foot_of(plan)),
    )


def routes_of(plan: Plan) -> dict[str, dict[str, str]]:
    """Id of each route step to its branches (``facts.branches_of``)."""
    return {step.id: branches_of(step.route) for step in plan.steps if step.route is not UNSET}


def optional_steps(plan: Plan) -> frozenset[str]:
    """Ids of the steps that some run can skip.

    A target runs when a decided route selected it. A route that always runs and has one way out skips nothing.
    """
    routers: dict[str, list[str]] = {}
    ways = {source: len(branches) for source, branches in routes_of(plan).items()}
    for source, branches in routes_of(plan).items():
        for target in branches:
            routers.setdefault(target, []).append(source)
    found: set[str] = set()
    for step in plan.steps:  # routes lead forward, so every router of a step is decided before it
        sources = routers.get(step.id)
        if sources and not any(ways[source] == 1 and source not in found for source in sources):
            found.add(step.id)
    return frozenset(found)


def _node(step: Step, optional: bool, marks: Mapping[str, Mark], prefix: str) -> Node:
    key = prefix + step.id
    child = None
    if step.unit is not UNSET and isinstance(step.unit.target, ChildTarget):
        child = scene_of(step.unit.target.frozen_plan, marks=marks, prefix=f"{key}/")
    return Node(
        key=key,
        id=step.id,
        kind=kind_of(step),
        mapped=step.map is not UNSET,
        optional=optional,
        lines=tuple(lines_of(step)),
        prose=tuple(prose_of(step)),
        child=child,
        mark=marks.get(key),
    )
