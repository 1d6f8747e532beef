"""References of a plan: their parsed parts agree with their text and name what is there (spec 1, section 2.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from akm_schemas.bounds import PARAM_NAME
from akm_schemas.json_paths import quoted
from akm_schemas.plan import ChildTarget, Map, Plan, ReferenceInput, Route, Step, Unit
from akm_schemas.plan_error import PlanPath, plan_error
from akm_schemas.references import Reference

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_STEP_ID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
IMPLICIT_EXPORTS: Final = ("runId", "status")  # of a workflow without outputs
_LARGEST_INDEX: Final = 9_999_999_999  # ten digits


def is_param_name(name: str) -> bool:
    """Whether ``name`` may name a param or an export."""
    return _NAME.fullmatch(name) is not None and PARAM_NAME.holds(len(name))


def is_step_id(name: str) -> bool:
    """Whether ``name`` may be the id of a step."""
    return _STEP_ID.fullmatch(name) is not None


def is_variable_name(name: str) -> bool:
    """Whether ``name`` may name an environment variable that passes through."""
    return _NAME.fullmatch(name) is not None


def reference_text(reference: Reference) -> str:
    """The source text that the parts of ``reference`` spell."""
    if reference.root == "params":
        return f"params.{reference.name}"
    return f"steps.{reference.name}.output" + "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in reference.path
    )


class Scope(Struct, frozen=True):
    """What references of one plan may name: its params, the position of each step that promotes an artifact, and the
    exports of the steps that run a child."""

    params: frozenset[str]
    artifacts: Mapping[str, int]
    routes: frozenset[str]
    exports: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, plan: Plan) -> Scope:
        """The scope of ``plan``, whose step ids are unique."""
        artifacts = {step.id: step.index for step in plan.steps if step.kind != "route"}
        routes = frozenset(step.id for step in plan.steps if step.kind == "route")
        children = {
            step.id: step.unit.target.frozen_plan
            for step in plan.steps
            if step.kind == "unit" and isinstance(step.unit, Unit) and isinstance(step.unit.target, ChildTarget)
        }
        exports = {name: frozenset(child.outputs or IMPLICIT_EXPORTS) for name, child in children.items()}
        return cls(frozenset(plan.params), artifacts, routes, exports)

    def check(self, reference: Reference, path: PlanPath, *, before: int) -> None:
        """Raise PlanError unless ``reference`` is well formed and names a param or a step before position ``before``."""
        _check_form(reference, path)
        name = quoted(reference.name)
        if reference.root == "params":
            if reference.name not in self.params:
                declared = ", ".join(sorted(self.params)) or "(none)"
                raise plan_error("bounds", path, f"there is no param {name}; declared params: {declared}")
        elif reference.name in self.routes:
            raise plan_error("bounds", path, f"step {name} is a route, which promotes no artifact")
        elif reference.name not in self.artifacts:
            raise plan_error("bounds", path, f"there is no step {name}")
        elif self.artifacts[reference.name] >= before:
            raise plan_error("bounds", path, f"step {name} does not come before this one")
        elif reference.path and reference.path[0] not in self.exports.get(reference.name, reference.path[:1]):
            exported = ", ".join(sorted(self.exports[reference.name]))
            message = f"the child of step {name} exports no {quoted(str(reference.path[0]))}; its exports: {exported}"
            raise plan_error("bounds", path, message)


def references_of(plan: Plan) -> Iterator[Reference]:
    """Every reference of ``plan`` but those of its outputs; embedded plans have a scope of their own."""
    for step in plan.steps:
        yield from step_references(step)


def step_references(step: Step) -> Iterator[Reference]:
    """Every reference that ``step`` reads: inputs, items, the route's input, bindings of its unit, in that order."""
    yield from step.inputs
    if isinstance(step.map, Map):
        yield step.map.over
    if isinstance(step.route, Route):
        yield step.route.input
    if isinstance(step.unit, Unit):
        bindings = step.unit.target.input_bindings
        yield from (binding.from_ for binding in bindings if isinstance(binding, ReferenceInput))


def _check_form(reference: Reference, path: PlanPath) -> None:
    if reference.root == "params":
        well_formed = is_param_name(reference.name) and not reference.path
    else:
        well_formed = is_step_id(reference.name) and all(map(_is_part, reference.path))
    if not well_formed:
        raise plan_error("bounds", path, f"{quoted(reference.text)} is no reference")
    spelled = reference_text(reference)
    if spelled != reference.text:
        message = f"the text {quoted(reference.text)} and the parsed parts {quoted(spelled)} differ"
        raise plan_error("bounds", (*path, "text"), message)


def _is_part(part: str | int) -> bool:
    if isinstance(part, int):
        return 0 <= part <= _LARGEST_INDEX
    return is_step_id(part)
