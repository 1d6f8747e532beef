"""The comparison of two frozen plans: matches their steps and collects every change.

Pure: two plans in, one ``PlanDiff`` out, the same for the same plans whatever produced them.
"""

from __future__ import annotations

from msgspec import UNSET

from akm_schemas.plan import ChildTarget, Plan, ReferenceInput
from akmc.diff.added import report_added, report_removed
from akmc.diff.contracts import compare_outputs, compare_params
from akmc.diff.engines import reachable
from akmc.diff.matching import Matching, match_steps
from akmc.diff.model import CLASSES, Change, PlanDiff, Summary
from akmc.diff.places import Sources
from akmc.diff.provenance import provenance_message
from akmc.diff.reuse import reuse_of
from akmc.diff.scope import NO_SOURCES, Scope
from akmc.diff.steps import compare_steps
from akmc.diff.targets import compare_value


def compare_plans(old: Plan, new: Plan, sources: tuple[Sources, Sources] = NO_SOURCES) -> PlanDiff:
    """Every difference of meaning between ``old`` and ``new`` (spec 2, section 4).

    ``sources`` are the source files of both sides as far as they are at hand: with them, places are those of keys.

    Plans with equal ``planHash`` are equal; with equal ``contentHash`` they differ in provenance alone, which is one
    change of that class. Otherwise provenance is not listed.
    """
    if old.plan_hash == new.plan_hash:
        return PlanDiff(equal=True, changes=[], steps=reuse_of(old, new), summary=Summary())
    if old.content_hash == new.content_hash:
        change = Change(class_="provenance", path="provenance", message=provenance_message(old, new))
        return PlanDiff(equal=False, changes=[change], steps=reuse_of(old, new), summary=Summary(provenance=1))
    changes = _compare(Scope(old, new, "", [], known=reachable([old]), sources=sources))
    changes.sort(key=lambda change: CLASSES.index(change.class_))  # stable: plan order within a class
    counts = {name: sum(change.class_ == name for change in changes) for name in CLASSES}
    return PlanDiff(equal=False, changes=changes, steps=reuse_of(old, new), summary=Summary(**counts))


def _compare(unmatched: Scope) -> list[Change]:
    old, new = unmatched.old, unmatched.new
    matching = match_steps(old, new)
    scope = Scope(
        old,
        new,
        unmatched.prefix,
        unmatched.found,
        matching.renames,
        unmatched.known,
        unmatched.sources,
        unmatched.exposed,
    )
    compare_params(scope)
    _compare_settings(scope)
    for step in matching.removed:
        report_removed(scope, step)
    added = {step.id: step for step in matching.added}
    pairs = {after.id: before for before, after in matching.pairs}
    for step in new.steps:
        if step.id in added:
            report_added(scope, step)
            continue
        _report_identity(scope, matching, pairs[step.id].id, step.id, step.index)
        compare_steps(scope, pairs[step.id], step, _compare_children)
    compare_outputs(scope)
    if not scope.found:
        # every known part is equal, yet the hashes differ: say so instead of calling the plans alike
        scope.report("behaviour", "contentHash", "differs", old=old.content_hash, new=new.content_hash)
    return scope.found


def _compare_settings(scope: Scope) -> None:
    old, new = scope.old, scope.new
    compare_value(scope, "budget.maxUnits", "budget.max_units", old.budget.max_units, new.budget.max_units)
    compare_value(scope, "budget.maxTokens", "budget.max_tokens", old.budget.max_tokens, new.budget.max_tokens)
    before, after = (
        UNSET if plan.execution.max_concurrency is None else plan.execution.max_concurrency for plan in (old, new)
    )
    compare_value(scope, "execution.maxConcurrency", "concurrency of a run", before, after)
    if old.ir_version != new.ir_version:
        compare_value(scope, "irVersion", "irVersion", old.ir_version, new.ir_version)


def _report_identity(scope: Scope, matching: Matching, old_id: str, new_id: str, index: int) -> None:
    if old_id != new_id:
        message = f'was called "{old_id}"'
        scope.report("behaviour", f"steps.{new_id}", message, old=old_id, new=new_id)
    if new_id in matching.moved:
        after = scope.new.steps[index - 1].id if index else None
        where = f'after step "{after}"' if after else "to the front"
        scope.report("behaviour", f"steps.{new_id}", f"moved {where}")


def _compare_children(scope: Scope, path: str, old: ChildTarget, new: ChildTarget) -> None:
    prefix = f"{scope.prefix}.{path}" if scope.prefix else path
    inside = Scope(
        old.frozen_plan,
        new.frozen_plan,
        prefix,
        [],
        known=scope.known,
        sources=scope.sources,
        exposed=_exposed(scope, new),
    )
    scope.found.extend(_compare(inside))


def _exposed(scope: Scope, child: ChildTarget) -> frozenset[str]:
    """The child's params that are bound to what the caller of the root plan gives."""
    return frozenset(
        binding.name
        for binding in child.input_bindings
        if isinstance(binding, ReferenceInput)
        and binding.from_.root == "params"
        and (scope.exposed is None or binding.from_.name in scope.exposed)
    )
