"""Routes: the decision, and which steps it leaves out."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET, Struct

from akm_run.resolution import kind_of
from akm_schemas.canonical import canonical_text
from akm_schemas.json_types import Json
from akm_schemas.plan import Plan, Route


class NoBranch(Struct, frozen=True):
    """The route cannot be decided: a failure reason and a message that names the input."""

    reason: str
    why: str


def match_text(value: Json) -> str | None:
    """The text that is compared: strings as they are, other scalars as JSON; ``None`` for null, arrays, objects."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, list | dict):
        return None
    return canonical_text(value)


def select(route: Route, value: Json) -> str | NoBranch:
    """The step id that ``value`` selects."""
    text = match_text(value)
    if text is None:
        return NoBranch(
            "wrong_kind", f"{route.input.text} is {kind_of(value)}: a route reads a string, number or boolean"
        )
    for branch in route.when:
        if match_text(branch.match) == text:
            return branch.step
    if route.default is not UNSET:
        return route.default
    known = ", ".join(sorted(f'"{match_text(branch.match)}"' for branch in route.when))
    return NoBranch("no_branch", f"{route.input.text} matches no branch and there is no default; branches: {known}")


def routers_of(plan: Plan) -> Mapping[str, tuple[int, ...]]:
    """Step id of every route target -> indexes of the routes that name it."""
    routers: dict[str, list[int]] = {}
    for step in plan.steps:
        if step.route is UNSET:
            continue
        targets = {branch.step for branch in step.route.when}
        if step.route.default is not UNSET:
            targets.add(step.route.default)
        for target in sorted(targets):
            routers.setdefault(target, []).append(step.index)
    return {target: tuple(indexes) for target, indexes in routers.items()}
