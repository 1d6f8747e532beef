"""contentHash, planHash and target hashes.

All three work on plain JSON values (``msgspec.to_builtins`` of a plan, or a decoded file), so that the decoder can
re-derive them before it trusts the shape.
"""

from __future__ import annotations

import base64
import hashlib
from typing import cast

from akm_schemas.canonical import Writer, canonical_bytes
from akm_schemas.json_types import Json, JsonObject

_TARGET_KEYS: dict[str, tuple[str, ...]] = {
    "command": ("template", "engine", "model", "llm", "options", "inputBindings"),
    "exec": ("command", "cwd", "passEnv", "inputBindings"),
    "script": ("interpreter", "extension", "inputBindings"),
    "child-workflow": ("inputBindings",),
}


def sha256_hex(data: bytes) -> str:
    """SHA-256 of ``data`` as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def json_hash(value: Json, write: Writer = canonical_bytes) -> str:
    """SHA-256 hex over the canonical JSON of ``value``, which ``write`` gives (``writer_of`` a value that holds it)."""
    return sha256_hex(write(value))


def target_preimage(target: JsonObject, *, env: Json = None, instructions: str | None = None) -> JsonObject:
    """The hashed keys of a target.

    ``env`` is the list of the unit's bindings, ``None`` for a judge, which has no unit. ``instructions`` stand in
    for the prompt of a command target that has none of its own (Markdown units).
    """
    kind = str(target["kind"])
    preimage: JsonObject = {key: target[key] for key in _TARGET_KEYS[kind] if key in target}
    if kind == "child-workflow":
        child = target["frozenPlan"]
        assert isinstance(child, dict)
        preimage["child"] = child["contentHash"]
        return preimage
    if kind == "script":
        preimage["bytesSha256"] = sha256_hex(base64.b64decode(str(target["bytesBase64"]), validate=True))
    if kind == "command":
        prompt = target.get("prompt", instructions)
        if prompt is not None:
            preimage["prompt"] = prompt
    if env is not None:
        preimage["env"] = env
    return preimage


def target_hash(
    target: JsonObject, *, env: Json = None, instructions: str | None = None, write: Writer = canonical_bytes
) -> str:
    """``contentHash`` of a target: SHA-256 over ``akm.target.<kind>\\0v1\\0`` and the canonical JSON of its preimage."""
    preimage = target_preimage(target, env=env, instructions=instructions)
    prefix = f"akm.target.{target['kind']}\0v1\0".encode()
    return sha256_hex(prefix + write(preimage))


def _stub(target: Json) -> Json:
    return {"kind": target["kind"], "contentHash": target["contentHash"]} if isinstance(target, dict) else target


def content_preimage(plan: JsonObject) -> JsonObject:
    """The plan without hashes, provenance and instructions, every target standing as its kind and hash."""
    steps: list[Json] = []
    for step in cast("list[Json]", plan["steps"]):
        assert isinstance(step, dict)
        step = dict(step)
        unit, gate = step.get("unit"), step.get("gate")
        if isinstance(unit, dict):
            unit = {key: value for key, value in unit.items() if key != "instructions"}
            unit["target"] = _stub(unit["target"])
            step["unit"] = unit
        if isinstance(gate, dict):
            step["gate"] = {**gate, "judge": _stub(gate["judge"])}
        steps.append(step)
    kept = {key: value for key, value in plan.items() if key not in ("planHash", "contentHash", "provenance")}
    return {**kept, "steps": steps}


def content_hash(plan: JsonObject, write: Writer = canonical_bytes) -> str:
    """``contentHash``: equal for plans that behave alike."""
    return json_hash(content_preimage(plan), write)


def plan_hash(plan: JsonObject, write: Writer = canonical_bytes) -> str:
    """``planHash``: SHA-256 over the canonical JSON of the plan without ``planHash``."""
    return json_hash({key: value for key, value in plan.items() if key != "planHash"}, write)
