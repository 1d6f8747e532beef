"""Steps that only one of the plans has."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from akm_schemas.canonical import canonical_text
from akm_schemas.plan import ChildTarget, CommandTarget, EnvRefBinding, ExecTarget, PassThroughBinding, Step, Unit
from akmc.diff.engines import describe, reach
from akmc.diff.model import ChangeClass
from akmc.diff.phrase import Piece, listed_phrases, phrase
from akmc.diff.scope import Scope
from akmc.diff.targets import describe_target


def report_added(scope: Scope, step: Step) -> None:
    """``security`` when the step runs a program, sees a variable, or speaks to an engine the old plan did not."""
    widened = list(_widened(step, scope.known))
    class_: ChangeClass = "security" if widened else "behaviour"
    what = f"new {step.kind} step"
    scope.report(class_, f"steps.{step.id}", phrase(f"{what} that ", listed_phrases(widened)) if widened else what)


def report_removed(scope: Scope, step: Step) -> None:
    """A step less can neither run nor see more."""
    what = phrase(f"{step.kind} step is gone")
    if step.unit is not UNSET:
        what = phrase(what, "; it ran ", describe_target(step.unit.target))
    scope.report("behaviour", f"steps.{step.id}", what)


def unit_reach(unit: Unit) -> list[Piece]:
    """All that a unit runs, prompts and sees, each in a few words that follow "a step that"."""
    return list(_unit_widened(unit, frozenset())) or [phrase("runs ", describe_target(unit.target))]


def _widened(step: Step, known: frozenset[str]) -> Iterator[Piece]:
    if step.unit is not UNSET:
        yield from _unit_widened(step.unit, known)
    if step.gate is not UNSET and reach(step.gate.judge.engine) not in known:
        yield f"is judged on {describe(step.gate.judge.engine)}"


def _unit_widened(unit: Unit, known: frozenset[str]) -> Iterator[Piece]:
    target = unit.target
    if isinstance(target, CommandTarget):
        if reach(target.engine) not in known:
            yield f"prompts {describe(target.engine)}"
    elif isinstance(target, ChildTarget):
        if any(list(_widened(step, known)) for step in target.frozen_plan.steps):
            yield f'runs workflow "{target.ref}"'
    else:
        yield phrase("runs ", describe_target(target))
    if isinstance(target, ExecTarget):
        yield from (f'sees variable "{name}"' for name in target.pass_env)
    for binding in unit.env:
        if isinstance(binding, EnvRefBinding):
            yield f'sees env ref "{binding.ref}"'
        elif isinstance(binding, PassThroughBinding):
            yield f'sees variable "{binding.name}"'
        else:
            yield f'sets variable "{binding.name}" to {canonical_text(binding.value)}'
