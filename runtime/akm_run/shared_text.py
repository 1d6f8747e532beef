"""Canonical JSON of values that many units are given, written once.

Params, inputs and task inputs are the same objects for all units of a step. Writing them anew for each unit made a map
over an array param quadratic, for the array is itself part of the params.
"""

from __future__ import annotations

from typing import Final

from akm_schemas.canonical import canonical_text
from akm_schemas.json_types import JsonObject

_KEPT: Final = 8  # a step shares three; the rest is for runs of one tree whose units take turns


class SharedTexts:
    """The texts of the last few values, known by identity; they must not be changed. Safe to use from any thread."""

    def __init__(self) -> None:
        self._kept: tuple[tuple[JsonObject, str], ...] = ()  # replaced as a whole, so that no thread sees half of it

    def of(self, value: JsonObject) -> str:
        """The canonical JSON of ``value``."""
        for known, text in self._kept:  # keeping the value keeps its identity from being another's
            if known is value:
                return text
        text = canonical_text(value)
        self._kept = ((value, text), *self._kept[: _KEPT - 1])
        return text
