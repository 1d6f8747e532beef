"""Would ``akm-run NEW --reuse RUN`` take over the finished units of a run of the old plan (spec 3, section 1)?

A unit is taken over when step id, unit key and input hash are equal. The parts of that hash which plans fix are
compared here; what depends on results or on the params that were given is said as a condition.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import UNSET, UnsetType

from akm_schemas.canonical import canonical_text
from akm_schemas.hashing import target_preimage
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import CommandTarget, Plan, ReferenceInput, Step
from akm_schemas.references import Reference
from akmc.diff.model import StepReuse

_WORDS = {
    "bytesSha256": "script bytes",
    "passEnv": "pass_env",
    "cwd": "working directory",
    "child": "child workflow",
    "inputBindings": "bindings",
    "env": "environment",
}


def reuse_of(old: Plan, new: Plan) -> list[StepReuse]:
    """One verdict per unit or map step of ``new``, in its order. Routes dispatch nothing and have none."""
    before = {step.id: step for step in old.steps}
    forced, conditional = _params_condition(old, new)
    found: dict[str, StepReuse] = {}
    for step in new.steps:
        if step.unit is UNSET:
            continue
        verdict = _verdict(before.get(step.id), step)
        if verdict is None and forced is not None:
            verdict = StepReuse(id=step.id, reuse="again", why=forced)
        if verdict is None:
            unsure = sorted({name for name in _producers(step) if name in found and found[name].reuse != "reused"})
            conditions = [f'step "{name}" yields the same again' for name in unsure]
            conditions += [conditional] if conditional is not None else []
            conditions += _item_condition(before[step.id], step)
            why = f"taken over if {' and '.join(conditions)}" if conditions else "nothing that it depends on changed"
            verdict = StepReuse(id=step.id, reuse="depends" if conditions else "reused", why=why)
        found[step.id] = verdict
    return list(found.values())


def _params_condition(old: Plan, new: Plan) -> tuple[str | None, str | None]:
    """Params enter every unit's hash, defaults included: what forces another hash, and what may."""
    may: list[str] = []
    for name in sorted({*old.params, *new.params}):
        before, after = _default(old, name), _default(new, name)
        if before == after and (name in old.params) == (name in new.params):
            continue
        if (name not in old.params and after is not UNSET) or (name not in new.params and before is not UNSET):
            return f'param "{name}", which has a default, is in one plan only: all params enter the input hash', None
        may.append(f'param "{name}"')
    return None, f"{' and '.join(may)} had the same value" if may else None


def _default(plan: Plan, name: str) -> str | UnsetType:
    schema = plan.params.get(name, {})
    return canonical_text(schema["default"]) if "default" in schema else UNSET


def _verdict(old: Step | None, new: Step) -> StepReuse | None:
    why = None
    if old is None:
        why = "no step has that id in the old plan"
    elif old.unit is UNSET or old.kind != new.kind:
        why = f"was a {old.kind} step: its units have other keys"
    else:
        parts = list(_changed_parts(old, new))
        why = f"{', '.join(parts)} changed" if parts else None
    return None if why is None else StepReuse(id=new.id, reuse="again", why=why)


def _changed_parts(old: Step, new: Step) -> Iterator[str]:
    assert old.unit is not UNSET and new.unit is not UNSET
    if old.unit.target.content_hash != new.unit.target.content_hash:
        before, after = _preimage(old), _preimage(new)
        if old.unit.target.__class__ is not new.unit.target.__class__:
            yield "target"
        else:
            keys = (key for key in sorted({*before, *after}) if before.get(key) != after.get(key))
            yield from (_WORDS.get(key, key) for key in keys)
    if [reference.text for reference in old.inputs] != [reference.text for reference in new.inputs]:
        yield "inputs"
    if _schema(old) != _schema(new):
        yield "output schema"
    if old.unit.isolation != new.unit.isolation:
        yield "isolation"


def _preimage(step: Step) -> JsonObject:
    assert step.unit is not UNSET
    prompt = step.unit.instructions if isinstance(step.unit.target, CommandTarget) else None
    target: JsonObject = msgspec.to_builtins(step.unit.target)
    env: list[JsonObject] = msgspec.to_builtins(step.unit.env)
    return target_preimage(target, env=list(env), instructions=prompt)


def _schema(step: Step) -> str:
    """The unit's schema; on a unit step without one, the step's (spec 3, section 5)."""
    assert step.unit is not UNSET
    schema = step.unit.output
    if schema is UNSET and step.kind == "unit":
        schema = step.output
    return "" if schema is UNSET else canonical_text(schema)


def _producers(step: Step) -> Iterator[str]:
    references: list[Reference] = list(step.inputs)
    if step.map is not UNSET:
        references.append(step.map.over)
    if step.unit is not UNSET:
        bindings = step.unit.target.input_bindings
        references += [binding.from_ for binding in bindings if isinstance(binding, ReferenceInput)]
    return (reference.name for reference in references if reference.root == "steps")


def _item_condition(old: Step, new: Step) -> list[str]:
    """Map units are keyed by their item, wherever the items come from."""
    if old.map is UNSET or new.map is UNSET or old.map.over.text == new.map.over.text:
        return []
    return ["its items are the same"]
