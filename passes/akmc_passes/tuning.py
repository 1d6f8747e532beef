"""Llm tuning from several layers."""

from __future__ import annotations

from typing import Any

from akm_schemas.json_types import JsonObject
from akm_schemas.plan import LlmTuning


def merged_tuning(*layers: JsonObject | None) -> LlmTuning | None:
    """Tuning by key, the first layer that has a key winning; ``None`` when no layer says anything."""
    merged: dict[str, Any] = {}  # source spelling is the Struct's, and the walk vouches for the types
    for layer in reversed(layers):
        merged.update(layer or {})
    return LlmTuning(**merged) if merged else None
