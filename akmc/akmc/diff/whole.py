"""Workflows that only one side has."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from akm_schemas.plan import Plan
from akmc.diff.added import report_added
from akmc.diff.compare import compare_plans
from akmc.diff.model import CLASSES, Change, PlanDiff, Summary
from akmc.diff.places import Sources
from akmc.diff.scope import Scope
from akmc.diff.sides import Side


class Twin(Struct, frozen=True):
    """A workflow under another path that does the same, or nearly, on the other side."""

    path: str
    side: Side
    plan: Plan


def added_workflow(plan: Plan, sources: Sources, known: frozenset[str], *, came: bool) -> PlanDiff:
    """A workflow that was not there (``came``), or that did not freeze."""
    what = "new workflow" if came else "not compared: it did not freeze before"
    scope = Scope(plan, plan, "", [], known=known, sources=(Sources(), sources))
    scope.report("behaviour", "workflow", what)
    for step in plan.steps:
        report_added(scope, step)
    return _diff(scope.found)


def moved_workflow(twin: Twin, plan: Plan, sources: Sources) -> PlanDiff:
    """A workflow that was not there; ``twin`` is the deleted one whose path it left, with which it is compared."""
    found = compare_plans(twin.plan, plan, (twin.side.sources, sources))
    same = twin.plan.content_hash == plan.content_hash
    what = f'new workflow; does {"" if same else "nearly "}what "{twin.path}" did'
    moved = Change(class_="behaviour", path="workflow", message=what)
    inside = [] if same else found.changes
    return msgspec.structs.replace(_diff([moved, *inside]), steps=[] if same else found.steps)


def deleted_workflow(plan: Plan | None, twin: Twin | None) -> PlanDiff:
    """A workflow that is gone; ``twin`` is the new one that does the same, or nearly."""
    message = "workflow is gone: whoever runs or composes it fails"
    if twin is not None and plan is not None:
        same = twin.plan.content_hash == plan.content_hash
        message += f'; "{twin.path}" does {"" if same else "nearly "}the same'
    return _diff([Change(class_="breaking", path="workflow", message=message)])


def _diff(changes: list[Change]) -> PlanDiff:
    changes.sort(key=lambda change: CLASSES.index(change.class_))
    counts = {name: sum(change.class_ == name for change in changes) for name in CLASSES}
    return PlanDiff(equal=False, changes=changes, steps=[], summary=Summary(**counts))
