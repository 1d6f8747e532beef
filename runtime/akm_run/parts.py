"""The parts of an input hash, for people: which there are, and the first that differs (spec 3, section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import UNSET, Struct

from akm_run.frame import PlannedUnit
from akm_run.identity import HASH_VERSION, StepInputs
from akm_schemas.hashing import json_hash, target_preimage
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import Gate, Step


class Part(Struct, frozen=True):
    """A part by name, and the SHA-256 of its value's canonical JSON."""

    name: str
    sha256: str


def unit_parts(shared: StepInputs | None, params: JsonObject, unit: PlannedUnit) -> list[Part]:
    """The parts of a unit's input hash, in the order in which they are compared; params one by one."""
    assert shared is not None, "only routes have no units"
    return list(_unit_parts(shared, params, unit))


def _unit_parts(shared: StepInputs, params: JsonObject, unit: PlannedUnit) -> Iterator[Part]:
    yield Part("hashVersion", json_hash(HASH_VERSION))
    yield Part("target", shared.target_hash)
    if unit.index is not None:
        yield Part("item", json_hash(unit.item))
    yield from (Part(f"input {text}", json_hash(value)) for text, value in shared.inputs)
    yield from (Part(f"binding {name}", json_hash(value)) for name, value in sorted(shared.bindings.items()))
    yield from (Part(f"param {name}", json_hash(value)) for name, value in sorted(params.items()))
    if shared.schema is not None:
        yield Part("schema", json_hash(shared.schema))
    if shared.isolation != "none":
        yield Part("isolation", json_hash(shared.isolation))
    if shared.feedback is not None:
        yield Part("gateFeedback", json_hash(shared.feedback))


def judge_parts(gate: Gate, artifact_sha256: str) -> list[Part]:
    """The parts of a judge call's input hash."""
    return [
        Part("hashVersion", json_hash(HASH_VERSION)),
        Part("target", gate.judge.content_hash),
        Part("rubric", json_hash(gate.rubric)),
        Part("artifact", artifact_sha256),
    ]


def first_difference(mine: Sequence[Part], theirs: Sequence[Part]) -> str | None:
    """The name of the first part that differs or that only one side has; ``None`` when all are equal."""
    here, there = ({part.name: part.sha256 for part in parts} for parts in (mine, theirs))
    names = [*here, *(name for name in there if name not in here)]
    return next((name for name in names if here.get(name) != there.get(name)), None)


def target_differences(mine: Step, theirs: Step) -> list[str]:
    """The keys of two units' targets that differ, sorted; ``kind`` alone when they are of different kinds."""
    here, there = _preimage(mine), _preimage(theirs)
    if here["kind"] != there["kind"]:
        return ["kind"]
    return sorted(key for key in here.keys() | there.keys() if here.get(key) != there.get(key))


def _preimage(step: Step) -> JsonObject:
    if step.unit is UNSET:
        return {"kind": step.kind}
    target = msgspec.to_builtins(step.unit.target)
    env = msgspec.to_builtins(step.unit.env)
    return {"kind": target["kind"], **target_preimage(target, env=env, instructions=step.unit.instructions)}
