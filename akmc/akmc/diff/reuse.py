"""Would ``akm-run NEW --reuse RUN`` take over the finished units of a run of the old plan (spec 3, section 1)?

A unit is taken over when step id, unit key and input hash are equal. The parts of that hash which plans fix are
compared here; what depends on results or on the params that were given is said as a condition.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import UNSET, UnsetType

from akm_schemas.hashing import target_preimage
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import ChildTarget, CommandTarget, Plan, Step, Target
from akm_schemas.plan_references import step_references
from akmc.diff.given import Given, Sameness, given_to_child, given_to_run, same_reference
from akmc.diff.matching import match_steps
from akmc.diff.model import StepReuse
from akmc.diff.targets import same_value

_WORDS = {
    "bytesSha256": "script bytes",
    "passEnv": "pass_env",
    "cwd": "working directory",
    "child": "child workflow",
    "inputBindings": "bindings",
    "env": "environment",
}


def reuse_of(old: Plan, new: Plan, *, prefix: str = "", given: Given | None = None) -> list[StepReuse]:
    """One verdict per unit or map step of ``new``, in its order. Routes dispatch nothing and have none.

    A composed run that must be driven again takes over from the one of the same unit, so its steps follow its own, as
    ``kid/inner``. ``prefix`` and ``given`` are those of such a run.
    """
    before = {step.id: step for step in old.steps}
    renames = {now: was for was, now in match_steps(old, new).renames.items()}
    given = given or given_to_run(old, new)
    found: dict[str, StepReuse] = {}
    verdicts: list[StepReuse] = []
    for step in new.steps:
        if step.unit is UNSET:
            continue
        earlier = before.get(step.id)
        verdict = _verdict(earlier, step, given, found, renames.get(step.id))
        found[step.id] = verdict
        verdicts.append(msgspec.structs.replace(verdict, id=prefix + step.id))
        if earlier is not None and verdict.reuse == "again":
            verdicts += _inside(earlier, step, given, found, f"{prefix}{step.id}/")
    return verdicts


def _verdict(
    old: Step | None, new: Step, given: Given, found: dict[str, StepReuse], renamed_from: str | None
) -> StepReuse:
    why = _changed(old, new, renamed_from) or given.whole.forced
    if why is not None or old is None:
        return StepReuse(id=new.id, reuse="again", why=why or "")
    unsure = [f'step "{name}" yields the same again' for name in _unsure(new, found)]
    conditions = [*unsure, *given.whole.conditions, *_item_condition(old, new)]
    why = f"taken over if {' and '.join(conditions)}" if conditions else "nothing that it depends on changed"
    if _gate(old) != _gate(new):
        why += "; what its gate says is asked anew" if new.gate is not UNSET else "; no gate is asked any more"
    return StepReuse(id=new.id, reuse="depends" if conditions else "reused", why=why)


def _unsure(step: Step, found: dict[str, StepReuse]) -> list[str]:
    """The steps that ``step`` reads and that may yield something else now."""
    read = {reference.name for reference in step_references(step) if reference.root == "steps"}
    return sorted(name for name in read if name in found and found[name].reuse != "reused")


def _gate(step: Step) -> tuple[str, str] | None:
    return None if step.gate is UNSET else (step.gate.rubric, step.gate.judge.content_hash)


def _inside(old: Step, new: Step, given: Given, found: dict[str, StepReuse], prefix: str) -> list[StepReuse]:
    """The steps of a composed workflow whose run is driven again."""
    assert new.unit is not UNSET
    if old.unit is UNSET:
        return []
    before, after = old.unit.target, new.unit.target
    if not isinstance(before, ChildTarget) or not isinstance(after, ChildTarget):
        return []
    unsure = frozenset(name for name, verdict in found.items() if verdict.reuse != "reused")
    inside = given_to_child(old, new, given, unsure)
    keyed = _same_keys(old, new, given, unsure)
    conditions = tuple(dict.fromkeys((*keyed.conditions, *inside.whole.conditions)))
    whole = Sameness(keyed.forced or inside.whole.forced, conditions)
    return reuse_of(
        before.frozen_plan, after.frozen_plan, prefix=prefix, given=msgspec.structs.replace(inside, whole=whole)
    )


def _same_keys(old: Step, new: Step, given: Given, unsure: frozenset[str]) -> Sameness:
    """Whether the units of a step have the same keys in both runs: only then is there a run inside to take over from."""
    if old.kind != new.kind:
        return Sameness(_other_kind(old))
    if old.map is UNSET or new.map is UNSET:
        return Sameness()
    moved = _item_condition(old, new)
    if moved:
        return Sameness(None, tuple(moved))
    items = same_reference(new.map.over, given, unsure)
    return items if items.forced is None else Sameness(None, ("its items are the same",))


def _other_kind(old: Step) -> str:
    return f"was a {old.kind} step: its units have other keys"


def _changed(old: Step | None, new: Step, renamed_from: str | None) -> str | None:
    """Why the units surely have other keys or other hashes, as far as the step itself goes."""
    if old is None:
        if renamed_from is not None:
            return f'it was step "{renamed_from}": units are known by the id of their step'
        return "no step has that id in the old plan"
    if old.unit is UNSET or old.kind != new.kind:
        return _other_kind(old)
    parts = list(_changed_parts(old, new))
    return f"{', '.join(parts)} changed" if parts else None


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
    if not same_value(_schema(old), _schema(new)):
        yield "output schema"
    if old.unit.isolation != new.unit.isolation:
        yield "isolation"


def _preimage(step: Step) -> JsonObject:
    assert step.unit is not UNSET
    prompt = step.unit.instructions if isinstance(step.unit.target, CommandTarget) else None
    target: JsonObject = msgspec.to_builtins(_hollow(step.unit.target))
    env: list[JsonObject] = msgspec.to_builtins(step.unit.env)
    return target_preimage(target, env=list(env), instructions=prompt)


def _hollow(target: Target) -> Target:
    """The target without the steps of the plan in it, of which its preimage has nothing but the hash."""
    if not isinstance(target, ChildTarget):
        return target
    return msgspec.structs.replace(target, frozen_plan=msgspec.structs.replace(target.frozen_plan, steps=[]))


def _schema(step: Step) -> JsonObject | UnsetType:
    """The unit's schema; on a unit step without one, the step's (spec 3, section 5)."""
    assert step.unit is not UNSET
    schema = step.unit.output
    if schema is UNSET and step.kind == "unit":
        schema = step.output
    return schema


def _item_condition(old: Step, new: Step) -> list[str]:
    """Map units are keyed by their item, wherever the items come from."""
    if old.map is UNSET or new.map is UNSET or old.map.over.text == new.map.over.text:
        return []
    return ["its items are the same"]
