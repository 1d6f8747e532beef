"""How large a plan is: its own bytes, and those of the plans embedded in it (spec 1, sections 2.5 and 5)."""

from __future__ import annotations

from akm_schemas.bounds import CHILD_BYTES, COMPOSITION_DEPTH, PLAN_BYTES
from akm_schemas.canonical import Writer, canonical_bytes
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan_error import PlanPath, plan_error


def own_size(plan: JsonObject, write: Writer = canonical_bytes) -> int:
    """Bytes of the plan's canonical JSON without the plans embedded in it (their ``frozenPlan`` members left out)."""
    return len(write(_without_children(plan)))


def embedded_plans(plan: JsonObject, path: PlanPath = ()) -> list[tuple[PlanPath, JsonObject]]:
    """Every plan embedded in ``plan`` at any depth with its path, in step order; one embedded twice counts twice."""
    found: list[tuple[PlanPath, JsonObject]] = []
    for index, step in enumerate(_steps(plan)):
        child = _child(step)
        if child is not None:
            place = (*path, "steps", index, "unit", "target", "frozenPlan")
            found.append((place, child))
            found.extend(embedded_plans(child, place))
    return found


def check_sizes(plan: JsonObject, whole: int, write: Writer = canonical_bytes) -> None:
    """Hold a root plan to PLAN_BYTES, CHILD_BYTES and COMPOSITION_DEPTH; raises PlanError (``bounds``).

    ``whole`` is the size of its canonical JSON with everything that it embeds, in bytes, as ``write`` writes it.
    """
    children = embedded_plans(plan)
    size = own_size(plan, write) if children else whole
    if size > PLAN_BYTES.high:
        message = f"the plan has {size} bytes of its own, at most {PLAN_BYTES.high} are allowed: split the workflow"
        raise plan_error("bounds", (), message)
    total = 0
    for path, child in children:
        if path.count("frozenPlan") > COMPOSITION_DEPTH.high:
            raise plan_error("bounds", path, f"plans are embedded deeper than {COMPOSITION_DEPTH.high} levels")
        total += own_size(child, write)
        if total > CHILD_BYTES.high:
            message = f"the embedded plans up to here have {total} bytes, at most {CHILD_BYTES.high} are allowed"
            raise plan_error("bounds", path, message)


def _steps(plan: JsonObject) -> list[Json]:
    steps = plan["steps"]
    return steps if isinstance(steps, list) else []


def _child(step: Json) -> JsonObject | None:
    unit = step.get("unit") if isinstance(step, dict) else None
    target = unit.get("target") if isinstance(unit, dict) else None
    child = target.get("frozenPlan") if isinstance(target, dict) else None
    return child if isinstance(child, dict) else None


def _without_children(plan: JsonObject) -> JsonObject:
    steps = [_without_child(step) if _child(step) is not None else step for step in _steps(plan)]
    return {**plan, "steps": steps}


def _without_child(step: Json) -> Json:
    assert isinstance(step, dict)
    unit = step["unit"]
    assert isinstance(unit, dict)
    target = unit["target"]
    assert isinstance(target, dict)
    kept = {key: value for key, value in target.items() if key != "frozenPlan"}
    return {**step, "unit": {**unit, "target": kept}}
