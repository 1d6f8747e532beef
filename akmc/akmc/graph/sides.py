"""What ``akmc graph`` draws: a plan, a source with or without a config, or a revision of one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from akm_schemas.plan import Plan
from akmc.faults import CONFIG
from akmc.planning import needed_plan
from akmc.session.freezing import PlanResult, compile_source, is_source, plan_of


@dataclass(frozen=True, slots=True)
class Drawn:
    """A plan to draw, or the exit ``status`` of a side that has none."""

    status: int
    plan: Plan | None


def drawn_plan(spec: str, *, diff: bool, bundle: Path | None, config: Path | None) -> Drawn:
    """The plan that ``spec`` names; findings of a source were shown on standard error.

    A source whose only faults are those of the config (no engine, no judge) is drawn with its engines left open. The
    sides of a difference must freeze: open engines would differ from resolved ones, and hashes are compared.

    Raises:
        CommandFault: as ``plan_of`` and ``read_side`` do.
    """
    if diff:
        from akmc.diff.sides import read_side

        return _shown(read_side(spec, config=config, bundle=bundle).result)
    if not is_source(spec):
        return _shown(plan_of(spec))
    result = compile_source(spec, config=config, bundle=bundle)
    if result.plan is None and result.status == CONFIG:
        result = compile_source(spec, config=config, bundle=bundle, form="resolved")
    return _shown(result)


def _shown(result: PlanResult) -> Drawn:
    return Drawn(*needed_plan(result))
