"""JSON as Python values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
    JsonObject: TypeAlias = "dict[str, Json]"
else:  # msgspec resolves annotations when a Struct is first used, and knows no recursive alias
    Json = Any
    JsonObject = dict[str, Any]
