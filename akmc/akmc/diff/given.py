"""What is known of the params of two runs, or of the two runs of a composed workflow: do they have the same values?

All params of a run enter the input hash of each of its units, by value and with their defaults (spec 3, section 2):
how a plan writes a binding, and what schema it holds the value to, is not in that hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from msgspec import UNSET, Struct, UnsetType

from akm_schemas.canonical import canonical_text
from akm_schemas.plan import ChildTarget, LiteralInput, Plan, Step
from akm_schemas.references import Reference


class Sameness(Struct, frozen=True):
    """Why two things surely differ (``forced``), or else what must hold for them to be the same."""

    forced: str | None = None
    conditions: tuple[str, ...] = ()


class Given(Struct, frozen=True):
    """The params of both runs: all together, and by name those that may differ."""

    whole: Sameness = Sameness()
    params: Mapping[str, Sameness] = {}


def given_to_run(old: Plan, new: Plan) -> Given:
    """What two plans say about the params of their runs, for which a caller gives the same."""
    params = dict(_by_default(old, new))
    forced = next((param.forced for param in params.values() if param.forced is not None), None)
    may = " and ".join(f'param "{name}"' for name, param in params.items() if param.forced is None)
    return Given(Sameness(forced, (f"{may} had the same value",) if may else ()), params)


def _by_default(old: Plan, new: Plan) -> Iterator[tuple[str, Sameness]]:
    for name in sorted({*old.params, *new.params}):
        before, after = _default(old, name), _default(new, name)
        if before == after and (name in old.params) == (name in new.params):
            continue
        forced = None
        if (name not in old.params and after is not UNSET) or (name not in new.params and before is not UNSET):
            forced = f'param "{name}", which has a default, is in one plan only: all params enter the input hash'
        yield name, Sameness(forced, () if forced else (f'param "{name}" had the same value',))


def given_to_child(old: Step, new: Step, given: Given, unsure: Set[str]) -> Given:
    """What the steps that compose a workflow give to its two runs.

    ``given`` is what is known of the params around them, ``unsure`` names the steps before them that may yield something
    else in the new run.
    """
    before, after = _sources(old), _sources(new)
    params: dict[str, Sameness] = {}
    for name in sorted({*before, *after}):
        same = _same_source(before.get(name), after.get(name), new.id, name, given, unsure)
        if same != Sameness():
            params[name] = same
    forced = next((same.forced for same in params.values() if same.forced is not None), None)
    conditions = dict.fromkeys(condition for same in params.values() for condition in same.conditions)
    return Given(Sameness(forced, tuple(conditions)), params)


def same_reference(reference: Reference, given: Given, unsure: Set[str]) -> Sameness:
    """Whether a reference that stands in both plans yields the same in both runs."""
    if reference.root == "params":
        return given.params.get(reference.name, Sameness())
    return Sameness(None, (f'step "{reference.name}" yields the same again',) if reference.name in unsure else ())


def _same_source(
    old: Reference | str | None, new: Reference | str | None, step: str, name: str, given: Given, unsure: Set[str]
) -> Sameness:
    if isinstance(old, Reference) and isinstance(new, Reference) and old.text == new.text:
        same = same_reference(new, given, unsure)
        return same if same.forced is None else _changed(step)
    if old is None or new is None or (isinstance(old, str) and isinstance(new, str)):
        return Sameness() if old == new else _changed(step)
    return Sameness(None, (f'step "{step}" gives param "{name}" the same value',))


def _changed(step: str) -> Sameness:
    return Sameness(f'what step "{step}" gives it changed')


def _sources(step: Step) -> dict[str, Reference | str]:
    """Where each param of a composed workflow that has a value comes from: a reference, or canonical JSON."""
    assert step.unit is not UNSET and isinstance(step.unit.target, ChildTarget)
    target = step.unit.target
    found: dict[str, Reference | str] = {}
    for name in target.frozen_plan.params:
        default = _default(target.frozen_plan, name)
        if default is not UNSET:
            found[name] = default
    for binding in target.input_bindings:
        found[binding.name] = canonical_text(binding.value) if isinstance(binding, LiteralInput) else binding.from_
    return found


def _default(plan: Plan, name: str) -> str | UnsetType:
    schema = plan.params.get(name, {})
    return canonical_text(schema["default"]) if "default" in schema else UNSET
