"""A run's exports: resolved once, all or none (spec 3, section 3: outputs)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import UNSET, Struct

from akm_run.artifacts import Fault, schema_errors
from akm_run.resolution import quoted
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import Output
from akm_schemas.references import Reference


class Unresolved(Struct, frozen=True):
    """Every export that could not be resolved: the first one's reason, and one line for each."""

    reason: str
    lines: tuple[str, ...]


def resolve_exports(
    outputs: Mapping[str, Output], strict: Callable[[Reference], Json | Fault]
) -> JsonObject | Unresolved:
    """The values of all exports, or every fault; a null fails even where the export's schema allows it."""
    values: JsonObject = {}
    reasons: list[str] = []
    lines: list[str] = []
    for name, output in sorted(outputs.items()):
        value = strict(output.from_)
        if isinstance(value, Fault):
            reasons.append(value.reason)
            lines.append(f"output {quoted(name)}: {value.summary}")
            continue
        errors = () if output.schema is UNSET else schema_errors(output.schema, value)
        if errors:
            reasons.append("validation_error")
            lines.append(f"output {quoted(name)} from {output.from_.text}: " + "; ".join(errors))
        values[name] = value
    return Unresolved(reasons[0], tuple(lines)) if lines else values
