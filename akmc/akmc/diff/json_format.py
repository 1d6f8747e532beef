"""A comparison as one JSON document (``diff.schema.json`` describes it)."""

from __future__ import annotations

import msgspec

from akm_schemas.json_types import JsonObject
from akmc.diff.model import PlanDiff
from akmc.render.escape import json_text


def json_format(diff: PlanDiff, old: str, new: str) -> str:
    """``{equal, old, new, changes, steps, summary}``, indented, ended by a newline."""
    parts: JsonObject = msgspec.to_builtins(diff)
    document = {"equal": parts.pop("equal"), "old": old, "new": new, **parts}
    return json_text(document, indent=2) + "\n"
