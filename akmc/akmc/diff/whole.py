"""Workflows that only one side has."""

from __future__ import annotations

from akm_schemas.plan import Plan
from akmc.diff.added import report_added
from akmc.diff.model import CLASSES, Change, PlanDiff, Summary, WorkflowStatus
from akmc.diff.places import Sources
from akmc.diff.scope import Scope


def added_workflow(
    plan: Plan, sources: Sources, known: frozenset[str], twin: str | None, status: WorkflowStatus
) -> PlanDiff:
    """A workflow that was not there (or did not freeze); ``twin`` is a deleted one that did the same."""
    what = "new workflow" if status == "added" else "not compared: it did not freeze before"
    if twin is not None:
        return _diff([Change(class_="behaviour", path="workflow", message=f'{what}; does what "{twin}" did')])
    scope = Scope(plan, plan, "", [], known=known, sources=(Sources(), sources))
    scope.report("behaviour", "workflow", what)
    for step in plan.steps:
        report_added(scope, step)
    return _diff(scope.found)


def deleted_workflow(twin: str | None) -> PlanDiff:
    """A workflow that is gone; ``twin`` is a new one that does the same."""
    message = "workflow is gone: whoever runs or composes it fails"
    return _diff(
        [Change(class_="breaking", path="workflow", message=message + (f'; "{twin}" does the same' if twin else ""))]
    )


def _diff(changes: list[Change]) -> PlanDiff:
    changes.sort(key=lambda change: CLASSES.index(change.class_))
    counts = {name: sum(change.class_ == name for change in changes) for name in CLASSES}
    return PlanDiff(equal=False, changes=changes, steps=[], summary=Summary(**counts))
