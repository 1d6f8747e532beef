"""What moved when only ``planHash`` did."""

from __future__ import annotations

import msgspec

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import Plan

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
    steps = [after.id for before, after in zip(old.steps, new.steps, strict=True) if _json(before) != _json(after)]
    if steps:
        moved.append("what no engine reads of " + ", ".join(f'step "{name}"' for name in steps))
    return "behaves alike; changed: " + (", ".join(moved) or "planHash")


def _json(value: msgspec.Struct) -> Json:
    parts: Json = msgspec.to_builtins(value)
    return parts
