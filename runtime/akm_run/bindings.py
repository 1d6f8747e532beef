"""What a unit's target is bound to: task inputs, or the params of a child (spec 3, section 4; spec 1, section 5).

Everything is resolved and validated before anything is dispatched or published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from akm_run.artifacts import Fault, schema_errors
from akm_run.clipping import clipped
from akm_run.resolution import quoted
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import ChildTarget, LiteralInput, Plan, Target
from akm_schemas.plan_references import references_of
from akm_schemas.references import Reference


def resolve_bindings(target: Target, strict: Callable[[Reference], Json | Fault]) -> JsonObject | Fault:
    """Names and values, the defaults of a child's params included; ``strict`` gives a value that must not be null."""
    values: JsonObject = {}
    for binding in target.input_bindings:
        if isinstance(binding, LiteralInput):
            values[binding.name] = binding.value
            continue
        value = strict(binding.from_)
        if isinstance(value, Fault):
            return Fault(value.reason, f"binding {quoted(binding.name)}: {value.summary}")
        if errors := schema_errors(binding.schema, value):
            return _miss(f"binding {quoted(binding.name)} from {binding.from_.text}", errors)
        values[binding.name] = value
    return child_params(target, values) if isinstance(target, ChildTarget) else values


def child_params(target: ChildTarget, bound: JsonObject) -> JsonObject | Fault:
    """The params of a child run: what is bound over the defaults, held to the child's own schemas.

    A plan whose bindings name no params of its child was refused when it was decoded.
    """
    declared = target.frozen_plan.params
    for name, value in bound.items():
        if errors := schema_errors(declared[name], value):
            return _miss(f"binding {quoted(name)} to a param of {target.ref}", errors)
    params = with_defaults(bound, declared)
    for reference in missing_params(target.frozen_plan, params):
        return _miss(
            f"param {quoted(reference.name)} of {target.ref}", (f"is not bound, and {reference.text} needs it",)
        )
    return params


def with_defaults(given: JsonObject, declared: Mapping[str, JsonObject]) -> JsonObject:
    """``given`` and the defaults of what was omitted, sorted by name."""
    defaults = {name: schema["default"] for name, schema in declared.items() if "default" in schema}
    return dict(sorted((defaults | given).items()))


def missing_params(plan: Plan, given: JsonObject) -> Iterator[Reference]:
    """The references of ``plan`` to params that are not there."""
    return (
        reference for reference in references_of(plan) if reference.root == "params" and reference.name not in given
    )


def _miss(what: str, errors: tuple[str, ...]) -> Fault:
    return Fault("validation_error", clipped(f"{what}: " + "; ".join(errors)))
