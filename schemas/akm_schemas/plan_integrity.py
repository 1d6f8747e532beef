"""Version and hashes of a plan, re-derived before its shape is trusted.

Inner parts come first (a target before its plan, an embedded plan before the target that holds it), so that the error
names the smallest part that does not match. Works on plain JSON of any shape.
"""

from __future__ import annotations

from typing import Final

from akm_schemas.bounds import COMPOSITION_DEPTH, STEPS
from akm_schemas.canonical import CanonicalError, Writer, canonical_bytes
from akm_schemas.hashing import content_hash, plan_hash, target_hash
from akm_schemas.json_paths import dotted, quoted
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.json_values import a_type, json_type
from akm_schemas.plan import IR_VERSION
from akm_schemas.plan_error import PlanError, PlanPath, plan_error

_TARGET_KINDS: Final = ("child-workflow", "command", "exec", "script")
_SHOWN: Final = 16  # digits of a hash in a message
_CHANGED: Final = "; changed was "


def check_version(plan: Json) -> JsonObject:
    """``plan`` as an object of this irVersion; raises PlanError (``malformed`` or ``version``) otherwise."""
    return _versioned(plan, ())


def check_integrity(plan: JsonObject, write: Writer = canonical_bytes) -> None:
    """Re-derive every hash of ``plan`` and of the plans embedded in it; raises PlanError for the first mismatch.

    What cannot be hashed because its shape is broken is ``malformed`` in a plan whose planHash fits, and an
    ``integrity`` error in one that was changed after it was sealed. Such an error also names a member that no plan has.
    """
    try:
        _check_plan(plan, (), 0, write)
    except PlanError as error:
        if error.kind == "integrity":
            raise _naming_more(error, plan) from None
        if error.kind == "malformed" and _is_changed(plan):
            changed = PlanError("integrity", error.path, f"changed after it was compiled: {error.message}")
            raise _naming_more(changed, plan) from None
        raise


def _naming_more(error: PlanError, plan: JsonObject) -> PlanError:
    """``error`` of a changed plan; a member that no plan has is a change for certain, and takes the place of a guess."""
    from akm_schemas.plan_members import foreign_member  # on use: most plans are intact

    path = foreign_member(plan)
    if path is None:
        return error
    known = error.message.partition(_CHANGED)[0]
    return PlanError("integrity", error.path, f"{known}{_CHANGED}at least {dotted(path)}, a member that no plan has")


def _is_changed(plan: JsonObject) -> bool:
    try:
        return plan_hash(plan) != plan.get("planHash")
    except CanonicalError:
        return True


def _versioned(plan: Json, path: PlanPath) -> JsonObject:
    if not isinstance(plan, dict):
        raise plan_error("malformed", path, f"a plan is a JSON object, found {a_type(json_type(plan))}")
    version = plan.get("irVersion")
    if isinstance(version, bool) or not isinstance(version, int):
        raise plan_error("malformed", path, "there is no irVersion number, so this is no frozen plan")
    if version > IR_VERSION:
        advice = "upgrade akmc and akm-run"
    elif version < IR_VERSION:
        advice = "recompile the source with akmc compile"
    else:
        return plan
    message = f"the plan has irVersion {version}, this release reads {IR_VERSION}: {advice}"
    raise plan_error("version", (*path, "irVersion"), message)


def _check_plan(plan: JsonObject, path: PlanPath, depth: int, write: Writer) -> None:
    if depth > COMPOSITION_DEPTH.high:
        raise plan_error("bounds", path, f"plans are embedded deeper than {COMPOSITION_DEPTH.high} levels")
    steps = plan.get("steps")
    if not isinstance(steps, list):
        raise plan_error("malformed", (*path, "steps"), _expected("a list of steps", plan, "steps"))
    if len(steps) > STEPS.high:  # before a million of them are hashed
        raise plan_error("bounds", (*path, "steps"), f"found {len(steps)}, expected {STEPS.says()}")
    for index, step in enumerate(steps):
        place = (*path, "steps", index)
        if not isinstance(step, dict):
            raise plan_error("malformed", place, f"expected a step, found {a_type(json_type(step))}")
        _check_step(step, place, depth, write)
    _compare(plan, "contentHash", content_hash(plan, write), path, _CONTENT)
    _compare(plan, "planHash", plan_hash(plan, write), path, _PROVENANCE)


_CONTENT: Final = "a param, the budget, an output, a part of a step beside its target, or the hash itself"
_PROVENANCE: Final = "the provenance, the instructions of a step, or the hash itself"


def _check_step(step: JsonObject, path: PlanPath, depth: int, write: Writer) -> None:
    if "unit" in step:
        unit = _object(step, "unit", path)
        place = (*path, "unit")
        instructions = unit.get("instructions")
        if not isinstance(instructions, str):
            raise plan_error("malformed", (*place, "instructions"), _expected("text", unit, "instructions"))
        _check_target(unit, "target", place, depth, write, env=unit.get("env"), instructions=instructions)
    if "gate" in step:
        gate = _object(step, "gate", path)
        _check_target(gate, "judge", (*path, "gate"), depth, write, env=None, instructions=None)


def _check_target(
    holder: JsonObject, key: str, path: PlanPath, depth: int, write: Writer, *, env: Json, instructions: str | None
) -> None:
    target = _object(holder, key, path)
    place = (*path, key)
    kind = target.get("kind")
    if kind not in _TARGET_KINDS:
        shown = f"found {quoted(kind)}" if isinstance(kind, str) else "found none"
        raise plan_error("malformed", (*place, "kind"), f"expected one of {', '.join(_TARGET_KINDS)}; {shown}")
    if kind == "child-workflow":
        child = _versioned(target.get("frozenPlan"), (*place, "frozenPlan"))
        _check_plan(child, (*place, "frozenPlan"), depth + 1, write)
        if target.get("planHash") != child["planHash"]:
            message = f"its planHash {_clipped(target.get('planHash'))} is not that of the plan embedded in it"
            raise plan_error("integrity", place, message)
    try:
        derived = target_hash(target, env=env, instructions=instructions, write=write)
    except (KeyError, ValueError) as error:  # a script without bytesBase64, or with text that is no Base64
        message = "its bytes are missing or are no Base64"
        raise plan_error("malformed", (*place, "bytesBase64"), message) from error
    _compare(target, "contentHash", derived, place, "this target, or the hash itself")


def _compare(holder: JsonObject, key: str, derived: str, path: PlanPath, what: str) -> None:
    stated = holder.get(key)
    if stated == derived:
        return
    start = _first_difference(stated, derived) if isinstance(stated, str) else 0
    start = start if start >= _SHOWN else 0
    says, gives = _clipped(stated, start), _clipped(derived, start)
    message = f"{key} says {says}, the content gives {gives}{_CHANGED}{what}"
    raise plan_error("integrity", path or (key,), message)


def _first_difference(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _clipped(digest: Json, start: int = 0) -> str:
    """Some digits of a hash from ``start`` on; the dots stand for those left out."""
    if not isinstance(digest, str):
        return "nothing" if digest is None else a_type(json_type(digest))
    before = "..." if start else ""
    after = "..." if len(digest) > start + _SHOWN else ""
    return before + quoted(digest[start : start + _SHOWN]) + after


def _object(holder: JsonObject, key: str, path: PlanPath) -> JsonObject:
    value = holder.get(key)
    if not isinstance(value, dict):
        raise plan_error("malformed", (*path, key), _expected("an object", holder, key))
    return value


def _expected(what: str, holder: JsonObject, key: str) -> str:
    return f"expected {what}, found {a_type(json_type(holder[key])) if key in holder else 'nothing'}"
