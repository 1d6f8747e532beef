"""What moved when only ``planHash`` did."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import ChildTarget, CommandTarget, Plan, Step
from akmc_grammar.suggest import listed

_WORDS = {
    "title": "title",
    "ref": "ref",
    "sourceFormat": "source format",
    "sourceHash": "source text",
    "sourceReadSet": "files read",
    "schedule": "schedule",
    "toolchain": "toolchain",
    "spans": "places",
}


def provenance_message(old: Plan, new: Plan) -> str:
    """One line for two plans with equal ``contentHash``."""
    before: JsonObject = msgspec.to_builtins(old.provenance)
    after: JsonObject = msgspec.to_builtins(new.provenance)
    moved = [word for key, word in _WORDS.items() if before.get(key) != after.get(key)]
    widths = sorted(set(_width_changes(old, new)))
    changed = [after.id for before, after in zip(old.steps, new.steps, strict=True) if _rest(before) != _rest(after)]
    if changed:
        moved.append("what reaches no engine of " + ", ".join(f'step "{name}"' for name in changed))
    return "no change in behaviour; changed: " + (", ".join([*widths, *moved]) or "planHash")


def _width_changes(old: Plan, new: Plan) -> Iterator[str]:
    """How many requests an engine takes at once: in no contentHash, because it changes no answer."""
    for before, after in zip(old.steps, new.steps, strict=True):
        for one, other in zip(_targets(before), _targets(after), strict=True):
            if one.concurrency != other.concurrency:
                names = (target.concurrency for target in (other, one))
                now, was = ("not limited" if name is UNSET else str(name) for name in names)
                yield f"concurrency of engine {listed([other.engine.name])} is {now}, was {was}"
        children = [step.unit.target for step in (before, after) if step.unit is not UNSET]
        match children:
            case [ChildTarget() as one_child, ChildTarget() as other_child]:
                yield from _width_changes(one_child.frozen_plan, other_child.frozen_plan)


def _targets(step: Step) -> list[CommandTarget]:
    found = [step.unit.target] if step.unit is not UNSET else []
    judges = [step.gate.judge] if step.gate is not UNSET else []
    return [target for target in (*found, *judges) if isinstance(target, CommandTarget)]


def _rest(step: Step) -> Json:
    """The step without the widths of engines, which are told apart."""
    parts: JsonObject = msgspec.to_builtins(step)
    for key in ("unit", "gate"):
        bag = parts.get(key)
        target = bag.get("target", bag.get("judge")) if isinstance(bag, dict) else None
        if isinstance(target, dict):
            target.pop("concurrency", None)
    return parts
